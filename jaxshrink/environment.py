"""Environment variables that a program sets for JAX before it imports JAX.

They are read when JAX is imported or its backend starts, so candidates, which run in forks of a
process that has imported JAX, must have them from outside. `tidy` writes them back.
"""

from __future__ import annotations

import ast
import itertools
import os
from collections.abc import Iterable, Set

from jaxshrink import tree as trees
from jaxshrink.tree import Edit

IMPORT_JAX = frozenset({"jax", "flax", "optax", "equinox", "haiku", "numpyro", "diffrax", "chex", "orbax", "jaxtyping"})
"""Packages whose import imports JAX."""


def hoist_environment(tree: ast.Module) -> tuple[ast.Module, dict[str, str]]:
    """The tree without leading statements that set variables to constants, and the variables."""
    found: dict[str, str] = {}
    gone: list[ast.stmt] = []
    for statement in tree.body:
        if _imports_jax(statement):
            break
        settings = _settings(statement)
        if settings:
            found.update(settings)
            gone.append(statement)
    return (trees.apply(tree, [Edit.delete(*gone)]), found) if gone else (tree, {})


def without_settings(text: str, names: Set[str]) -> str:
    """A program without the leading statements that set only such variables."""
    tree = ast.parse(text)
    before = itertools.takewhile(lambda statement: not _imports_jax(statement), tree.body)
    gone = [statement for statement in before if (found := _settings(statement)) and found.keys() <= names]
    lines = text.splitlines(keepends=True)
    for statement in reversed(gone):
        lines[statement.lineno - 1 : statement.end_lineno] = ["pass\n"]
    return "".join(lines) if gone else text


def _imports_jax(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            return any(alias.name.split(".")[0] in IMPORT_JAX for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.split(".")[0] in IMPORT_JAX
    return False


def _settings(statement: ast.stmt) -> dict[str, str]:
    """What a statement sets in os.environ, if it does only that and all of it can be read off."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=environ, slice=name)], value=value) if _is_environ(environ):
            return _constants([(name, value)])
        case ast.AugAssign(target=environ, op=ast.BitOr(), value=ast.Dict() as new) if _is_environ(environ):
            return _constants(zip(new.keys, new.values, strict=True))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=environ, attr=method), args=args, keywords=keywords)):
            return _called(method, args, keywords) if _is_environ(environ) else {}
    return {}


def _called(method: str, args: list[ast.expr], keywords: list[ast.keyword]) -> dict[str, str]:
    match method, args, keywords:
        case "setdefault", [name, value], []:
            settings = _constants([(name, value)])
            return {} if os.environ.keys() & settings.keys() else settings  # then it sets nothing
        case "update", [ast.Dict(keys=names, values=values)], []:
            return _constants(zip(names, values, strict=True))
        case "update", [], [*_]:
            return _constants((ast.Constant(keyword.arg), keyword.value) for keyword in keywords)
    return {}


def _constants(pairs: Iterable[tuple[ast.expr | None, ast.expr]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in pairs:
        match name, value:
            case ast.Constant(value=str(key)), ast.Constant(value=str(setting)):
                found[key] = setting
            case _:
                return {}
    return found


def _is_environ(node: ast.expr) -> bool:
    return ast.unparse(node) in ("os.environ", "environ")
