"""What a reduction slips to: programs that fail, or say the words of a failure, by themselves, or by chance.

`assert False` is a splendid reduction of any failed assertion.
"""

from __future__ import annotations

import ast
import collections
import functools
from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from jaxshrink import tree as trees
from jaxshrink.chance import sources
from jaxshrink.operations import is_constant

_SUSPICIOUS = frozenset({
    "exit", "_exit", "quit", "abort", "kill", "raise_signal", "throw", "nan",
    "broadcast_shapes", "result_type", "promote_types", "promote_shapes",
})  # fmt: skip
"""What fails, or says the words of a failure, by itself."""


_STILL = "while_loop whose body ignores its state"
_EXACT = "comparison without tolerance"

_TOLERANCES = frozenset({"rtol", "atol", "tol", "rel_tol", "abs_tol", "delta", "rel", "abs"})
_ROUNDING = 1e-9
"""A tolerance below it is none: then what is found wrong is how numbers are rounded."""


def slips(original: str, candidate: str, *, hangs: bool = False, values: bool = False) -> str | None:
    """Why a candidate cannot count, whatever its failure: it has more of what fails by itself than the input.

    `hangs`: the failure is a hang, so loops are what it is about. `values`: it is wrong numbers.
    """
    old, new = _suspicious(original), _suspicious(candidate)
    passed_over = {_STILL: not hangs, _EXACT: not values}
    return next((what for what, count in new.items() if count > old[what] and not passed_over.get(what)), None)


@functools.lru_cache(maxsize=64)  # more than are asked about at once
def _suspicious(text: str) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    found["chance"] = len(sources(tree))  # what fails each time is not to fail now and then
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        match node:
            case ast.Raise() | ast.Assert():
                found[type(node).__name__.lower()] += 1
            case ast.While(test=test) if is_constant(test):
                found["while True"] += 1
            case ast.Call(func=function) if trees.last_name(function) == "while_loop":
                found.update(_endless(node, functions))
            case ast.Call() | ast.Compare() if _is_exact(node):
                found[_EXACT] += 1
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in _SUSPICIOUS:
                found[name] += 1
            case ast.Constant(value=str(word)) if word.lower().strip("+-") in ("nan", *_SUSPICIOUS):
                found[word] += 1
    return found


def _is_exact(node: ast.Call | ast.Compare) -> bool:
    """Whether it finds two numbers different that are alike but for rounding."""
    match node:
        case ast.Call(func=function, args=args, keywords=keywords):
            given = {keyword.arg: keyword.value for keyword in keywords}
            tight = trees.last_name(function) == "assert_allclose" and len(args) < 3 and "rtol" not in given
            return tight or any(_is_tiny(value) for name, value in given.items() if name in _TOLERANCES)
        case ast.Compare(ops=[ast.LtE() | ast.Gt()], comparators=[limit]):
            return _is_tiny(limit)
    return False


def _is_tiny(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and abs(node.value) < _ROUNDING


def _endless(loop: ast.Call, functions: Mapping[str, ast.FunctionDef]) -> Iterator[str]:
    """What a `while_loop` has of one that can only be endless, or never begin."""
    condition = _function(loop, 0, "cond_fun", functions)
    body = _function(loop, 1, "body_fun", functions)
    if condition is not None and not _looks(condition) and not all(map(_is_false, _results(condition))):
        yield "endless while_loop"
    looked_at = None if condition is None else _elements(condition)
    if body is not None and not _looks(body, looked_at):
        yield _STILL


Element: TypeAlias = int | str
"""The number, key or name of an element of a state."""


def _function(
    loop: ast.Call, place: int, name: str, functions: Mapping[str, ast.FunctionDef]
) -> ast.Lambda | ast.FunctionDef | None:
    """The function that a call gets as an argument, where it stands there or is defined in the program."""
    named = [keyword.value for keyword in loop.keywords if keyword.arg == name]
    given: ast.AST | None = next(iter([*loop.args[place : place + 1], *named]), None)
    if isinstance(given, ast.Name):
        given = functions.get(given.id)
    return given if isinstance(given, ast.Lambda | ast.FunctionDef) else None


def _results(function: ast.Lambda | ast.FunctionDef) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]


def _elements(condition: ast.Lambda | ast.FunctionDef) -> set[Element] | None:
    """The elements of the state that a condition looks at, where it takes them one by one."""
    parameters = {node.arg for node in ast.walk(condition) if isinstance(node, ast.arg)}
    taken: dict[ast.AST, Element] = {}
    named: dict[str, Element] = {}
    unpacked: set[ast.AST] = set()
    for node in ast.walk(condition):
        match node:
            case ast.Subscript(value=ast.Name() as name, slice=ast.Constant(value=int() | str() as element)):
                taken[name] = element
            case ast.Attribute(value=ast.Name() as name, attr=element):
                taken[name] = element
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Name(id=state) as name) if state in parameters:
                unpacked.add(name)
                named |= {part.id: i for i, target in enumerate(targets)
                          for part in ast.walk(target) if isinstance(part, ast.Name)}  # fmt: skip
    loads = [node for node in ast.walk(condition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    reads = [node for node in loads if node.id in parameters and node not in unpacked]
    if not taken.keys() >= set(reads):
        return None
    return {taken[read] for read in reads} | {named[node.id] for node in loads if node.id in named}


def _looks(function: ast.Lambda | ast.FunctionDef, elements: Collection[Element] | None = None) -> bool:
    """Whether what a function returns may come from its parameters: of a tuple, one of these elements."""
    known = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    for statement in [] if isinstance(function, ast.Lambda) else function.body:
        if isinstance(statement, ast.Assign) and not _reads(statement.value, known):
            known -= set(_bound(statement))
        parts = [statement, *trees.walk_statements(statement)]
        for _ in parts:  # each may name what those before it have, also in the round before of a loop
            known |= {name for part in parts if _reads(part, known) for name in _bound(part)}
    return any(_reads(part, known) for result in _results(function) for part in _of(result, elements))


def _of(result: ast.expr, elements: Collection[Element] | None) -> list[ast.expr]:
    """What a result holds as these elements; all of it where this is not to be seen."""
    match result:
        case ast.Tuple(elts=values):
            held: dict[Element, ast.expr] = dict(enumerate(values))
        case ast.Dict(keys=keys, values=values):
            held = {key.value: value for key, value in zip(keys, values, strict=True)
                    if isinstance(key, ast.Constant) and isinstance(key.value, str)}  # fmt: skip
        case ast.Call(keywords=keywords):
            held = {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
        case _:
            held = {}
    return [held[element] for element in elements] if elements and held.keys() >= set(elements) else [result]


def _reads(node: ast.AST, names: Collection[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield node.name
    yield from (part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _is_false(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not value
        case ast.Compare(ast.Constant(value=a), [ast.Lt() | ast.Gt() | ast.NotEq()], [ast.Constant(value=b)]):
            return bool(a == b)
    return False
