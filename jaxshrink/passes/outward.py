"""Statements that need nothing of the function in which they stand, before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.scopes import Binding, Scope
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

_BOUND_TO_IT = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)


def outward(view: View) -> Iterator[Edit]:
    """Put the first statements of a function before it, where they read nothing of it: all that can go, or one."""
    for function in view.all(ast.FunctionDef):
        if isinstance(view.parents[function], ast.ClassDef):
            continue
        first = _independent(view, function)
        for count in dict.fromkeys((len(first), 1)) if first else ():
            moved = first[:count]
            changes: dict[ast.AST, Replacement] = {function: (*map(trees.shallow, moved), function)}
            yield Edit({**changes, **dict.fromkeys(moved, DELETE)}, count)


def _independent(view: View, function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements at a function's start that could stand before it."""
    scope = view.scopes.scope_of[function]
    outer = view.scopes.scope_of[view.function(function) or view.tree]
    found: list[ast.stmt] = []
    below: set[ast.AST] = set()
    for statement in function.body:
        nodes = set(ast.walk(statement))
        if any(isinstance(node, _BOUND_TO_IT) and view.function(node) is function for node in nodes):
            break
        inside = below | nodes
        bindings = {binding for node in nodes if (binding := view.binding(node)) is not None}
        if not all(_goes_along(binding, scope, outer, inside) for binding in bindings):
            break
        found.append(statement)
        below = inside
    return found


def _goes_along(binding: Binding, scope: Scope, outer: Scope, inside: set[ast.AST]) -> bool:
    """Whether a variable means the same before the function: it is none of it, or bound in what moves only."""
    if binding.scope is not scope:
        return True
    return inside.issuperset(binding.definitions) and binding.name not in outer.bindings
