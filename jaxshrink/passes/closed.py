"""Edits that stay whole: where a definition goes, what reads it goes too or gets a value in its place.

Half to four fifths of the candidates of a general reducer die of a NameError that one can see.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.scopes import Binding
from jaxshrink.tree import DELETE, Edit
from jaxshrink.view import View


def closed_deletion(view: View, *roots: ast.stmt) -> Edit:
    """Deletes statements and, again and again, those that read a name which then nothing binds."""
    gone: set[ast.AST] = set()
    below: set[ast.AST] = set()
    queue: list[ast.stmt] = list(roots)
    while queue:
        statement = queue.pop()
        if statement in below:
            continue
        gone.add(statement)
        below.update(ast.walk(statement))
        for binding in lost(view, statement, below):
            queue.extend(view.statement(use) for use in binding.uses if use not in below)
    about = ("delete", *map(trees.identity, roots))
    return Edit(dict.fromkeys(gone, DELETE), sum(map(trees.extent, gone)), about)


def with_holes(view: View, *roots: ast.stmt) -> Iterator[Edit]:
    """Deletes statements and puts values where their names are read: numbers that cost nothing, then those observed."""
    below = {node for root in roots for node in ast.walk(root)}
    bindings = dict.fromkeys(binding for root in roots for binding in lost(view, root, below))
    uses = [use for binding in bindings for use in binding.uses if use not in below]
    if not uses or any(isinstance(root, ast.Import | ast.ImportFrom) for root in roots):
        return
    for i, values in enumerate((view.stand_in, view.rendered)):
        holes: dict[ast.AST, ast.expr] = {use: hole for use in uses if (hole := values(use)) is not None}
        if len(holes) == len(uses):
            weight = sum(map(trees.extent, roots)) - sum(trees.extent(hole) - 1 for hole in holes.values())
            gone: dict[ast.AST, trees.Replacement] = dict.fromkeys(roots, DELETE)
            yield Edit({**holes, **gone}, weight, ("holes", i, *map(trees.identity, roots)))


def lost(view: View, statement: ast.stmt, gone: set[ast.AST]) -> Iterator[Binding]:
    """The variables whose definitions are all among the nodes that are gone, some of them in the statement."""
    seen: set[Binding] = set()
    for node in ast.walk(statement):
        binding = view.binding(node)
        if binding is not None and binding not in seen and node in binding.definitions:
            seen.add(binding)
            if all(definition in gone for definition in binding.definitions):
                yield binding
