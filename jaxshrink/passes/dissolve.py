"""A class of which there is one instance, as variables and functions: `self.w` is `w`, `m.apply(x)` is `apply(x)`."""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.classes import fields, making_call
from jaxshrink.passes.functions import bound_arguments
from jaxshrink.passes.said import of_decorators
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

Method = ast.FunctionDef | ast.AsyncFunctionDef


def dissolved(view: View) -> Iterator[Edit]:
    """Make the attributes of a class's only instance variables, and its methods functions, where it is made."""
    for cls in view.all(ast.ClassDef):
        binding = view.binding(cls)
        makings = [making for use in binding.uses if (making := making_call(view, use)) is not None] if binding else []
        if binding is not None and len(makings) == 1 and not cls.bases and not view.inside(makings[0], cls):
            others = [use for use in binding.uses if view.parents[use] is not makings[0]]
            edit = _Dissolution(view, cls, makings[0]).edit(others)
            if edit is not None:
                yield edit


class _Dissolution:
    """How one class is dissolved."""

    def __init__(self, view: View, cls: ast.ClassDef, making: ast.Call):
        self.view, self.cls, self.making = view, cls, making
        self.statement = view.statement(making)
        self.methods = [node for node in cls.body if isinstance(node, Method)]
        self.init = next((node for node in self.methods if node.name == "__init__"), None)
        self.variable = self.statement.targets[0] if self.is_named() else None  # type: ignore[attr-defined]
        self.name = self.variable.id if isinstance(self.variable, ast.Name) else cls.name.lower()
        self.changes: dict[ast.AST, Replacement] = {cls: DELETE}

    def is_named(self) -> bool:
        """Does an assignment give the instance its only name?"""
        match self.statement:
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is self.making:
                binding = self.view.binding(target)
                return binding is not None and len(binding.definitions) == 1
        return False

    def edit(self, class_uses: list[ast.Name]) -> Edit | None:
        """The edit; None where the instance or the class itself is needed."""
        setup = self.setup()
        references = self.references(class_uses)
        if setup is None or references is None:
            return None
        rest = () if self.variable is not None else (self.statement,)
        functions = [self.function(method, references) for method in self.methods if method is not self.init]
        constants = [node for node in self.cls.body if isinstance(node, ast.Assign)]
        self.rename(references)
        self.changes[self.statement] = (*constants, *functions, *setup, *rest)
        return Edit(self.changes, 12, ("dissolve", trees.identity(self.cls)))

    def setup(self) -> list[ast.stmt] | None:
        """What the constructor does."""
        if isinstance(self.making.func, ast.Attribute):  # object.__new__
            return []
        if self.cls.decorator_list:
            arguments = fields(self.cls)
            body: list[ast.stmt] = []
        elif self.init is None:
            return []
        else:
            arguments, body = trees.shallow(self.init.args), self.init.body
            arguments.args = arguments.args[1:]
        bound = bound_arguments(arguments, self.making)
        if bound is None:
            return None
        for statement in body:
            if _keeps_parameter(statement):
                self.changes[statement] = DELETE
        passed = {name: value for name, value in bound.items() if not _is(value, name)}
        return [*(ast.Assign([ast.Name(name, ast.Store())], value) for name, value in passed.items()), *body]

    def references(self, class_uses: list[ast.Name]) -> dict[str, list[ast.Attribute]] | None:
        """What is read of and written to the instance, by attribute; None where it is used in another way."""
        instances: list[ast.expr] = [*class_uses]
        for method in self.methods:
            if not _is_static(method) and method.args.args:
                binding = self.view.binding(method.args.args[0])
                instances += binding.uses if binding is not None else []
        variable = self.view.binding(self.variable) if self.variable is not None else None
        instances += variable.uses if variable is not None else [self.making]
        found: dict[str, list[ast.Attribute]] = collections.defaultdict(list)
        for node in instances:
            parent = self.view.parents[node]
            if isinstance(parent, ast.Attribute):
                found[parent.attr].append(parent)
            elif node in class_uses or not self.used_by_protocol(node, parent):
                return None
        return found

    def used_by_protocol(self, node: ast.expr, parent: ast.AST) -> bool:
        """Whether the instance stands where Python calls a method of it by itself; then the function is called."""
        match parent:
            case ast.Call(func=ast.Name(id="len")) if self.has("__len__"):
                self.changes[parent] = ast.Call(ast.Name(self.special("__len__"), ast.Load()), [], [])
            case ast.Subscript(value=value, slice=index) if value is node and self.has("__getitem__"):
                self.changes[parent] = ast.Call(ast.Name(self.special("__getitem__"), ast.Load()), [index], [])
            case _ if self.has("__call__"):
                self.changes[node] = ast.Name(self.special("__call__"), ast.Load())
            case _ if self.has("__iter__"):
                self.changes[node] = ast.Call(ast.Name(self.special("__iter__"), ast.Load()), [], [])
            case _:
                return False
        return True

    def has(self, name: str) -> bool:
        return any(method.name == name for method in self.methods)

    def special(self, name: str) -> str:
        """The name of the function that a method becomes which has no name of its own."""
        if name == "__call__" or (name == "__iter__" and not self.has("__call__")):
            return self.name
        return f"{self.name}_{name.strip('_')}"

    def function(self, method: Method, references: dict[str, list[ast.Attribute]]) -> ast.stmt:
        """A method as a function, which says of the variables that it sets that they are not its own."""
        function = trees.shallow(method)
        function.name = self.new_name(method.name, references)
        for decorator in method.decorator_list:
            if ast.unparse(decorator) in ("staticmethod", "classmethod", "property", "functools.cached_property"):
                self.changes[decorator] = DELETE
        if not _is_static(method) and method.args.args:
            self.changes[method.args.args[0]] = DELETE
            self.changes.update(of_decorators(method, 0, method.args.args[0].arg))
        written = [
            self.new_name(name, references)
            for name, nodes in references.items()
            if any(isinstance(node.ctx, ast.Store) and self.view.inside(node, method) for node in nodes)
        ]
        if written:
            outer = ast.Global if self.statement in self.view.tree.body else ast.Nonlocal
            self.changes[method.body[0]] = (outer(written), method.body[0])
        return function

    def rename(self, references: dict[str, list[ast.Attribute]]) -> None:
        decorators = [(method.name, ast.unparse(each)) for method in self.methods for each in method.decorator_list]
        properties = {name for name, decorator in decorators if "property" in decorator}
        for name, nodes in references.items():
            new = self.new_name(name, references)
            for node in nodes:
                read = ast.Name(new, node.ctx)
                self.changes[node] = ast.Call(read, [], []) if name in properties else read
        for constant in self.cls.body:
            for target in constant.targets if isinstance(constant, ast.Assign) else ():
                if isinstance(target, ast.Name):
                    self.changes[target] = ast.Name(self.new_name(target.id, references), ast.Store())

    def new_name(self, name: str, references: dict[str, list[ast.Attribute]]) -> str:
        """The attribute's own name, unless that means something else where the attribute is read or set."""
        if name in ("__call__", "__iter__", "__len__", "__getitem__"):
            return self.special(name)
        for scope in self.view.scopes.scope_of.values():
            binding = scope.bindings.get(name)
            if binding is None or not binding.definitions or scope.is_class or scope.node is self.init:
                continue
            places = [self.statement, *references.get(name, ())]
            if any(self.view.inside(place, scope.node) for place in places):
                return f"{self.name}_{name}"
        return name


def _is_static(method: Method) -> bool:
    return any(ast.unparse(decorator) == "staticmethod" for decorator in method.decorator_list)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _keeps_parameter(statement: ast.stmt) -> bool:
    """Is it `self.x = x`?"""
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
            return _is(value, name)
    return False
