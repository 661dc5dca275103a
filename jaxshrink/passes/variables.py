"""Variables: an assigned expression in the place where it is read, one name for what is equal."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.scopes import Binding
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

LAZY = frozenset({"experimental", "example_libraries", "extend", "flatten_util", "scipy", "test_util", "export", "ffi"})
"""Modules in `jax` that `import jax` does not load in all versions; nor what is in them, if anything loads them."""


def inline(view: View) -> Iterator[Edit]:
    """Put what a variable is assigned in the place where it is read."""
    for statement in trees.walk_statements(view.tree):
        match statement:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                yield from _inlined(view, statement, target, value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for element, value in zip(targets, values, strict=False) if len(targets) == len(values) else ():
                    binding = view.binding(element)
                    if binding is not None and len(binding.definitions) == 1 and len(binding.uses) == 1:
                        yield Edit({element: DELETE, value: DELETE, binding.uses[0]: trees.shallow(value)}, 2)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                uses = [(i, use) for i, part in enumerate(targets) if (b := view.binding(part)) for use in b.uses]
                if len(uses) == 1:  # of what a call gives, one part is read once
                    element = ast.Subscript(value, ast.Constant(uses[0][0]), ast.Load())
                    yield Edit({statement: DELETE, uses[0][1]: element}, 3)
            case ast.Assign(targets=[*several], value=value) if len(several) > 1:
                for other in several:
                    yield Edit.delete(other)


def aliases(view: View) -> Iterator[Edit]:
    """`from m import f` read once is `m.f`; a name imported twice is imported once; of a module only what is read."""
    modules: dict[str, str] = {}
    for statement in view.tree.body:
        if isinstance(statement, ast.Import):
            modules.update((alias.name, alias.asname or alias.name) for alias in statement.names)
    for statement in trees.walk_statements(view.tree):
        if not isinstance(statement, ast.ImportFrom) or statement.level:
            continue
        for alias in statement.names:
            binding = view.binding(alias)
            path = f"{statement.module}.{alias.name}"
            if binding is None:
                continue
            for module, name in sorted(modules.items(), key=lambda item: -len(item[0])):
                if path == module or (path.startswith(module + ".") and _is_loaded(path, module)):
                    by = name + path[len(module) :]
                    changes: dict[ast.AST, Replacement] = {use: trees.expression(by) for use in binding.uses}
                    yield Edit({**changes, alias: DELETE}, 4)
                    break
            yield from _member(view, statement, path, binding)


def _is_loaded(path: str, module: str) -> bool:
    """Whether a name is surely there once a module is imported: in this process another import may have loaded it."""
    package, *parts = path.split(".")
    below = path.count(".") - module.count(".")
    return package != "jax" or parts[0] not in LAZY or (below == 1 and module.count(".") > 1)


def _member(view: View, statement: ast.ImportFrom, path: str, binding: Binding) -> Iterator[Edit]:
    """`from a import m`, read once as `m.f`, is `from a.m import f`."""
    if len(binding.uses) == len(statement.names) == 1:
        read = view.parents[binding.uses[0]]
        if isinstance(read, ast.Attribute) and not view.scopes.module.bindings.keys() & {read.attr}:
            new = ast.ImportFrom(path, [ast.alias(read.attr)], 0)
            yield Edit({statement: new, read: ast.Name(read.attr, ast.Load())}, 2)


def merged(view: View) -> Iterator[Edit]:
    """Read one variable where another of the same scope was read, and drop the other's definition."""
    for scope in view.scopes.scope_of.values():
        bindings = [binding for binding in scope.bindings.values() if binding.uses and _simple(view, binding)]
        for i, first in enumerate(bindings):
            for second in bindings[i + 1 :]:
                changes: dict[ast.AST, Replacement] = {
                    use: ast.Name(first.name, ast.Load()) for use in second.uses
                }
                definition = view.parents[second.definitions[0]]
                yield Edit({**changes, definition: DELETE}, trees.extent(definition))


def _simple(view: View, binding: Binding) -> bool:
    """Is the variable bound once, by an assignment to its name alone?"""
    if len(binding.definitions) != 1:
        return False
    parent = view.parents.get(binding.definitions[0])
    return isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.targets[0] is binding.definitions[0]


def _inlined(view: View, statement: ast.Assign, target: ast.Name, value: ast.expr) -> Iterator[Edit]:
    binding = view.binding(target)
    if binding is None or len(binding.definitions) != 1 or not binding.uses:
        return
    changes: dict[ast.AST, Replacement] = {statement: DELETE}
    for i, use in enumerate(binding.uses):
        changes[use] = value if i == 0 else trees.clone(value)
    yield Edit(changes, 3 - (len(binding.uses) - 1) * trees.extent(value))
