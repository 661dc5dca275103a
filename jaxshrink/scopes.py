"""Which binding each name of a tree refers to, by Python's rules of scope.

Static and therefore cautious: what `exec`, `globals()` or star imports bind is not seen,
so a tree that uses them has no unbound names (`Scopes.dynamic`).
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Iterator
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_TYPE_PARAMETERS = ("TypeVar", "ParamSpec", "TypeVarTuple")

BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__builtins__", "__class__", "__spec__"}


@dataclasses.dataclass(eq=False)
class Binding:
    """A variable: the nodes that bind it and the names that read (or delete) it."""

    name: str
    scope: Scope
    definitions: list[ast.AST] = dataclasses.field(default_factory=list)
    uses: list[ast.Name] = dataclasses.field(default_factory=list)
    since: int = 0  # how many names were read before the first definition


@dataclasses.dataclass(eq=False)
class Scope:
    """A module, class, function or comprehension with the variables that belong to it."""

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, Binding] = dataclasses.field(default_factory=dict)
    outer: dict[str, str] = dataclasses.field(default_factory=dict)  # names declared global or nonlocal

    def binding(self, name: str) -> Binding:
        return self.bindings.setdefault(name, Binding(name, self))

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)


class Scopes:
    """The scopes of a module.

    `of` maps name nodes (and definitions, parameters, import aliases) to their binding,
    `unbound` lists the names that nothing binds, `scope_of` gives the scope that a node opens.
    """

    def __init__(self, tree: ast.Module):
        self.of: dict[ast.AST, Binding] = {}
        self.scope_of: dict[ast.AST, Scope] = {}
        self.unbound: list[ast.Name] = []
        self.dynamic = False
        self._loads: list[tuple[ast.Name, Scope]] = []
        self._nonlocals: list[tuple[str, ast.AST, Scope]] = []
        self.module = self._open(tree, None)
        self._visit_all(tree.body, self.module)
        for name_, node, scope in self._nonlocals:  # the enclosing function may bind it further down
            self._define(_enclosing(scope, name_) or self.module, name_, node)
        for position, (name, scope) in enumerate(self._loads):
            self._resolve(name, scope, position)
        if self.dynamic:
            self.unbound = []

    def bindings(self) -> Iterator[Binding]:
        for scope in self.scope_of.values():
            yield from scope.bindings.values()

    def early(self, tree: ast.Module) -> list[ast.AST]:
        """Names that a module-level statement reads before any statement has bound them."""
        found: list[ast.AST] = []
        bound: set[Binding] = set()
        for statement in tree.body:
            changed = statement.target if isinstance(statement, ast.AugAssign) else None
            for node in _executed(statement):
                binding = self.of.get(node)
                if binding is None or binding.scope is not self.module:
                    continue
                if node is changed or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)):
                    if binding not in bound and binding.name not in BUILTINS:
                        found.append(node)
                else:
                    bound.add(binding)
            bound.update(self.of[node] for node in ast.walk(statement) if node in self.of and _binds(node))
        return [] if self.dynamic else found

    # -- building

    def _open(self, node: ast.AST, parent: Scope | None) -> Scope:
        scope = self.scope_of[node] = Scope(node, parent)
        return scope

    def _bind(self, name: str, node: ast.AST, scope: Scope) -> None:
        if scope.outer.get(name) == "nonlocal":
            self._nonlocals.append((name, node, scope))
        else:
            self._define(self.module if name in scope.outer else scope, name, node)

    def _define(self, scope: Scope, name: str, node: ast.AST) -> None:
        binding = scope.binding(name)
        if not binding.definitions:
            binding.since = len(self._loads)
        binding.definitions.append(node)
        self.of[node] = binding

    def _visit_all(self, nodes: list[ast.stmt] | list[ast.expr], scope: Scope) -> None:
        for node in nodes:  # declarations count for the whole body
            if isinstance(node, ast.Global | ast.Nonlocal):
                kind = "global" if isinstance(node, ast.Global) else "nonlocal"
                scope.outer.update(dict.fromkeys(node.names, kind))
        for node in nodes:
            self._visit(node, scope)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Name(ctx=ast.Load()):
                self._loads.append((node, scope))
            case ast.Name(ctx=ast.Del()):
                self._loads.append((node, scope))
                if node.id not in scope.bindings and node.id not in scope.outer:  # makes it a variable of the scope
                    self._bind(node.id, node, scope)
            case ast.Name():
                self._bind(node.id, node, scope)
            case ast.Assign(targets=targets, value=value):
                self._visit_all([value, *targets], scope)
            case ast.AugAssign(target=ast.Name() as target):
                self._visit(node.value, scope)
                self._bind(target.id, target, scope)
                self._loads.append((target, scope))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._function(node, scope)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node, scope)
            case ast.NamedExpr(target=target, value=value):
                self._visit(value, scope)
                self._bind(target.id, target, _not_comprehension(scope))
            case ast.alias():
                if node.name == "*":
                    self.dynamic = True
                else:
                    self._bind(node.asname or node.name.split(".")[0], node, scope)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                self._children(node, scope)
                if node.name:
                    self._bind(node.name, node, scope)
            case ast.MatchMapping(rest=str(rest)):
                self._children(node, scope)
                self._bind(rest, node, scope)
            case _ if type(node).__name__ in _TYPE_PARAMETERS:
                self._children(node, scope)
                self._bind(node.name, node, scope)  # type: ignore[attr-defined]
            case ast.Call(func=ast.Name(id="exec" | "eval" | "globals" | "locals" | "vars" as name)):
                self.dynamic = self.dynamic or name != "vars" or not node.args  # `vars(x)` are the attributes of x
                self._children(node, scope)
            case _:
                self._children(node, scope)

    def _children(self, node: ast.AST, scope: Scope) -> None:
        for _, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                self._visit(value, scope)
            elif isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    self._visit_all(value, scope)
                else:
                    for item in value:
                        if isinstance(item, ast.AST):
                            self._visit(item, scope)

    def _function(self, node: Function, scope: Scope) -> None:
        arguments = node.args
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None:
                self._visit(default, scope)
        inner = self._open(node, scope)
        self._type_parameters(node, scope, inner)
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for arg in [*named, *filter(None, [arguments.vararg, arguments.kwarg])]:
            self._bind(arg.arg, arg, inner)
            if arg.annotation is not None:
                self._visit(arg.annotation, scope)
        if isinstance(node, ast.Lambda):
            self._visit(node.body, inner)
            return
        for decorator in node.decorator_list:
            self._visit(decorator, scope)
        if node.returns is not None:
            self._visit(node.returns, scope)
        self._bind(node.name, node, scope)
        self._visit_all(node.body, inner)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        inner = self._open(node, scope)
        self._type_parameters(node, scope, inner)
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self._visit(part, scope)
        self._bind(node.name, node, scope)
        self._visit_all(node.body, inner)

    def _type_parameters(self, node: ast.AST, scope: Scope, inner: Scope) -> None:
        """Type parameters (Python 3.12) are seen in the head, as if they were variables outside, and in the body."""
        for parameter in getattr(node, "type_params", ()):
            self._visit(parameter, scope)
            inner.bindings[parameter.name] = scope.binding(parameter.name)

    def _comprehension(self, node: Comprehension, scope: Scope) -> None:
        inner = self._open(node, scope)
        for i, generator in enumerate(node.generators):
            self._visit(generator.iter, scope if i == 0 else inner)
            self._visit(generator.target, inner)
            for condition in generator.ifs:
                self._visit(condition, inner)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for element in elements:
            self._visit(element, inner)

    def _resolve(self, name: ast.Name, scope: Scope, position: int) -> None:
        at: Scope | None = scope
        while at is not None:
            seen = at is scope or not at.is_class  # a class body is seen from itself only
            if seen and at.outer.get(name.id) == "global":
                at = self.module
            binding = at.bindings.get(name.id) if seen else None
            if binding is not None and at.is_class and binding.since > position:  # not yet bound there: a global
                at, binding = self.module, self.module.bindings.get(name.id)
            if binding is not None:
                binding.uses.append(name)
                self.of[name] = binding
                return
            at = at.parent
        if name.id not in BUILTINS:
            self.unbound.append(name)


def _enclosing(scope: Scope, name: str) -> Scope | None:
    at = scope.parent
    while at is not None:
        if not at.is_class and name in at.bindings:
            return at
        at = at.parent
    return None


def _not_comprehension(scope: Scope) -> Scope:
    while isinstance(scope.node, COMPREHENSION) and scope.parent is not None:
        scope = scope.parent
    return scope


def _binds(node: ast.AST) -> bool:
    return not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _executed(statement: ast.stmt) -> Iterator[ast.AST]:
    """Nodes that certainly run when a module-level statement does (no bodies of functions or branches)."""
    if isinstance(statement, FUNCTION):
        assert not isinstance(statement, ast.Lambda)
        yield from (part for node in [*statement.decorator_list, *statement.args.defaults] for part in _straight(node))
        yield statement
    elif isinstance(statement, ast.ClassDef):
        yield from (part for node in [*statement.decorator_list, *statement.bases] for part in _straight(node))
        yield statement
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and statement.value is not None:
        yield from _straight(statement.value)
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            yield from _straight(target)
    elif isinstance(statement, ast.Expr | ast.Import | ast.ImportFrom | ast.Delete):
        yield from _straight(statement)


def _straight(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (*FUNCTION, *COMPREHENSION, ast.IfExp, ast.BoolOp)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _straight(child)
    yield node
