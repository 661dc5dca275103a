"""The final text, as a person would have written it. Not searched: the search is over, readable beats one token less.

`settle` has seen to imports and leftovers; here come the order of imports, conventional aliases,
parentheses and layout.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping

import black
import libcst as cst

from jaxshrink import tree as trees
from jaxshrink.scopes import Scopes
from jaxshrink.settle import settle
from jaxshrink.tree import DELETE, Edit, Replacement

ALIASES = {"jax.numpy": "jnp", "numpy": "np", "jax.experimental.pallas": "pl"}
"""Modules that have a conventional name."""

MEMBERS = {"jax.sharding.PartitionSpec": "P"}
"""Classes that have a conventional name, if they are read more than once."""

WIDTH = 100


def tidy(tree: ast.Module, env: Mapping[str, str] | None = None) -> str:
    """The text of a settled program that first sets the environment variables `env`."""
    tree = _conventional(settle(tree))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    standard = [node for node in imports if _is_standard(node)]
    others = [node for node in imports if not _is_standard(node)]
    header = list(standard)
    if env and not any(isinstance(node, ast.Import) and node.names[0].name == "os" for node in standard):
        header += trees.statements("import os")
    settings = [node for name, value in (env or {}).items() for node in trees.statements(f"os.environ[{name!r}] = {value!r}")]
    blocks = [sorted(header, key=_import_key), settings, sorted(others, key=_import_key), rest]
    text = "\n\n".join("\n".join(trees.text(node) for node in block) for block in blocks if block)
    return black.format_str(_plain(text), mode=black.Mode(line_length=WIDTH))


def _is_standard(node: ast.stmt) -> bool:
    return _module(node).split(".")[0] in sys.stdlib_module_names


def _module(node: ast.stmt) -> str:
    if isinstance(node, ast.ImportFrom):
        return node.module or ""
    return node.names[0].name if isinstance(node, ast.Import) else ""


def _import_key(node: ast.stmt) -> tuple[bool, str, bool]:
    return not _module(node).startswith("__future__"), _module(node), isinstance(node, ast.ImportFrom)


# -- conventional names


def _conventional(tree: ast.Module) -> ast.Module:
    """Modules under their conventional names; `from jax import lax` read once or twice is `jax.lax`."""
    scopes = Scopes(tree)
    taken = {binding.name for binding in scopes.bindings()}
    changes: dict[ast.AST, Replacement] = {}
    imports: dict[str, None] = {}
    for statement in tree.body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        for alias in statement.names:
            wanted = _wanted(statement, alias, len(scopes.of[alias].uses) if alias.name != "*" else 0)
            if wanted is None:
                continue
            line, name = wanted
            if name.split(".")[0] in taken and name.split(".")[0] != scopes.of[alias].name and line not in imports:
                if not _binds_alike(tree, line):
                    continue
            changes[alias] = DELETE
            changes.update((use, trees.expression(name)) for use in scopes.of[alias].uses)
            imports[line] = None
    if not changes:
        return tree
    tree = trees.apply(tree, [Edit(changes)])
    present = {trees.text(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)}
    added = [node for line in imports if line not in present for node in trees.statements(line)]
    return settle(ast.Module([*added, *tree.body], []))


def _wanted(statement: ast.Import | ast.ImportFrom, alias: ast.alias, uses: int) -> tuple[str, str] | None:
    """The conventional import line and name for what an alias brings in; None where it is as it should be."""
    if isinstance(statement, ast.Import):
        path = alias.name
        if path in ALIASES and alias.asname != ALIASES[path]:
            return _line(path), ALIASES[path]
        return None
    if statement.level or alias.name == "*":
        return None
    path = f"{statement.module}.{alias.name}"
    if path in ALIASES and alias.asname != ALIASES[path]:
        return _line(path), ALIASES[path]
    if statement.module == "jax" and path not in ALIASES and (uses <= 2 or alias.name in ("jit", "vmap", "grad")):
        return "import jax", path
    if path in MEMBERS and uses == 1:
        return "import jax", path
    if path in MEMBERS and alias.asname != MEMBERS[path]:
        return f"from {statement.module} import {alias.name} as {MEMBERS[path]}", MEMBERS[path]
    return None


def _line(path: str) -> str:
    package, _, name = path.rpartition(".")
    if path == "jax.experimental.pallas":
        return f"from {package} import {name} as {ALIASES[path]}"
    return f"import {path} as {ALIASES[path]}"


def _binds_alike(tree: ast.Module, line: str) -> bool:
    return any(trees.text(node) == line for node in tree.body)


# -- layout


def _plain(text: str) -> str:
    """Without the parentheses that `ast.unparse` writes around tuples, and exponents as people write them."""
    module = cst.parse_module(text).visit(_Parentheses())
    return module.code


class _Parentheses(cst.CSTTransformer):
    """Bare tuples where a statement ends with them; `1e-06` as `1e-6`."""

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        return updated_node.with_changes(value=_bare(updated_node.value))

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        return updated_node.with_changes(value=_bare(updated_node.value))

    def leave_Yield(self, original_node: cst.Yield, updated_node: cst.Yield) -> cst.Yield:
        return updated_node

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        return updated_node.with_changes(target=_bare(updated_node.target), iter=_bare(updated_node.iter))

    def leave_Float(self, original_node: cst.Float, updated_node: cst.Float) -> cst.Float:
        return updated_node.with_changes(value=re.sub(r"e([+-]?)0*(\d)", lambda m: f"e{m[1].strip('+')}{m[2]}", updated_node.value))


def _bare(node: cst.BaseExpression | None) -> cst.BaseExpression | None:
    if isinstance(node, cst.Tuple) and node.elements and not any(isinstance(e, cst.StarredElement) for e in node.elements):
        return node.with_changes(lpar=[], rpar=[])
    return node
