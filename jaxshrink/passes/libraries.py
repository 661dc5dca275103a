"""How a program can name a module that it may not have imported by that name."""

from __future__ import annotations

import ast

from jaxshrink import tree as trees
from jaxshrink.view import View


def named(view: View, module: str) -> ast.expr | None:
    """An expression for a module, by what the program imports at its top; None where nothing leads to it."""
    found: list[str] = []
    for statement in view.tree.body:
        match statement:
            case ast.Import(names=names):
                imported = [(alias.name, alias.asname or alias.name) for alias in names]
                imported += [(top, top) for alias in names if not alias.asname and (top := alias.name.split(".")[0])]
            case ast.ImportFrom(module=str(package), names=names, level=0):
                imported = [(f"{package}.{alias.name}", alias.asname or alias.name) for alias in names]
            case _:
                continue
        for path, name in imported:
            if module == path or module.startswith(path + "."):
                found.append(name + module[len(path) :])
    return trees.expression(min(found, key=lambda name: (name.count("."), len(name)))) if found else None


def dotted(view: View, node: ast.expr) -> str:
    """The full name of what an expression takes from an import; empty for others."""
    if isinstance(node, ast.Attribute):
        owner = dotted(view, node.value)
        return f"{owner}.{node.attr}" if owner else ""
    binding = view.binding(node) if isinstance(node, ast.Name) else None
    for alias in binding.definitions if binding is not None else ():
        if isinstance(alias, ast.alias):
            above = view.parents[alias]
            if isinstance(above, ast.ImportFrom):
                return f"{above.module}.{alias.name}"
            return alias.name if alias.asname else alias.name.split(".")[0]
    return ""
