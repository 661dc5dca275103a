"""Parametrised tests: the values of each parameter, and the ids that pytest makes of them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from jaxshrink import tree as trees
from jaxshrink.errors import InputError
from jaxshrink.testfile.module import Mark, Module


@dataclasses.dataclass(frozen=True)
class Id:
    """A part of a test's id. Where it follows from a value that only a run knows, `text` is a guess."""

    text: str
    sure: bool = True


@dataclasses.dataclass(frozen=True)
class Case:
    """One set of values for the parameters of an axis."""

    values: tuple[ast.expr, ...]
    id: tuple[Id, ...]


@dataclasses.dataclass(frozen=True)
class Axis:
    """What one `parametrize` in a module, or the `params` of a fixture, gives; to `indirect` names by a fixture.

    `cases` is None where only a run knows them, or their ids, which the function `ids` makes, if there is one.
    Where `spelled` is false, only a run knows the `values`, and the cases are parts of them.
    """

    names: tuple[str, ...]
    values: ast.expr
    cases: tuple[Case, ...] | None
    module: Module
    indirect: frozenset[str] = frozenset()
    ids: ast.expr | None = None
    spelled: bool = True


def parametrized(mark: Mark, module: Module) -> Axis:
    """The axis of a `parametrize`. Raises InputError where the file does not say what its parameters are."""
    arguments = dict(zip(("argnames", "argvalues", "indirect", "ids"), mark.args, strict=False)) | mark.keywords
    names = _names(module.resolved(arguments["argnames"]), module) if "argnames" in arguments else ()
    if not names or "argvalues" not in arguments:
        raise InputError("cannot tell the parameters of a test: write their names out in its parametrize")
    indirect = arguments.get("indirect")
    if isinstance(indirect, ast.Constant):
        through = names if indirect.value else ()
    else:
        through = tuple(_names(indirect, module)) if indirect else ()
    return axis(names, arguments["argvalues"], arguments.get("ids"), module, frozenset(through))


def axis(
    names: tuple[str, ...],
    values: ast.expr,
    ids: ast.expr | None,
    module: Module,
    indirect: frozenset[str] = frozenset(),
) -> Axis:
    """The axis of some parameters, with its cases where the file tells them."""
    elements = _elements(values, module)
    given = _elements(ids, module) if ids else None
    function = None if given is not None or ids is None or trees.text(ids) in ("None", "str") else ids
    spelled = [
        _case(names, element, index, given[index] if given and index < len(given) else None, module)
        for index, element in enumerate(elements or ())
    ]
    known = [case for case in spelled if case]
    if elements is not None and len(known) == len(spelled):
        values = ast.List([_row(case) for case in known], ast.Load())
        return Axis(names, values, None if function else _distinct(known), module, indirect, function)
    texts = [_id(each, names[0], index, module) for index, each in enumerate(given or ())]
    numbered = [_numbered(names, values, index, text) for index, text in enumerate(texts)]
    return Axis(names, values, _distinct(numbered) or None, module, indirect, function, spelled=False)


# -- values


def _names(node: ast.expr, module: Module) -> tuple[str, ...]:
    if isinstance(node, ast.Constant):
        return tuple(name.strip() for name in str(node.value).split(",") if name.strip())
    return tuple(str(each.value) for each in _elements(node, module) or () if isinstance(each, ast.Constant))


def _elements(node: ast.expr, module: Module) -> list[ast.expr] | None:
    """The elements of a sequence that the file spells out; None if it does not."""
    match module.resolved(node):
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            inner = [_elements(each.value, module) if isinstance(each, ast.Starred) else [each] for each in elements]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            inner = [_elements(left, module), _elements(right, module)]
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[values], keywords=[]):
            inner = [_elements(values, module)]
        case ast.Call(func=ast.Name(id="range"), args=arguments) if all(map(_is_number, arguments)):
            inner = [[ast.Constant(number) for number in range(*map(ast.literal_eval, arguments))]]
        case ast.Call(func=ast.Attribute(value=mapping, attr="keys" | "values" | "items" as part), args=[]):
            inner = [_of_dictionary(module.resolved(mapping), part)]
        case mapping:
            inner = [_of_dictionary(mapping, "keys")]
    if any(each is None for each in inner):
        return None
    return [element for each in inner for element in each or ()]


def _of_dictionary(node: ast.expr, part: str) -> list[ast.expr] | None:
    if not isinstance(node, ast.Dict) or None in node.keys:
        return None
    pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key]
    if part == "items":
        return [ast.Tuple([key, value], ast.Load()) for key, value in pairs]
    return [key if part == "keys" else value for key, value in pairs]


def _is_number(node: ast.expr) -> bool:
    try:
        return isinstance(ast.literal_eval(node), int)
    except ValueError:
        return False


def _case(
    names: tuple[str, ...],
    element: ast.expr,
    index: int,
    explicit: ast.expr | None,
    module: Module,
) -> Case | None:
    mark = module.mark(element)
    if mark and mark.name == "param":
        values: Sequence[ast.expr] | None = mark.args
        explicit = mark.keywords.get("id", explicit)
    else:
        values = [element] if len(names) == 1 else _elements(element, module)
    if values is None or len(values) != len(names):
        return None
    if explicit is not None and not (isinstance(explicit, ast.Constant) and explicit.value is None):
        return Case(tuple(values), (_id(explicit, names[0], index, module),))
    parts = [_id(value, name, index, module) for value, name in zip(values, names, strict=True)]
    return Case(tuple(values), tuple(parts))


def _numbered(names: tuple[str, ...], values: ast.expr, index: int, text: Id) -> Case:
    """A case with an id, of values that only a run knows."""
    source = trees.text(values)
    element = f"{source if isinstance(values, ast.List | ast.ListComp) else f'list({source})'}[{index}]"
    parts = [element] if len(names) == 1 else [f"{element}[{part}]" for part in range(len(names))]
    return Case(tuple(map(trees.expression, parts)), (text,))


def _row(case: Case) -> ast.expr:
    return case.values[0] if len(case.values) == 1 else ast.Tuple(list(case.values), ast.Load())


# -- ids


def _id(value: ast.expr, name: str, index: int, module: Module) -> Id:
    """As pytest does it: plain values by their text, functions and classes by their names, others by number."""
    value = module.resolved(value)
    try:
        plain = ast.literal_eval(value)
    except (ValueError, TypeError):
        return _by_name(value, f"{name}{index}", module)
    if isinstance(plain, str):
        return Id(plain.encode("unicode_escape").decode("ascii"))
    if isinstance(plain, bytes):
        return Id(plain.decode("ascii", "backslashreplace"))
    scalar = plain is None or isinstance(plain, int | float | complex)
    return Id(str(plain) if scalar else f"{name}{index}")


def _by_name(value: ast.expr, number: str, module: Module) -> Id:
    match value:
        case ast.Lambda():
            return Id("<lambda>")
        case ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return Id(number)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return Id(name, sure=isinstance(value, ast.Name) and module.defines(name))
    return Id(number, sure=False)


def _distinct(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Equal ids are numbered."""
    texts = ["-".join(part.text for part in case.id) for case in cases]
    taken = set(texts)
    found = []
    count = dict.fromkeys(texts, 0)
    for case, text in zip(cases, texts, strict=True):
        if texts.count(text) > 1:
            stem = text + "_" if text[-1:].isdigit() else text
            while f"{stem}{count[text]}" in taken:
                count[text] += 1
            taken.add(new := f"{stem}{count[text]}")
            count[text] += 1
            case = dataclasses.replace(case, id=(Id(new, all(part.sure for part in case.id)),))
        found.append(case)
    return tuple(found)
