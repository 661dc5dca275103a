"""The final text, as a person would have written it. Not searched: the search is over, readable beats one token less.

`settle` has seen to leftovers; here come conventional names, the order of imports and the layout.
None of it changes what the program does.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import black.parsing

from jaxshrink import tree as trees
from jaxshrink.passes.variables import LAZY
from jaxshrink.scopes import Scopes
from jaxshrink.settle import settle
from jaxshrink.tokens import count_tokens
from jaxshrink.tree import DELETE, Edit, Replacement

ALIASES = {"jax.numpy": "jnp", "numpy": "np", "jax.experimental.pallas": "pl"}
"""Modules that have a conventional name."""

WIDTHS = (88, 120)
"""Lengths of lines, the first preferred."""

Import: TypeAlias = ast.Import | ast.ImportFrom

SURROUNDINGS = frozenset({"os", "sys", "environ", "warnings", "logging"})
"""Imports stay behind a statement that reads one of these names: it may be about them."""


def tidy(tree: ast.Module, env: Mapping[str, str] | None = None) -> str:
    """The text of a program that first sets the environment variables `env`."""
    tree = _conventional(_without_pass(settle(tree)))
    blocks = [block for block in _blocks(tree, env or {}) if block]
    text = "\n\n".join(trees.text(ast.Module(block, [])) for block in blocks)
    return _formatted(_plain(text))


def _without_pass(tree: ast.Module) -> ast.Module:
    bodies = [value for node in ast.walk(tree) for _, value in ast.iter_fields(node) if isinstance(value, list)]
    needless = [node for body in bodies if len(body) > 1 for node in body if isinstance(node, ast.Pass)]
    needless += [node for node in tree.body if isinstance(node, ast.Pass) and node not in needless]
    return trees.apply(tree, [Edit.delete(*needless)]) if needless else tree


# -- the order of statements


def _blocks(tree: ast.Module, env: Mapping[str, str]) -> Iterator[list[ast.stmt]]:
    """The statements in their order, in groups that a blank line parts."""
    body = list(tree.body)
    docstring = body[:1] if ast.get_docstring(tree) is not None else []
    movable = _movable(tree)
    imports = [one for statement in movable for one in _one_each(statement)]
    rest = [node for node in body if not any(node is one for one in [*docstring, *movable])]
    if env:
        imports.append(ast.Import([ast.alias("os")]))
    imports = sorted(_merged(imports), key=_import_key)
    yield docstring
    yield [node for node in imports if _module(node) == "__future__"]
    yield [node for node in imports if _is_standard(node) and _module(node) != "__future__"]
    yield [node for name, value in env.items() for node in trees.statements(f"os.environ[{name!r}] = {value!r}")]
    yield [node for node in imports if not _is_standard(node)]
    for _, group in itertools.groupby(rest, key=_is_import):
        yield list(group)


def _movable(tree: ast.Module) -> list[Import]:
    """The imports that may stand at the top."""
    scopes = Scopes(tree)
    found: list[Import] = []
    for node in tree.body:
        if isinstance(node, Import):
            bindings = [scopes.of[alias] for alias in node.names if alias.name != "*"]
            if all(len(binding.definitions) == 1 or _only_imports(binding.definitions) for binding in bindings):
                found.append(node)
        elif any(isinstance(part, ast.Name) and part.id in SURROUNDINGS for part in ast.walk(node)):
            break
    return found


def _only_imports(nodes: list[ast.AST]) -> bool:
    """Do all definitions of a name import the same package?"""
    return all(isinstance(node, ast.alias) and not node.asname for node in nodes)


def _one_each(statement: Import) -> list[Import]:
    if isinstance(statement, ast.Import) and len(statement.names) > 1:
        return [ast.Import([alias]) for alias in statement.names]
    return [statement]


def _merged(imports: list[Import]) -> list[Import]:
    """Each import once, and those from one module in one statement."""
    plain: dict[str, Import] = {}
    members: dict[tuple[str | None, int], dict[str, ast.alias]] = {}
    for node in imports:
        if isinstance(node, ast.ImportFrom) and node.names[0].name != "*":
            members.setdefault((node.module, node.level), {}).update((trees.text(alias), alias) for alias in node.names)
        else:
            plain[trees.text(node)] = node
    merged = [
        ast.ImportFrom(module, [alias for _, alias in sorted(aliases.items())], level)
        for (module, level), aliases in members.items()
    ]
    return [*plain.values(), *merged]


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, Import)


def _is_standard(node: ast.stmt) -> bool:
    return _module(node).split(".")[0] in sys.stdlib_module_names


def _module(node: ast.stmt) -> str:
    if isinstance(node, ast.ImportFrom):
        return node.module or ""
    return node.names[0].name if isinstance(node, ast.Import) else ""


def _import_key(node: ast.stmt) -> tuple[bool, str]:
    return isinstance(node, ast.ImportFrom), _module(node)


# -- conventional names


def _conventional(tree: ast.Module) -> ast.Module:
    """Modules under their conventional names, and as `jax.lax` where that takes no more than `from jax import lax`."""
    for statement in tree.body:
        if not isinstance(statement, Import):
            continue
        wanted = {alias: line for alias in statement.names if alias.name != "*" and (line := _wanted(statement, alias))}
        for group in [wanted, *({alias: line} for alias, line in wanted.items())]:
            new = _replaced(tree, group) if group else None
            named = all(name in ALIASES.values() for _, name in group.values())
            if new is not None and (named or count_tokens(trees.text(new)) <= count_tokens(trees.text(tree))):
                return _conventional(new)
    return tree


def _aliases(tree: ast.Module) -> Iterator[tuple[Import, ast.alias]]:
    for statement in tree.body:
        if isinstance(statement, Import):
            yield from ((statement, alias) for alias in statement.names if alias.name != "*")


def _wanted(statement: Import, alias: ast.alias) -> tuple[str, str] | None:
    """The conventional import line and name for what an alias brings in; None where it is as it should be."""
    if isinstance(statement, ast.Import):
        if alias.asname is None and "." in alias.name:
            return None
        path = alias.name
    elif statement.level:
        return None
    else:
        path = f"{statement.module}.{alias.name}"
    if path in ALIASES:
        line = _line(path)
        return None if trees.text(statement) == line else (line, ALIASES[path])
    package, *parts = path.split(".")
    if package == "jax" and parts and parts[0] not in LAZY and isinstance(statement, ast.ImportFrom):
        return "import jax", path
    return None


def _line(path: str) -> str:
    package, _, name = path.rpartition(".")
    if path == "jax.experimental.pallas":
        return f"from {package} import {name} as {ALIASES[path]}"
    return f"import {path} as {ALIASES[path]}"


def _replaced(tree: ast.Module, wanted: Mapping[ast.alias, tuple[str, str]]) -> ast.Module | None:
    """The tree with other imports in place of some; None where a new name means something else."""
    scopes = Scopes(tree)
    changes: dict[ast.AST, Replacement] = {}
    for alias, (line, name) in wanted.items():
        binding = scopes.of[alias]
        if len(binding.definitions) > 1 or not all(isinstance(use.ctx, ast.Load) for use in binding.uses):
            return None
        alike = {node for statement, node in _aliases(tree) if trees.text(statement) == line}
        same_name = (other for other in scopes.bindings() if other.name == name.split(".")[0] and other is not binding)
        if not all(alike.issuperset(other.definitions) for other in same_name):
            return None
        changes[alias] = DELETE
        changes.update((use, trees.expression(name)) for use in binding.uses)
    tree = trees.apply(tree, [Edit(changes)])
    present = [trees.text(node) for node in tree.body]
    new = [line for line in dict.fromkeys(line for line, _ in wanted.values()) if line not in present]
    return ast.Module([*trees.statements("\n".join(new)), *tree.body], [])


# -- layout


def _plain(text: str) -> str:
    """Without the parentheses that `ast.unparse` writes around tuples, and exponents as people write them."""
    lines = [line.encode() for line in text.split("\n")]
    edits: list[tuple[int, int, int, bytes]] = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Return(value=ast.Tuple(elts=[_, *_]) as bare) | ast.Assign(value=ast.Tuple(elts=[_, *_]) as bare):
                edits.append((bare.lineno, bare.col_offset, bare.col_offset + 1, b""))
                edits.append((bare.end_lineno or 0, (bare.end_col_offset or 0) - 1, bare.end_col_offset or 0, b""))
            case ast.Constant(value=float() | complex()):
                old = lines[node.lineno - 1][node.col_offset : node.end_col_offset]
                new = re.sub(rb"e\+?(-?)0*(\d)", rb"e\1\2", old)
                edits.append((node.lineno, node.col_offset, node.end_col_offset or 0, new))
    for line, start, end, new in sorted(edits, reverse=True):
        old = lines[line - 1]
        lines[line - 1] = old[:start] + new + old[end:]
    return b"\n".join(lines).decode()


def _formatted(text: str) -> str:
    """Formatted by black; as it is where black does not know the syntax yet.

    Where lines of black's own width take a trailing comma more, they may be longer.
    """
    try:
        versions = [black.format_str(text, mode=black.Mode(line_length=width)) for width in WIDTHS]
    except black.parsing.InvalidInput:
        return text + "\n"
    return min(versions, key=count_tokens)
