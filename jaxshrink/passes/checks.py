"""Plainer checks of numbers: `assert not np.flatnonzero(~np.isclose(a, b)).size` is `assert jnp.allclose(a, b)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.tree import Edit
from jaxshrink.view import View

CLOSE = frozenset({"isclose", "allclose"})
"""Functions of two arrays that tell whether they are nearly equal."""


def checks(view: View) -> Iterator[Edit]:
    """Compare as a whole what a check compares element by element, or by a difference."""
    for statement in view.all(ast.Assert, ast.If):
        raises = isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise)
        if raises or isinstance(statement, ast.Assert):
            for a, b in dict.fromkeys(_compared(statement.test)):
                alike: ast.expr = ast.Call(trees.expression("jnp.allclose"), [a, b], [])
                yield Edit.replace(statement.test, ast.UnaryOp(ast.Not(), alike) if raises else alike)


def _compared(test: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(test):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[a, b, *_]) if name in CLOSE:
                yield a, b
            case ast.BinOp(left=a, op=ast.Sub(), right=b):
                yield a, b
