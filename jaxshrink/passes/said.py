"""What transformations say of the parameters of a function, once one of them is gone: `static_argnums=(0, 2)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from jaxshrink import tree as trees
from jaxshrink.tree import DELETE, Replacement

_DERIVATIVES = frozenset({"grad", "value_and_grad", "jacfwd", "jacrev", "hessian"})
"""Of these the second argument tells which parameters; of other transformations, something for each."""

Changes = Iterator[tuple[ast.AST, Replacement]]


def of_decorators(function: ast.AST, position: int, name: str) -> Changes:
    """What the decorators of a function have to say once the parameter of that position and name is gone."""
    for decorator in getattr(function, "decorator_list", ()):
        if isinstance(decorator, ast.Call):
            yield from by_keyword(decorator.keywords, position, name)


def by_keyword(words: Iterable[ast.keyword], position: int | None, name: str | None = None) -> Changes:
    """What keywords have to say once the parameter is gone: positions behind it are one less.

    Its position is None where it is only passed by its name.
    """
    for word in words:
        if (word.arg or "").endswith(("argnums", "argnames")):
            new = _without(word.value, position, name)
            yield (word.value, new) if new is not None else (word, DELETE)
        elif position is not None and (word.arg or "").startswith("in_"):
            yield from _of_each(word.value, position)


def by_place(transformation: ast.Call, position: int) -> Changes:
    """What the arguments of a transformation behind the function have to say once the parameter is gone."""
    numbers = trees.last_name(transformation.func) in _DERIVATIVES
    for value in transformation.args[1:]:
        if numbers:
            yield value, _without(value, position, None) or DELETE
        else:
            yield from _of_each(value, position)


def _of_each(value: ast.expr, position: int) -> Changes:
    if isinstance(value, ast.Tuple | ast.List):
        yield from ((each, DELETE) for each in value.elts[position : position + 1])


def _without(value: ast.expr, position: int | None, name: str | None) -> ast.expr | None:
    """Positions or names of parameters without one of them; None if there is no other."""
    old = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
    new = [_moved(each, position) for each in old if each is None or each not in (position, name)]
    if new == old:
        return value
    constants: list[ast.expr] = [ast.Constant(each) for each in new]
    single = len(constants) == 1 and not isinstance(value, ast.Tuple | ast.List)
    return (constants[0] if single else ast.Tuple(constants, ast.Load())) if constants else None


def _moved(parameter: Any, gone: int | None) -> Any:
    return parameter - 1 if gone is not None and isinstance(parameter, int) and parameter > gone else parameter
