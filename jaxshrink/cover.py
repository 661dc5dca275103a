"""The part of a program that ran: a first cut that needs no search."""

from __future__ import annotations

import ast

from jaxshrink import tree as trees
from jaxshrink.observation import Observation
from jaxshrink.tree import DELETE, Edit, Replacement


def covered(tree: ast.Module, observation: Observation) -> ast.Module:
    """The tree without statements that were not executed, and without module-level ones after the failing one."""
    changes: dict[ast.AST, Replacement] = {}
    for statement in trees.walk_statements(tree):
        origin = getattr(statement, "origin", None)
        if origin is None or isinstance(statement, ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
            continue
        lines = observation.lines.get(origin[0])
        first = min([origin[1], *(node.lineno for node in getattr(statement, "decorator_list", ()))])
        if lines is not None and origin[1] not in lines and first not in lines:
            changes[statement] = DELETE
    return trees.apply(tree, [Edit(changes)])

