"""A tree with the imports that it needs and without definitions that nothing reads.

Passes need not think of imports, and what an edit makes useless goes with it, without a run.
"""

from __future__ import annotations

import ast
import sys

from jaxshrink import tree as trees
from jaxshrink.scopes import Binding, Scopes
from jaxshrink.tree import Edit

CONVENTIONAL = {
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "np": "import numpy as np",
    "functools": "import functools",
    "P": "from jax.sharding import PartitionSpec as P",
}
"""Names that always mean this where nothing binds them."""

QUIET = frozenset({"jax", "jaxlib", "numpy", "scipy"}) | sys.stdlib_module_names
"""Packages whose import has no effect that a program could be about."""


def settle(tree: ast.Module) -> ast.Module:
    """Add conventional imports that are missing; drop imports, functions and plain values that are never read."""
    return settled(tree)[0]


def keep(statement: ast.stmt) -> None:
    """Never drop the statement, even rebuilt: it may be what fails, though nothing reads what it binds."""
    statement.__dict__["_kept"] = True


def settled(tree: ast.Module) -> tuple[ast.Module, Scopes]:
    """The settled tree and its scopes."""
    while True:
        scopes = Scopes(tree)
        missing = {name.id for name in scopes.unbound} & CONVENTIONAL.keys()
        if missing:
            imports = [node for name in sorted(missing) for node in trees.statements(CONVENTIONAL[name])]
            tree = ast.Module([*imports, *tree.body], [])
            continue
        unread = [] if scopes.dynamic else _unread(tree, scopes)
        if not unread:
            return tree, scopes
        tree = trees.apply(tree, [Edit.delete(*unread)])


def _unread(tree: ast.Module, scopes: Scopes) -> list[ast.AST]:
    found: list[ast.AST] = []
    for statement in trees.walk_statements(tree):
        if "_kept" in statement.__dict__:
            continue
        match statement:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
                for alias in names:
                    package = (module or alias.name).split(".")[0]
                    quiet = package in QUIET and alias.name != "*" and module != "__future__"
                    if quiet and (_idle(scopes, alias) or (not module and _spare(tree, scopes, alias))):
                        found.append(alias)
            case ast.FunctionDef(decorator_list=[]) | ast.AsyncFunctionDef(decorator_list=[]):
                if _idle(scopes, statement) and not isinstance(scopes.of[statement].scope.node, ast.ClassDef):
                    found.append(statement)
            case ast.ClassDef(decorator_list=[], keywords=[]) if _idle(scopes, statement):
                found.append(statement)
            case ast.Assign(targets=[ast.Name() as target], value=ast.Constant() | ast.Lambda() | ast.Name()):
                if _idle(scopes, target) and not isinstance(scopes.of[target].scope.node, ast.ClassDef):
                    found.append(statement)
    return found


def is_read(tree: ast.Module, module: str) -> bool:
    """Whether something reads a module by its whole name, as `a.b` after `import a.b`."""
    dotted = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return any(node.attr == module.rpartition(".")[2] and ast.unparse(node) == module for node in dotted)


def _spare(tree: ast.Module, scopes: Scopes, alias: ast.alias) -> bool:
    """Does another import bind the same name as one of a module in a package, and nothing read that module?"""
    is_only = len(scopes.of[alias].definitions) < 2
    return not (alias.asname or "." not in alias.name or is_only or is_read(tree, alias.name))


def _idle(scopes: Scopes, node: ast.AST) -> bool:
    """Is what the node binds never read, but perhaps by itself?"""
    binding: Binding = scopes.of[node]
    if len(binding.definitions) > 1:
        return not binding.uses
    own = set(map(id, ast.walk(node))) if binding.uses else set()
    return all(id(use) in own for use in binding.uses)
