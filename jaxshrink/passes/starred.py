"""Starred arguments: `f(*(a, b))` is `f(a, b)`, and what a function collects by `*args` goes at both ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def starred(view: View) -> Iterator[Edit]:
    """Put the elements of a display in the place of the star before it; the same for keywords."""
    for star in view.all(ast.Starred):
        for display in (star.value, view.rendered(star.value)):
            if isinstance(display, ast.Tuple | ast.List) and isinstance(star.ctx, ast.Load):
                yield Edit({star: tuple(display.elts)}, 2)
    for call in view.all(ast.Call):
        for keyword in call.keywords:
            for display in (keyword.value, view.rendered(keyword.value)) if keyword.arg is None else ():
                named = _keywords(display)
                if named is not None:
                    yield Edit({keyword: tuple(named)}, 2)


def collected(view: View) -> Iterator[Edit]:
    """Drop `*args` of a function with what its calls pass for it."""
    for function in view.all(ast.FunctionDef, ast.Lambda):
        rest, binding = function.args.vararg, view.binding(function)
        collecting = view.binding(rest) if rest is not None else None
        calls = view.calls(binding) if binding is not None else None
        if rest is None or collecting is None or not calls:
            continue
        changes: dict[ast.AST, Replacement] = {rest: DELETE}
        for use in collecting.uses:
            above = view.parents[use]
            changes[above if isinstance(above, ast.Starred) else use] = (
                DELETE if isinstance(above, ast.Starred) else ast.Tuple([], ast.Load())
            )
        count = len(function.args.posonlyargs) + len(function.args.args)
        for call in calls:
            changes.update(dict.fromkeys(call.args[count:], DELETE))
        yield Edit(changes, 4, ("collected", trees.identity(rest)))


def _keywords(display: ast.expr | None) -> list[ast.keyword] | None:
    """The keywords that a dictionary of names is in a call."""
    match display:
        case ast.Dict(keys=keys, values=values):
            names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            if len(names) == len(keys) and all(map(str.isidentifier, names)):
                return [ast.keyword(name, value) for name, value in zip(names, values, strict=True)]
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            return keywords
    return None
