"""Names for functions and values: those that the program used where these are known."""

import ast
import builtins
import itertools
import keyword
import linecache
import re
import string

RESERVED = {name for name in dir(builtins) if not name.startswith("_")}

SIGN = "\u01c0"
"""In names that are not final: see `naming`. A letter, so that text with such names can be parsed."""

_trees = {}
_positions = {}


def free(wanted, taken):
    """A name that is not taken: the one that is wanted, perhaps with a number, or a letter."""
    if wanted:
        numbered = (f"{wanted}_{i}" for i in itertools.count(1))
        return next(name for name in itertools.chain([wanted], numbered) if name not in taken)
    return next(name for name in letters() if name not in taken)


def letters():
    """Names for what nobody has named, one after another."""
    few = [c for c in string.ascii_lowercase if c != "l"]
    yield from few
    yield from (f"{c}{i}" for i in itertools.count(1) for c in few)


def plain(text):
    """A text whose names are not final, about as it will be."""
    return re.sub(SIGN + r"\d+", "", text)


def identifier(name):
    """A name as one that may be defined."""
    name = "f" if name == "<lambda>" else re.sub(r"\W", "_", name).strip("_")
    if not name or name[0].isdigit():
        name = "f_" + name
    return name + "_" if keyword.iskeyword(name) else name


def of_place(place):
    """The name or names to which the program assigned what it called there, or None."""
    if place is None or not hasattr(place[0], "co_positions"):
        return None
    code, offset = place
    positions = _positions_in(code)
    position = positions[offset // 2] if offset // 2 < len(positions) else (None,)
    if None in position:
        return None
    line, end_line, column, end_column = position
    value = (line, column, end_line, end_column)
    return _assigned(code.co_filename).get(value)


def _positions_in(code):
    """The positions of a code's instructions. They can only be had one after another."""
    if id(code) not in _positions:
        _positions[id(code)] = code, list(code.co_positions())
    return _positions[id(code)][1]


def _assigned(file):
    """Span of a value -> what it is assigned to."""
    if file not in _trees:
        _trees[file] = dict(_assignments(file))
    return _trees[file]


def _assignments(file):
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if len(targets) != 1 or not isinstance(value, ast.AST) or not hasattr(value, "end_lineno"):
            continue
        name = _name(targets[0])
        if isinstance(targets[0], (ast.Tuple, ast.List)):
            name = [_name(one) for one in targets[0].elts]
        if name:
            yield (value.lineno, value.col_offset, value.end_lineno, value.end_col_offset), name


def _name(target):
    name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", None)
    return name if isinstance(name, str) and name != "_" else None
