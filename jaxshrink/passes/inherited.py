"""A class with what it inherits written in it: then it has no base, and can be dissolved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.functions import bound_arguments
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def inherited(view: View) -> Iterator[Edit]:
    """Put what a class inherits from another of the program into its own body, and what `super().f()` does there."""
    for cls in view.all(ast.ClassDef):
        for base in cls.bases:
            binding = view.binding(base)
            origin = binding.definitions[0] if binding is not None and len(binding.definitions) == 1 else None
            if binding is None or not isinstance(origin, ast.ClassDef) or origin is cls:
                continue
            own = {name for statement in cls.body for name in _names(statement)}
            new = [trees.clone(statement) for statement in origin.body if own.isdisjoint(_names(statement))]
            changes = _supers(view, cls, origin)
            if changes is not None:
                alone: dict[ast.AST, Replacement] = {origin: DELETE} if len(binding.uses) == 1 else {}
                changes |= {**alone, base: tuple(map(trees.clone, origin.bases)), cls.body[0]: (*new, cls.body[0])}
                yield Edit(changes, 8, ("inherited", trees.identity(base)))


def _names(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


def _supers(view: View, cls: ast.ClassDef, origin: ast.ClassDef) -> dict[ast.AST, Replacement] | None:
    """What `super().f(x)` does in place of the statement; None where it is more than a statement."""
    changes: dict[ast.AST, Replacement] = {}
    methods = {node.name: node for node in origin.body if isinstance(node, ast.FunctionDef)}
    for call in view.all(ast.Call):
        if not view.inside(call, cls) or not isinstance(call.func, ast.Name) or call.func.id != "super":
            continue
        read = view.parents[call]
        made = view.parents[read]
        statement, within = view.statement(call), view.function(call)
        method = methods.get(read.attr) if isinstance(read, ast.Attribute) else None
        match statement, within:
            case ast.Expr(value=value), ast.FunctionDef(args=ast.arguments(args=[me, *_])) if value is made:
                if method is None:
                    changes[statement] = DELETE  # of `object`, or of a base that is not the program's
                    continue
                assert isinstance(made, ast.Call)
                written = _written(view, method, made, me.arg)
                if written is None:
                    return None
                changes[statement] = written
            case _:
                return None
    return changes


def _written(view: View, method: ast.FunctionDef, call: ast.Call, me: str) -> tuple[ast.stmt, ...] | None:
    """What a method does with the arguments of a call, as statements of another method of the instance `me`."""
    arguments = trees.shallow(method.args)
    if not arguments.args or any(isinstance(node, ast.Return | ast.Yield) for node in ast.walk(method)):
        return None
    self, *arguments.args = arguments.args
    bound = bound_arguments(arguments, call)
    binding = view.binding(self)
    if bound is None or binding is None:
        return None
    renamed: dict[ast.AST, Replacement] = {use: ast.Name(me, ast.Load()) for use in binding.uses}
    body = [trees.clone(trees.rewrite(statement, Edit(renamed))) for statement in method.body]
    passed = {name: value for name, value in bound.items() if not (isinstance(value, ast.Name) and value.id == name)}
    return (*(ast.Assign([ast.Name(name, ast.Store())], value) for name, value in passed.items()), *body)
