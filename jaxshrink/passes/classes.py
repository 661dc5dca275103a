"""Classes: methods to functions, instances to plain values."""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.functions import bound_arguments
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def methods(view: View) -> Iterator[Edit]:
    """Make a method a function: `obj.method(x)` is `method(obj, x)`."""
    attributes: dict[str, list[ast.Attribute]] = collections.defaultdict(list)
    for node in view.all(ast.Attribute):
        attributes[node.attr].append(node)
    taken = {binding.name for binding in view.scopes.bindings() if not binding.scope.is_class}
    for cls in view.tree.body:
        if not isinstance(cls, ast.ClassDef):
            continue
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and method.name not in taken:
                uses = attributes[method.name]
                calls = [view.parents[use] for use in uses]
                if uses and all(isinstance(call, ast.Call) and call.func in uses for call in calls):
                    yield _as_function(cls, method, [call for call in calls if isinstance(call, ast.Call)])


def instances(view: View) -> Iterator[Edit]:
    """An instance is made without arguments, is any object, or the class itself where an attribute is read of it."""
    for cls in view.all(ast.ClassDef):
        binding = view.binding(cls)
        calls = [call for use in binding.uses if (call := making_call(view, use)) is not None] if binding else []
        for call in calls:
            yield Edit.replace(call, ast.Call(ast.Name(cls.name, ast.Load()), [], []))
            if isinstance(view.parents[call], ast.Attribute):
                yield Edit.replace(call, ast.Name(cls.name, ast.Load()))
        objects: dict[ast.AST, Replacement] = {call: trees.expression("object()") for call in calls}
        yield Edit({**objects, cls: DELETE}, trees.extent(cls), ("object", trees.identity(cls)))


def records(view: View) -> Iterator[Edit]:
    """Make instances of a class with named fields tuples: `S(a, b=c)` is `(a, c)`, `s.b` is `s[1]`."""
    for definition in view.all(ast.ClassDef, ast.Assign):
        is_class = isinstance(definition, ast.ClassDef)
        binding = view.binding(definition if isinstance(definition, ast.ClassDef) else definition.targets[0])
        arguments = fields(definition) if isinstance(definition, ast.ClassDef) else _named_tuple(definition.value)
        if binding is None or (len(binding.definitions) > 1 and not is_class) or not arguments.args:
            continue
        calls = view.calls(binding)
        bound = {call: bound_arguments(arguments, call) for call in calls or ()}
        if not bound or None in bound.values():
            continue
        changes: dict[ast.AST, Replacement] = {definition: DELETE}
        for call, values in bound.items():
            changes[call] = ast.Tuple([*(values or {}).values()], ast.Load())
        position = {arg.arg: i for i, arg in enumerate(arguments.args)}
        for read in view.all(ast.Attribute):
            if read.attr in position and isinstance(read.ctx, ast.Load):
                changes[read] = ast.Subscript(read.value, ast.Constant(position[read.attr]), ast.Load())
        for call in view.all(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "_replace":
                changes[call] = _with_replaced(call.func.value, list(position), call.keywords)
        yield Edit(changes, trees.extent(definition), ("record", trees.identity(definition)))


def _named_tuple(made: ast.expr) -> ast.arguments:
    """The parameters of what `namedtuple("S", "a b")` makes; none of other values."""
    names: list[str] = []
    match made:
        case ast.Call(func=ast.Attribute(attr="namedtuple") | ast.Name(id="namedtuple"), args=[_, listed]):
            match listed:
                case ast.Constant(value=str(text)):
                    names = text.replace(",", " ").split()
                case ast.List(elts=elements) | ast.Tuple(elts=elements):
                    names = [str(each.value) for each in elements if isinstance(each, ast.Constant)]
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def fields(cls: ast.ClassDef) -> ast.arguments:
    """The parameters of a class with named fields."""
    annotated = [node for node in cls.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    names = [ast.arg(node.target.id) for node in annotated if isinstance(node.target, ast.Name)]
    defaults = [trees.clone(node.value) for node in annotated if node.value is not None]
    return ast.arguments([], names, None, [], [], None, defaults[: len(names)])


def class_bodies(view: View) -> Iterator[Edit]:
    """Empty a class; put what its body holds in its place."""
    for cls in view.all(ast.ClassDef):
        yield Edit.delete(*cls.body)
        yield Edit.replace(cls, tuple(cls.body))


def _with_replaced(record: ast.expr, names: list[str], keywords: list[ast.keyword]) -> ast.Tuple:
    """`s._replace(b=x)` as `(s[0], x)`."""
    new = {keyword.arg: keyword.value for keyword in keywords}
    old = [ast.Subscript(trees.clone(record), ast.Constant(i), ast.Load()) for i in range(len(names))]
    return ast.Tuple([new.get(name, part) for name, part in zip(names, old, strict=True)], ast.Load())


def making_call(view: View, use: ast.Name) -> ast.Call | None:
    """The call that makes an instance of the class that is named there: `C(...)` or `object.__new__(C)`."""
    parent = view.parents[use]
    made = isinstance(parent, ast.Call) and (parent.func is use or ast.unparse(parent.func) == "object.__new__")
    return parent if made and isinstance(parent, ast.Call) else None


def _as_function(cls: ast.ClassDef, method: ast.FunctionDef, calls: list[ast.Call]) -> Edit:
    static = [node for node in method.decorator_list if isinstance(node, ast.Name) and node.id == "staticmethod"]
    changes: dict[ast.AST, Replacement] = dict.fromkeys(static, DELETE)
    for call in calls:
        assert isinstance(call.func, ast.Attribute)
        args = call.args if static else [call.func.value, *call.args]
        changes[call] = ast.Call(ast.Name(method.name, ast.Load()), args, call.keywords)
    return Edit({method: DELETE, cls: (cls, trees.shallow(method)), **changes}, 1)
