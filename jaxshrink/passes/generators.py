"""Generator functions, written in the loops over what they yield."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.functions import bound_arguments
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def generators(view: View) -> Iterator[Edit]:
    """`for x in f(a): g(x)` is what `f` does, where it yields `b`: `x = b; g(x)`."""
    for function in view.all(ast.FunctionDef):
        binding = view.binding(function)
        calls = view.calls(binding) if binding is not None else None
        loop = view.parents[calls[0]] if calls is not None and len(calls) == 1 else None
        yields = [node for node in ast.walk(function) if isinstance(node, ast.Yield | ast.YieldFrom)]
        if len(yields) != 1 or calls is None or not isinstance(loop, ast.For) or loop.iter is not calls[0]:
            continue
        place, bound = view.parents[yields[0]], bound_arguments(function.args, calls[0])
        own = view.function(yields[0]) is function and not function.decorator_list
        if bound is None or not own or not isinstance(place, ast.Expr) or _returns(view, function):
            continue
        given = {name: value for name, value in bound.items() if ast.unparse(value) != name}
        setup = [ast.Assign([ast.Name(name, ast.Store())], value) for name, value in given.items()]
        result = yields[0].value or ast.Constant(None)
        changes: dict[ast.AST, Replacement] = {
            function: DELETE,
            loop: (*setup, *function.body),
            place: (ast.Assign([loop.target], result), *loop.body),
        }
        yield Edit(changes, 8, ("generator", trees.identity(function)))


def _returns(view: View, function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Return) and view.function(node) is function for node in ast.walk(function))
