"""Environment variables that a program sets for JAX before it imports JAX.

They are read when JAX is imported or its backend starts, so candidates, which run in forks of a
process that has imported JAX, must have them from outside. `tidy` writes them back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.tree import Edit


def hoist_environment(tree: ast.Module) -> tuple[ast.Module, dict[str, str]]:
    """The tree without leading statements that set variables to constants, and the variables."""
    found: dict[str, str] = {}
    gone: list[ast.stmt] = []
    for statement in tree.body:
        if _imports_jax(statement):
            break
        settings = dict(_settings(statement))
        if settings:
            found.update(settings)
            gone.append(statement)
    return (trees.apply(tree, [Edit.delete(*gone)]), found) if gone else (tree, {})


def _imports_jax(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            return any(alias.name.split(".")[0] not in ("os", "sys") and _may_import_jax(alias.name) for alias in names)
        case ast.ImportFrom(module=module):
            return _may_import_jax(module or "")
    return False


def _may_import_jax(module: str) -> bool:
    return module.split(".")[0] in ("jax", "flax", "optax", "equinox", "haiku", "numpyro", "diffrax", "chex")


def _settings(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """What a statement sets in os.environ, where that can be read off it."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=environ, slice=ast.Constant(value=str(name)))], value=value):
            if _is_environ(environ) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield name, value.value
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=environ, attr="setdefault"), args=[name_, value_])):
            if _is_environ(environ) and isinstance(name_, ast.Constant) and isinstance(value_, ast.Constant):
                yield str(name_.value), str(value_.value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=environ, attr="update"), args=[ast.Dict() as variables])):
            if _is_environ(environ):
                yield from _constants(variables)
        case ast.AugAssign(target=environ, op=ast.BitOr(), value=ast.Dict() as variables):
            if _is_environ(environ):
                yield from _constants(variables)


def _constants(variables: ast.Dict) -> Iterator[tuple[str, str]]:
    for name, value in zip(variables.keys, variables.values, strict=True):
        if isinstance(name, ast.Constant) and isinstance(value, ast.Constant):
            yield str(name.value), str(value.value)


def _is_environ(node: ast.expr) -> bool:
    return ast.unparse(node) in ("os.environ", "environ")
