"""A tree as passes see it: with parents, scopes and the values that were observed, each computed once."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import TypeVar, overload

from jaxshrink import render
from jaxshrink import tree as trees
from jaxshrink.observation import Observation, Recipe, Ref, Span
from jaxshrink.render import Style, Unrenderable
from jaxshrink.scopes import FUNCTION, Binding, Function, Scopes

A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)
C = TypeVar("C", bound=ast.AST)
D = TypeVar("D", bound=ast.AST)


class View:
    """What a pass is given. Nothing in it may be changed.

    `thorough`: all edits are wanted, not only those that are likely to help. `holes`: values may stand for what
    computes them.
    """

    def __init__(
        self, tree: ast.Module, observation: Observation | None = None, thorough: bool = True, *, holes: bool = True
    ):
        self.tree, self.holes = tree, holes
        self.observation = observation
        self.thorough = thorough

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return trees.parents(self.tree)

    @functools.cached_property
    def scopes(self) -> Scopes:
        return Scopes(self.tree)

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes, outer before inner, in source order."""
        return list(_preorder(self.tree))

    @functools.cached_property
    def spans(self) -> dict[Span, ast.AST]:
        """The node that stands at each place of the user's files; an outer one where two stand at one place."""
        found: dict[Span, ast.AST] = {}
        for node in self.nodes:
            origin = getattr(node, "origin", None)
            if origin is not None and not isinstance(node, ast.Expr):
                found.setdefault(Span(*origin), node)
        return found

    @overload
    def all(self, a: type[A], /) -> Iterator[A]: ...
    @overload
    def all(self, a: type[A], b: type[B], /) -> Iterator[A | B]: ...
    @overload
    def all(self, a: type[A], b: type[B], c: type[C], /) -> Iterator[A | B | C]: ...
    @overload
    def all(self, a: type[A], b: type[B], c: type[C], d: type[D], /) -> Iterator[A | B | C | D]: ...

    def all(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """The nodes of these classes, outer before inner, in source order."""
        return (node for node in self.nodes if isinstance(node, kinds))

    def rendered(self, node: ast.AST, style: Style = Style.ONES) -> ast.expr | None:
        """New source for the last value that the expression had in the observed run, if it is plain."""
        value = self._value(node)
        if value is None or self.observation is None or not self.holes:
            return None
        try:
            return render.plain(value, self.observation.objects, style)
        except Unrenderable:
            return None

    def recipe(self, node: ast.AST) -> Recipe | None:
        """What was observed as the last value of the expression."""
        value = self._value(node)
        return self.observation.objects[value] if value is not None and self.observation is not None else None

    def _value(self, node: ast.AST) -> Ref | None:
        origin = getattr(node, "origin", None)
        return self.observation.values.get(Span(*origin)) if origin and self.observation else None

    def stand_in(self, node: ast.AST) -> ast.expr | None:
        """A number that may stand for the array that an expression was; where nothing was observed, 1.0."""
        value = self.rendered(node)
        match value:
            case None if not self.holes:
                return None
            case None if self.observed(node):
                return None
            case None:
                return ast.Constant(1.0)
            case ast.Call():
                source = ast.unparse(value)
                return ast.Constant(1 if "int" in source else True if "bool" in source else 1.0)
        return value

    def observed(self, node: ast.AST) -> bool:
        """Was any value of the expression observed, plain or not?"""
        return self._value(node) is not None

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def function(self, node: ast.AST) -> Function | None:
        """The innermost function around a node (not the node itself)."""
        above = self.parents.get(node)
        while above is not None and not isinstance(above, FUNCTION):
            above = self.parents.get(above)
        return above

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Is `node` the same as or below `outer`?"""
        at: ast.AST | None = node
        while at is not None and at is not outer:
            at = self.parents.get(at)
        return at is outer

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that the statement stands in."""
        for _, field in ast.iter_fields(self.parents[statement]):
            if isinstance(field, list) and any(item is statement for item in field):
                return field
        raise LookupError(type(statement).__name__)

    def binding(self, node: ast.AST) -> Binding | None:
        return self.scopes.of.get(node)

    def means_same(self, node: ast.AST, place: ast.AST) -> bool:
        """Would the names in an expression mean the same within a function (or other scope) as where it stands?"""
        bindings = (self.binding(name) for name in ast.walk(node))
        return all(self.is_seen(binding, place) for binding in bindings if binding is not None)

    def is_seen(self, binding: Binding, place: ast.AST) -> bool:
        """Would the variable's name mean it there, and not another variable, or nothing?"""
        at: ast.AST | None = place
        while at is not None and at is not binding.scope.node:
            scope = self.scopes.scope_of.get(at)
            if scope is not None and binding.name in scope.bindings:
                return False
            at = self.parents.get(at)
        return at is not None

    def calls(self, binding: Binding) -> list[ast.Call] | None:
        """All calls of a function by its name; None where it is also used in another way."""
        found = []
        for use in binding.uses:
            call = self.parents[use]
            if not isinstance(call, ast.Call) or call.func is not use:
                return None
            found.append(call)
        return found


def _preorder(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _preorder(child)
