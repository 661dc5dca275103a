"""Programs as `ast` trees, and edits on them.

A tree is treated as immutable: applying edits builds new nodes along the changed paths
and shares all others, so a node's identity (and its `origin`, where it stood in the user's
file) survives every edit that does not touch it. Edits name nodes by identity.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar, cast

from jaxshrink.rebuild import Inapplicable as Inapplicable
from jaxshrink.rebuild import Rebuild, new_node
from jaxshrink.rebuild import Replacement as Replacement

Node = TypeVar("Node", bound=ast.AST)

DELETE: tuple[ast.AST, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Edit:
    """One change that makes sense alone: nodes of the tree and what replaces them.

    Nodes inside a replacement that belong to the tree may be changed by other edits
    applied at the same time; where two edits change one node, the first wins.
    `weight` is roughly how many nodes the edit removes. `about` tells edits apart across versions of the tree
    where the changes do not: what follows from them may differ from version to version.
    """

    changes: Mapping[ast.AST, Replacement]
    weight: int = 1
    about: Hashable = None

    @classmethod
    def delete(cls, *nodes: ast.AST) -> Edit:
        return cls(dict.fromkeys(nodes, DELETE), sum(extent(node) for node in nodes))

    @classmethod
    def replace(cls, node: ast.AST, by: Replacement) -> Edit:
        new = by if isinstance(by, tuple) else (by,)
        return cls({node: by}, extent(node) - sum(extent(one) for one in new))


def extent(node: ast.AST) -> int:
    """Number of nodes under `node`, itself included: a cheap stand-in for its length."""
    known: int | None = node.__dict__.get("_extent")
    if known is None:
        known = 1 + sum(extent(child) for child in ast.iter_child_nodes(node))
        node.__dict__["_extent"] = known
    return known


def identity(node: ast.AST) -> Hashable:
    """What stays the same of a node when edits rebuild it."""
    return node.__dict__.setdefault("_identity", object())  # type: ignore[no-any-return]


def instead(node: ast.AST, new: Node) -> Node:
    """The new node as a later version of another, with its identity."""
    new.__dict__["_identity"] = identity(node)
    return new


def is_known(node: ast.AST) -> bool:
    """Has the node's identity been asked for, or did it stand in the user's file?"""
    return "_identity" in node.__dict__ or "lineno" in node.__dict__


def apply(tree: ast.Module, edits: Iterable[Edit]) -> ast.Module:
    """The tree with all edits made. Raises Inapplicable."""
    changes: dict[ast.AST, Replacement] = {}
    for edit in edits:
        for node, by in edit.changes.items():
            changes.setdefault(node, by)
    above = tree.__dict__.get("_parents")
    if above is None:
        above = tree.__dict__["_parents"] = parents(tree)
    result = Rebuild(changes, above).one(tree)
    assert isinstance(result, ast.Module)
    return result


def rewrite(node: Node, edit: Edit) -> Node:
    """A part of a tree with an edit made in it; the part itself stays what it is."""
    return cast(Node, Rebuild(edit.changes).one(node))


def text(tree: ast.AST) -> str:
    """Canonical source text: equal programs have equal texts."""
    return ast.unparse(tree)


def clone(node: Node) -> Node:
    """A deep copy that keeps origins; needed where a node is to stand in two places."""
    new = new_node(node)
    for name, value in node.__dict__.items():
        if name in ("_identity", "_parents"):
            continue
        if isinstance(value, ast.AST):
            value = clone(value)
        elif isinstance(value, list):
            value = [clone(item) if isinstance(item, ast.AST) else item for item in value]
        new.__dict__[name] = value
    return new


def shallow(node: Node) -> Node:
    """A new node with the same parts, for one that moves: the old one can be deleted."""
    new = new_node(node)
    new.__dict__.update(node.__dict__)
    for own in ("_identity", "_parents"):
        new.__dict__.pop(own, None)
    return new


def expression(source: str) -> ast.expr:
    """A new expression node from source text."""
    return ast.parse(source, mode="eval").body


def statements(source: str) -> list[ast.stmt]:
    """New statement nodes from source text."""
    return ast.parse(source).body


@functools.lru_cache(maxsize=8)
def parsed(text: str) -> ast.Module:
    """The tree of one of the user's files, only to be looked at."""
    return ast.parse(text)


def walk_statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every statement below `tree`, in source order, outer before inner."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt):
            yield child
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from walk_statements(child)


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name; empty where the expression is none."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Each node's parent."""
    found: dict[ast.AST, ast.AST] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        for child in ast.iter_child_nodes(node):
            found[child] = node
            stack.append(child)
    return found
