"""Parameters of functions with rules of their own, and those that a transformation treats apart, dropped everywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.transforms import function_of
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

WORDS = ("static_argnums", "nondiff_argnums", "static_argnames")


def parameters_apart(view: View) -> Iterator[Edit]:
    """Drop a static or non-differentiable parameter, what is passed for it, and what says that it is one."""
    for function in view.all(ast.FunctionDef):
        for decorator in function.decorator_list:
            for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
                if keyword.arg in WORDS and isinstance(decorator, ast.Call):
                    edit = _without(view, function, decorator, keyword)
                    if edit is not None:
                        yield edit


def parameters_with_rules(view: View) -> Iterator[Edit]:
    """Drop a parameter of a `custom_vjp` function at all ends: calls, forward rule, cotangents."""
    for function, name in _with_rules(view):
        binding = view.binding(name)
        uses = binding.uses if binding is not None else []
        above = [view.parents[use] for use in uses]
        rules = [rule for parent in above if isinstance(parent, ast.Attribute) for rule in _rules(view, parent)]
        calls = [parent for parent in above if isinstance(parent, ast.Call) and parent.func in uses]
        made = [parent for parent in above if isinstance(parent, ast.Call) and parent not in calls]
        calls += [call for each in made if isinstance(call := view.parents[each], ast.Call) and call.func is each]
        for position, arg in enumerate(function.args.args if rules else ()):
            changes = dict(_dropped(view, function, position))
            gone = [passed for call in calls for passed in call.args[position : position + 1]]
            for rule, is_backward in rules:
                if is_backward:
                    gone += [each for result in _returned_tuples(rule) for each in result.elts[position : position + 1]]
                else:
                    changes.update(_dropped(view, rule, position))
            yield Edit({**changes, **dict.fromkeys(gone, DELETE)}, 8, ("ruled", trees.identity(arg)))


def _with_rules(view: View) -> Iterator[tuple[ast.FunctionDef | ast.Lambda, ast.AST]]:
    """Functions, and what binds the name by which they may be given rules: `@custom_vjp def f`, `f = custom_vjp(g)`."""
    for node in view.all(ast.FunctionDef, ast.Assign):
        match node:
            case ast.FunctionDef():
                yield node, node
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=func, args=[given, *_])):
                function = function_of(view, given)
                if trees.last_name(func) in ("custom_vjp", "custom_jvp") and function is not None:
                    yield function, target


def _returned_tuples(function: ast.FunctionDef | ast.Lambda) -> list[ast.Tuple]:
    if isinstance(function, ast.Lambda):
        return [function.body] if isinstance(function.body, ast.Tuple) else []
    returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return [value for value in returns if isinstance(value, ast.Tuple)]


def _without(view: View, function: ast.FunctionDef, decorator: ast.Call, keyword: ast.keyword) -> Edit | None:
    """The edit; None where the function is used in other ways than calls and rules."""
    binding = view.binding(function)
    names = [arg.arg for arg in function.args.args]
    said = {node.value for node in ast.walk(keyword.value) if isinstance(node, ast.Constant)}
    positions = [i for i, name in enumerate(names) if i in said or name in said]
    if binding is None or len(positions) != len(said):
        return None
    partial = len(decorator.args) == len(decorator.keywords) == 1 and "partial" in ast.unparse(decorator.func)
    changes: dict[ast.AST, Replacement] = {decorator: decorator.args[0]} if partial else {keyword: DELETE}
    for position in positions:
        changes.update(_dropped(view, function, position))
    gone: list[ast.AST] = []
    for use in binding.uses:
        parent = view.parents[use]
        if isinstance(parent, ast.Call) and parent.func is use:
            gone += [arg for i, arg in enumerate(parent.args) if i in positions]
            gone += [each for each in parent.keywords if each.arg in names and names.index(each.arg) in positions]
        elif isinstance(parent, ast.Attribute):
            for rule, first in _rules(view, parent):
                for position in range(len(positions)) if first else positions:
                    changes.update(_dropped(view, rule, position))
        else:
            return None
    return Edit({**changes, **dict.fromkeys(gone, DELETE)}, 8, ("apart", trees.identity(keyword)))


def _rules(view: View, attribute: ast.Attribute) -> Iterator[tuple[ast.FunctionDef | ast.Lambda, bool]]:
    """The rules that are given to `f.defjvp` and the like: which take what is apart first, which in its place."""
    parent = view.parents[attribute]
    if isinstance(parent, ast.FunctionDef):
        yield parent, attribute.attr != "defvjp"
    for i, arg in enumerate(parent.args) if isinstance(parent, ast.Call) and parent.func is attribute else ():
        binding = view.binding(arg)
        rule = binding.definitions[0] if binding is not None else arg
        if isinstance(rule, ast.FunctionDef | ast.Lambda):
            yield rule, attribute.attr != "defvjp" or i > 0


def _dropped(
    view: View, function: ast.FunctionDef | ast.Lambda, position: int
) -> Iterator[tuple[ast.AST, Replacement]]:
    """A parameter goes; a value stands where it was read."""
    if position < len(function.args.args):
        arg = function.args.args[position]
        yield arg, DELETE
        binding = view.binding(arg)
        for use in binding.uses if binding is not None else ():
            if (value := view.stand_in(use)) is not None:
                yield use, value
