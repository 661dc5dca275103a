"""One application of edits to a tree: new nodes along the changed paths, and what Python's grammar wants of them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import TypeAlias, TypeVar, cast

Replacement: TypeAlias = "ast.AST | tuple[ast.AST, ...]"
"""What stands in place of a node: another node, or several (or none) where a list holds it."""

Node = TypeVar("Node", bound=ast.AST)


class Inapplicable(Exception):
    """The edits leave a place empty that Python's grammar wants filled."""


class Rebuild:
    """One application of changes. `many` gives what a node becomes, `one` where one node must stand.

    With the tree's `parents`, whatever is not above a change is left alone without a look.
    """

    def __init__(self, changes: Mapping[ast.AST, Replacement], parents: Mapping[ast.AST, ast.AST] | None = None):
        self.changes = dict(changes)
        self.parents = parents or {}
        self.touched: set[ast.AST] = set()
        for node in changes:
            at: ast.AST | None = node
            while at is not None and at not in self.touched:
                self.touched.add(at)
                at = self.parents.get(at)

    def one(self, node: ast.AST) -> ast.AST:
        result = self.many(node)
        if len(result) != 1:
            raise Inapplicable(type(node).__name__)
        return result[0]

    def many(self, node: ast.AST) -> tuple[ast.AST, ...]:
        by = self.changes.pop(node, None)  # popped: a replacement may contain the node that it replaces
        if by is None:
            if node in self.parents and node not in self.touched:
                return (node,)
            return normalised(self.rebuilt(node))
        nodes = by if isinstance(by, tuple) else (by,)
        result = tuple(piece for new in nodes for piece in self.many(new))
        self.changes[node] = by
        return result

    def maybe(self, node: ast.AST | None) -> ast.AST | None:
        """What an optional node becomes."""
        return next(iter(self.many(node)), None) if node is not None else None

    def rebuilt(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.stmt) and not hasattr(node, "lineno"):
            node.lineno = 0  # a new statement: `ast.unparse` looks for type comments by line
        if isinstance(node, ast.arguments):
            return self.arguments(node)
        if isinstance(node, ast.Dict):
            return self.dictionary(node)
        new: dict[str, object] = {}
        for name in node._fields:
            old = getattr(node, name, None)
            if isinstance(old, ast.AST):
                result = self.many(old)
                if len(result) > 1 or (not result and name not in _OPTIONAL.get(type(node), ())):
                    raise Inapplicable(f"{type(node).__name__}.{name}")
                value: object = result[0] if result else None
                if value is not old:
                    new[name] = value
            elif isinstance(old, list) and old and isinstance(old[0], ast.AST):
                items = [piece for item in old for piece in self.many(item)]
                if len(items) != len(old) or any(a is not b for a, b in zip(items, old, strict=True)):
                    new[name] = items
        return _with(node, new)

    def arguments(self, node: ast.arguments) -> ast.AST:
        """Deletes parameters together with their defaults."""
        positional = [*node.posonlyargs, *node.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults))
        defaults += node.defaults
        both = [(self.many(arg), default) for arg, default in zip(positional, defaults, strict=True)]
        only = len([None for kept, _ in both[: len(node.posonlyargs)] if kept])
        pairs = [(kept[0], self.maybe(default)) for kept, default in both if kept]
        both = [(self.many(arg), default) for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        named = [(kept[0], self.maybe(default)) for kept, default in both if kept]
        kept_args = [kept for kept, _ in pairs]
        kept_defaults = [default for _, default in pairs if default]
        first = next((i for i, (_, default) in enumerate(pairs) if default), len(pairs))
        if any(not default for _, default in pairs[first:]):
            raise Inapplicable("parameter without default after one with a default")
        new = {
            "posonlyargs": kept_args[:only],
            "args": kept_args[only:],
            "defaults": kept_defaults,
            "kwonlyargs": [kept for kept, _ in named],
            "kw_defaults": [default for _, default in named],
            "vararg": self.maybe(node.vararg),
            "kwarg": self.maybe(node.kwarg),
        }
        same = all(
            len(value) == len(old) and all(a is b for a, b in zip(value, old, strict=True))
            if isinstance(value, list)
            else value is old
            for value, old in ((value, getattr(node, name)) for name, value in new.items())
        )
        return node if same else _with(node, new)

    def dictionary(self, node: ast.Dict) -> ast.AST:
        """Deletes a key with its value."""
        keys: list[ast.AST | None] = []
        values: list[ast.AST] = []
        for key, value in zip(node.keys, node.values, strict=True):
            new_key = self.many(key) if key is not None else (None,)
            new_value = self.many(value)
            if new_key and new_value:
                keys.append(new_key[0])
                values.append(new_value[0])
        new, old = [*keys, *values], [*node.keys, *node.values]
        if len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True)):
            return node
        return _with(node, {"keys": keys, "values": values})


