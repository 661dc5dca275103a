"""Classes: methods to functions, instances to plain values."""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator

from jaxshrink import tree as trees
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
    """An instance is made without arguments, or is the class itself."""
    classes = {node.name for node in view.all(ast.ClassDef)}
    for call in view.all(ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(attr="__new__"), args=[ast.Name(id=name) as cls]) if name in classes:
                yield Edit.replace(call, ast.Call(cls, [], []))
            case ast.Call(func=ast.Name(id=name)) if name in classes:
                yield Edit.replace(call, ast.Call(call.func, [], []))
                yield Edit.replace(call, call.func)


def class_bodies(view: View) -> Iterator[Edit]:
    """Empty a class; put what its body holds in its place."""
    for cls in view.all(ast.ClassDef):
        yield Edit.delete(*cls.body)
        yield Edit.replace(cls, tuple(cls.body))


def _as_function(cls: ast.ClassDef, method: ast.FunctionDef, calls: list[ast.Call]) -> Edit:
    static = [node for node in method.decorator_list if isinstance(node, ast.Name) and node.id == "staticmethod"]
    changes: dict[ast.AST, Replacement] = dict.fromkeys(static, DELETE)
    for call in calls:
        assert isinstance(call.func, ast.Attribute)
        args = call.args if static else [call.func.value, *call.args]
        changes[call] = ast.Call(ast.Name(method.name, ast.Load()), args, call.keywords)
    return Edit({method: DELETE, cls: (cls, trees.shallow(method)), **changes}, 1)
