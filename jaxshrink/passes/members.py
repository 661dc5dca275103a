"""What is looked up of an instance at once: `C(a).w` is what `__init__` assigns, `C(a).f` the method as a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from jaxshrink import tree as trees
from jaxshrink.passes.classes import making_call
from jaxshrink.passes.functions import bound_arguments, returned
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def members(view: View) -> Iterator[Edit]:
    """Put an attribute's value, or a method as a function, in the place of its look-up on a new instance."""
    for cls in view.all(ast.ClassDef):
        binding = view.binding(cls)
        for use in binding.uses if binding is not None else ():
            making = making_call(view, use)
            read = view.parents[making] if making is not None else None
            if making is not None and isinstance(read, ast.Attribute) and not view.inside(making, cls):
                yield from _replaced(view, cls, making, read)


def _replaced(view: View, cls: ast.ClassDef, making: ast.Call, read: ast.Attribute) -> Iterator[Edit]:
    for method in cls.body:
        if not isinstance(method, ast.FunctionDef) or not method.args.args or method.decorator_list:
            continue
        me = method.args.args[0]
        if method.name == "__init__":
            bound = bound_arguments(_without_first(method.args), making)
            values = [
                statement.value
                for statement in method.body
                if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == f"{me.arg}.{read.attr}"
            ]
            if bound is not None and len(values) == 1:
                yield Edit({read: _filled(view, method, values[0], bound)}, 4)
        body = returned(method)
        if method.name == read.attr and body is not None:
            result = _filled(view, method, body, {me.arg: making})
            function = ast.Lambda(trees.clone(_without_first(method.args)), result)
            yield Edit({read: function, method: DELETE}, 4)


def _without_first(arguments: ast.arguments) -> ast.arguments:
    others = trees.shallow(arguments)
    others.args = arguments.args[1:]
    return others


def _filled(view: View, method: ast.FunctionDef, node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of an expression of the method with values in the places of parameters."""
    variables = view.scopes.scope_of[method].bindings
    changes: dict[ast.AST, Replacement] = {
        use: value for name, value in values.items() for use in variables[name].uses if view.inside(use, node)
    }
    return trees.clone(trees.rewrite(node, Edit(changes)))