_OPTIONAL: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Return: ("value",),
    ast.Yield: ("value",),
    ast.AnnAssign: ("value",),
    ast.FunctionDef: ("returns",),
    ast.AsyncFunctionDef: ("returns",),
    ast.arg: ("annotation",),
    ast.Raise: ("cause", "exc"),
    ast.Assert: ("msg",),
    ast.Slice: ("lower", "upper", "step"),
    ast.ExceptHandler: ("type",),
    ast.withitem: ("optional_vars",),
    ast.match_case: ("guard",),
    ast.FormattedValue: ("format_spec",),
}


def _with(node: ast.AST, new: Mapping[str, object]) -> ast.AST:
    if not new:
        return node
    copy = new_node(node)
    copy.__dict__.update(node.__dict__)
    for derived in ("_extent", "_parents"):
        copy.__dict__.pop(derived, None)
    copy.__dict__.update(new)
    return copy


@functools.singledispatch
def normalised(node: ast.AST) -> tuple[ast.AST, ...]:
    """A node whose lists may have become empty, as Python's grammar allows it (none: it vanishes)."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and not body and not isinstance(node, ast.Module):
        return (_with(node, {"body": [ast.Pass()]}),)
    return (node,)


@normalised.register
def _(node: ast.Assign) -> tuple[ast.AST, ...]:
    return (node,) if node.targets else (ast.Expr(node.value),)


@normalised.register
def _(node: ast.BoolOp) -> tuple[ast.AST, ...]:
    return (node,) if len(node.values) > 1 else tuple(node.values)


@normalised.register
def _(node: ast.With | ast.AsyncWith) -> tuple[ast.AST, ...]:
    if not node.items:
        return tuple(node.body)
    return (node,) if node.body else (_with(node, {"body": [ast.Pass()]}),)


@normalised.register
def _(node: ast.Try | ast.TryStar) -> tuple[ast.AST, ...]:
    if not node.handlers and not node.finalbody:
        return (*node.body, *node.orelse)
    if not node.handlers and node.orelse:
        node = cast(ast.Try, _with(node, {"body": [*node.body, *node.orelse], "orelse": []}))
    if isinstance(node, ast.TryStar) and not all(handler.type for handler in node.handlers):
        raise Inapplicable("except* of nothing")
    return (node,) if node.body else (_with(node, {"body": [ast.Pass()]}),)


@normalised.register
def _(node: ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal) -> tuple[ast.AST, ...]:
    return (node,) if node.names else ()


@normalised.register
def _(node: ast.Delete) -> tuple[ast.AST, ...]:
    return (node,) if node.targets else ()


@normalised.register
def _(node: ast.Match) -> tuple[ast.AST, ...]:
    return (node,) if node.cases else (ast.Expr(node.subject),)


@normalised.register
def _(node: ast.Set) -> tuple[ast.AST, ...]:
    return (node,) if node.elts else (ast.Call(ast.Name("set", ast.Load()), [], []),)


@normalised.register
def _(node: ast.ExceptHandler) -> tuple[ast.AST, ...]:
    if node.type is None and node.name is not None:
        node = cast(ast.ExceptHandler, _with(node, {"name": None}))
    return (node,) if node.body else (_with(node, {"body": [ast.Pass()]}),)


@normalised.register
def _(node: ast.Raise) -> tuple[ast.AST, ...]:
    if node.exc is None and node.cause is not None:
        raise Inapplicable("raise from without an exception")
    return (node,)


@normalised.register
def _(node: ast.Compare) -> tuple[ast.AST, ...]:
    if not node.comparators:
        return (node.left,)
    return (_with(node, {"ops": node.ops[: len(node.comparators)]} if len(node.ops) > len(node.comparators) else {}),)


@normalised.register
def _(node: ast.MatchMapping | ast.MatchClass | ast.MatchOr) -> tuple[ast.AST, ...]:
    if isinstance(node, ast.MatchOr):
        return (node,) if len(node.patterns) > 1 else tuple(node.patterns)
    if isinstance(node, ast.MatchClass):
        paired = len(node.kwd_attrs) == len(node.kwd_patterns)
    else:
        paired = len(node.keys) == len(node.patterns)
    if not paired:
        raise Inapplicable("a pattern without its key")
    return (node,)


@normalised.register
def _(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> tuple[ast.AST, ...]:
    if not node.generators:
        raise Inapplicable("comprehension without for")
    return (node,)


def new_node(node: Node) -> Node:
    """A node of the same class without fields; from Python 3.13 on a call of the class would warn of their lack."""
    return node.__class__.__new__(node.__class__)
