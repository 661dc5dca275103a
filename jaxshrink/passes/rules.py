"""Functions with derivative rules of their own, as plain functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.tree import DELETE, Edit
from jaxshrink.view import View

WITH_RULES = frozenset({"custom_jvp", "custom_vjp", "custom_gradient"})
SET_RULES = frozenset({"defjvp", "defjvps", "defvjp"})


def without_rules(view: View) -> Iterator[Edit]:
    """Drop `@custom_jvp` with what sets the rules: `f.defjvp(…)`, `@f.defjvp def …`."""
    for function in view.all(ast.FunctionDef):
        binding = view.binding(function)
        gone: list[ast.AST] = [each for each in function.decorator_list if _has_rules(each)]
        for use in binding.uses if gone and binding is not None else ():
            attribute = view.parents[use]
            if isinstance(attribute, ast.Attribute) and attribute.attr in SET_RULES:
                gone.append(view.statement(attribute))
        if gone:
            yield Edit(dict.fromkeys(gone, DELETE), sum(map(trees.extent, gone)), ("rules", trees.identity(function)))


def _has_rules(decorator: ast.expr) -> bool:
    """Is it `custom_jvp`, alone or in a call or a partial?"""
    return any(trees.last_name(node) in WITH_RULES for node in ast.walk(decorator) if isinstance(node, ast.expr))
