"""Functions by their names in place of what they are looked up in: registries, tables, attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink.observation import Function, Recipe, Span, Wrapped
from jaxshrink.tree import Edit
from jaxshrink.view import View


def registries(view: View) -> Iterator[Edit]:
    """Name the function that a look-up gave: `LOSSES[kind](x)` is `huber(x)`."""
    functions = {
        Span(*origin): node
        for node in view.tree.body
        if isinstance(node, ast.FunctionDef) and (origin := getattr(node, "origin", None)) is not None
    }
    for node in view.all(ast.Subscript, ast.Attribute, ast.Call):
        span = _defined(view, view.recipe(node))
        function = functions.get(span) if span is not None else None
        if function is not None and function is not view.statement(node) and _is_seen(view, function.name, node):
            yield Edit.replace(node, ast.Name(function.name, ast.Load()))


def _defined(view: View, recipe: Recipe | None) -> Span | None:
    """Where the function was defined that an expression gave, or that is inside a library's wrapper."""
    if isinstance(recipe, Wrapped) and view.observation is not None:
        recipe = view.observation.objects[recipe.function]
    return recipe.span if isinstance(recipe, Function) else None


def _is_seen(view: View, name: str, place: ast.AST) -> bool:
    """Whether a name of the module means there what it means outside of all functions."""
    at: ast.AST | None = place
    while at is not None and at is not view.tree:
        scope = view.scopes.scope_of.get(at)
        if scope is not None and name in scope.bindings:
            return False
        at = view.parents.get(at)
    return True
