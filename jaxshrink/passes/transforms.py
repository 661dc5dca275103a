"""Transformations unwrapped, each with what it does to the arguments, and plainer ones in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes import said
from jaxshrink.passes.arrays import is_constructor
from jaxshrink.passes.functions import is_partial
from jaxshrink.tree import Edit, Replacement
from jaxshrink.view import View

MAPS = ("vmap", "pmap", "shard_map")

PLAINER = {
    "value_and_grad": ("grad",),
    "jacrev": ("grad",),
    "jacfwd": ("grad",),
    "hessian": ("grad",),
    "pjit": ("jit",),
    "fori_loop": ("while_loop",),
    "conv_general_dilated": ("conv",),
    "tree_map": ("map",),
}
"""Functions of JAX in whose place one that says less may fail in the same way."""


def unwrap(view: View) -> Iterator[Edit]:
    """Call the function that a transformation wraps, as the transformation would: one step of a loop, one branch."""
    for call in view.all(ast.Call):
        for new in _unwrapped(call):
            yield Edit.replace(call, new)


def unmap(view: View) -> Iterator[Edit]:
    """`vmap(f)(x, y)` is `f(x, y)` with an axis less in each array."""
    for call in view.all(ast.Call):
        if isinstance(call.func, ast.Call) and call.func.args and trees.last_name(call.func.func) in MAPS:
            changes: dict[ast.AST, Replacement] = {call.func: call.func.args[0]}
            for arg in call.args:
                for node in ast.walk(arg):
                    if isinstance(node, ast.Call) and is_constructor(node) and node.args:
                        changes[node.args[0]] = _without_axis(node.args[0])
            yield Edit(changes, 4)


def arguments(view: View) -> Iterator[Edit]:
    """Drop an argument of a transformed function, with its parameter and what `in_axes` or `in_specs` say of it."""
    for call in view.all(ast.Call):
        levels, function = transformed(call)
        if levels:
            for i, arg in enumerate(call.args):
                changes = {**without_parameter(view, function, i), **dict(unsaid(call, levels, i))}
                yield Edit({**changes, arg: ()}, 2 + trees.extent(arg))
                if again := _passed_again(view, call, arg):
                    yield Edit({**changes, **dict.fromkeys([arg, *again], ())}, 2 + 2 * trees.extent(arg))
            for keyword in call.keywords:
                changes = without_parameter(view, function, keyword.arg)
                for level in levels:
                    changes.update(said.by_keyword(level.keywords, None, keyword.arg))
                yield Edit({**changes, keyword: ()}, 2 + trees.extent(keyword))
        elif len(call.args) > 1:
            definition = function_of(view, call.args[0])
            count = len(definition.args.args) if definition is not None else 0
            for i in range(max(0, count - len(call.args) + 1), count):  # the last of the arguments are what it gets
                arg = call.args[len(call.args) - count + i]
                yield Edit({**without_parameter(view, call.args[0], i), arg: ()}, 2 + trees.extent(arg))


def transformed(call: ast.Call) -> tuple[list[ast.Call], ast.expr]:
    """Of `jit(vmap(f))(x)`, the calls of `jit` and `vmap`, and `f`."""
    levels, inner = [], call.func
    while isinstance(inner, ast.Call) and inner.args and not is_partial(inner):
        levels.append(inner)
        inner = inner.args[0]
    return levels, inner


def unsaid(call: ast.Call, levels: list[ast.Call], position: int) -> Iterator[tuple[ast.AST, Replacement]]:
    """What transformations say of one argument of a call goes: of the only one, all."""
    for level in levels:
        yield from said.by_place(level, position)
        yield from said.by_keyword(level.keywords, position)
        for keyword in level.keywords:
            if keyword.arg == "in_specs" and len(call.args) == 1:
                yield keyword.value, ast.Tuple([], ast.Load())


def without_aux(view: View) -> Iterator[Edit]:
    """Drop `has_aux` and what the function returns beside its value."""
    for call in view.all(ast.Call):
        for keyword in call.keywords:
            if keyword.arg == "has_aux" and call.args:
                results = results_of(view, call.args[0])
                changes: dict[ast.AST, Replacement] = {keyword: ()}
                changes.update((each, each.elts[0]) for each in results if isinstance(each, ast.Tuple) and each.elts)
                yield Edit(changes, 4)


def plainer(view: View) -> Iterator[Edit]:
    """A plainer function of JAX in the place of one; a mesh of a single axis; a scan over nothing."""
    for node in view.all(ast.Attribute):
        for name in PLAINER.get(node.attr, ()):
            yield Edit.replace(node, ast.Attribute(node.value, name, node.ctx))
    for call in view.all(ast.Call):
        if trees.last_name(call.func) == "scan" and len(call.args) > 2:
            yield Edit.replace(call, ast.Call(call.func, call.args[:2], [ast.keyword("length", ast.Constant(1))]))
        if trees.last_name(call.func) == "Mesh" and len(call.args) > 1 and isinstance(axes := call.args[1], ast.Tuple):
            for axis in axes.elts:
                devices = trees.expression("jax.devices()")
                yield Edit.replace(call, ast.Call(call.func, [devices, ast.Tuple([axis], ast.Load())], []))


def _unwrapped(call: ast.Call) -> Iterator[ast.expr]:
    match call.func:
        case ast.Subscript(value=ast.Call(func=func, args=[f, *points])) if trees.last_name(func) == "vjp":
            yield ast.Call(ast.Call(trees.expression("jax.grad"), [f], []), points, [])
    args = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
    match trees.last_name(call.func), args:
        case "scan", [f, init, xs, *_]:
            yield ast.Call(f, [init, xs], [])
            yield ast.Call(f, [init, ast.Subscript(xs, ast.Constant(0), ast.Load())], [])
        case "scan", [f, init]:
            yield ast.Call(f, [init, ast.Constant(None)], [])
        case "while_loop", [condition, body, init]:
            yield ast.Call(body, [init], [])
            yield ast.Call(condition, [init], [])
        case "fori_loop", [lower, _, body, init]:
            yield ast.Call(body, [lower, init], [])
        case "cond", [_, yes, no, *operands]:
            yield ast.Call(yes, operands, [])
            yield ast.Call(no, operands, [])
        case "switch", [_, ast.List(elts=branches) | ast.Tuple(elts=branches), *operands]:
            for branch in branches:
                yield ast.Call(branch, operands, [])
        case "map" | "tree_map" | "associative_scan", [f, *rest] if rest:
            yield ast.Call(f, rest, [])
        case "jvp" | "vjp" | "linearize", [f, primals, *rest]:
            yield ast.Call(f, primals.elts if isinstance(primals, ast.Tuple) else [primals, *rest], [])
        case "custom_root" | "pure_callback" | "io_callback", [f, _, *operands]:
            yield ast.Call(f, operands, [])


def results_of(view: View, function: ast.expr) -> list[ast.expr]:
    """The expressions that a function, named or written there, returns."""
    definition = function_of(view, function)
    if isinstance(definition, ast.Lambda):
        return [definition.body]
    if definition is None:
        return []
    returns = (node for node in ast.walk(definition) if isinstance(node, ast.Return) and node.value is not None)
    return [node.value for node in returns if node.value is not None and view.function(node) is definition]


def function_of(view: View, node: ast.expr) -> ast.FunctionDef | ast.Lambda | None:
    """The function that an expression is, written there or by name."""
    if isinstance(node, ast.Lambda):
        return node
    binding = view.binding(node)
    definition = binding.definitions[0] if binding is not None and len(binding.definitions) == 1 else None
    return definition if isinstance(definition, ast.FunctionDef) else None


def without_parameter(
    view: View, node: ast.expr, which: int | str | None, hole: ast.expr | None = None
) -> dict[ast.AST, Replacement]:
    """Drops a parameter, by position or name, of the function that an expression is.

    A value stands where it is read: the given one, or as observed.
    """
    function = function_of(view, node)
    if function is None:
        return {}
    if isinstance(which, int):
        found = function.args.args[which : which + 1]
    else:
        found = [arg for arg in (*function.args.args, *function.args.kwonlyargs) if arg.arg == which]
    if not found:
        return {}
    (arg,) = found
    binding = view.binding(arg)
    changes: dict[ast.AST, Replacement] = {arg: ()}
    for use in binding.uses if binding is not None else ():
        new = view.stand_in(use) if hole is None else trees.clone(hole)
        if new is not None:
            changes[use] = new
    return changes


def _passed_again(view: View, call: ast.Call, arg: ast.expr) -> list[ast.expr]:
    """The same as the last argument of other calls: what was lowered, or made a jaxpr, is called as it was traced."""
    same = ast.dump(arg)
    others = [other for other in view.all(ast.Call) if other is not call and not is_constructor(other)]
    return [other.args[-1] for other in others if other.args and ast.dump(other.args[-1]) == same]


def _without_axis(shape: ast.expr) -> ast.expr:
    if isinstance(shape, ast.Tuple) and shape.elts:
        return ast.Tuple(shape.elts[1:], ast.Load()) if len(shape.elts) != 2 else shape.elts[1]
    return trees.expression("()")
