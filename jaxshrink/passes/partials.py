"""`functools.partial`: of a function, one with a parameter less; of a decorator, a call of it where that is shorter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.functions import is_partial, substituted
from jaxshrink.scopes import Function
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def partials(view: View) -> Iterator[Edit]:
    """`partial(lambda a, b: f(a, b), x)` is `lambda b: f(x, b)`; a function of which only a partial is made, alike."""
    for call in view.all(ast.Call):
        if not is_partial(call):
            continue
        function = _function(view, call.args[0])
        values = _bound(function, call) if function is not None else None
        if function is None or values is None:
            continue
        changes: dict[ast.AST, Replacement] = {call: call.args[0]}
        for arg, value in values.items():
            changes[arg] = DELETE
            changes.update(substituted(view.scopes.scope_of[function].bindings[arg.arg], value))
        if isinstance(function, ast.FunctionDef) and not all(view.means_same(v, function) for v in values.values()):
            statement = view.statement(call)  # where the function is made, the values are known
            changes |= {function: DELETE, statement: (trees.shallow(function), statement)}
        yield Edit(changes, 6)


def called_decorators(view: View) -> Iterator[Edit]:
    """Call a decorator that is partial where the function is read, if that is once: `jit(f, static_argnums=0)(x)`."""
    for function in view.all(ast.FunctionDef):
        binding = view.binding(function)
        outside = [use for use in binding.uses if not view.inside(use, function)] if binding is not None else []
        if binding is None or len(binding.definitions) > 1 or len(outside) != 1 or len(function.decorator_list) != 1:
            continue
        match function.decorator_list[0]:
            case ast.Call(args=[wrapper, *others]) as decorator if is_partial(decorator):
                new = ast.Call(wrapper, [*others, trees.shallow(outside[0])], decorator.keywords)
                yield Edit({decorator: DELETE, outside[0]: new}, 4)


def _function(view: View, node: ast.expr) -> Function | None:
    """The function that is written there, or whose name is read there and nowhere else."""
    if isinstance(node, ast.Lambda):
        return node
    binding = view.binding(node)
    if binding is None or len(binding.definitions) != 1 or len(binding.uses) != 1:
        return None
    function = binding.definitions[0]
    plain = isinstance(function, ast.FunctionDef) and not function.decorator_list
    return function if plain and isinstance(function, ast.FunctionDef) else None


def _bound(function: Function, call: ast.Call) -> dict[ast.arg, ast.expr] | None:
    """The parameters for which the partial has values; None where that cannot be read off."""
    arguments, values = function.args, call.args[1:]
    positional = [*arguments.posonlyargs, *arguments.args]
    named = {arg.arg: arg for arg in [*arguments.args, *arguments.kwonlyargs]}
    if len(values) > len(positional) or any(isinstance(value, ast.Starred) for value in values):
        return None
    if not all(keyword.arg in named for keyword in call.keywords):
        return None
    given = {named[keyword.arg]: keyword.value for keyword in call.keywords if keyword.arg is not None}
    return {**dict(zip(positional, values, strict=False)), **given}
