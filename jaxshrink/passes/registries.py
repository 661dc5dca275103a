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
        binding = view.binding(function) if function is not None else None
        if function is None or binding is None or function is view.statement(node):
            continue
        if view.is_seen(binding, node):
            yield Edit.replace(node, ast.Name(function.name, ast.Load()))


def _defined(view: View, recipe: Recipe | None) -> Span | None:
    """Where the function was defined that an expression gave, or that is inside a library's wrapper."""
    if isinstance(recipe, Wrapped) and view.observation is not None:
        recipe = view.observation.objects[recipe.function]
    return recipe.span if isinstance(recipe, Function) else None
