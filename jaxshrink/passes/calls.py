"""Shorter calls: one of the same operation that says less, and many keywords at once fewer."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.functions import bound_arguments
from jaxshrink.passes.libraries import dotted, named
from jaxshrink.tree import Edit, Replacement
from jaxshrink.view import View

SHORTER = {
    "dot_general(lhs, rhs)": ("jnp.dot(lhs, rhs)",),
    "tensordot(a, b)": ("jnp.dot(a, b)",),
    "einsum(subscripts, a, b)": ("jnp.dot(a, b)", "a @ b"),
    "matmul(a, b)": ("a @ b",),
    "conv_general_dilated(lhs, rhs, window_strides, padding)": ("lax.conv(lhs, rhs, window_strides, padding)",),
    "conv_with_general_padding(lhs, rhs, window_strides, padding)": ("lax.conv(lhs, rhs, window_strides, padding)",),
    "concatenate(operands)": ("jnp.concatenate(operands)",),
    "select_n(which, a, b)": ("jnp.where(which, a, b)",),
    "select(which, a, b)": ("jnp.where(which, a, b)",),
    "broadcast_in_dim(operand, shape)": ("jnp.broadcast_to(operand, shape)", "lax.broadcast(operand, shape)"),
    "reduce(operand, init)": ("jnp.sum(operand)", "jnp.max(operand)"),
    "reduce_window(operand, init, computation)": ("lax.reduce(operand, init, computation, (0,))",),
    "tree_map(f, tree, other)": ("jax.tree.map(f, tree, other)",),
    "tree_map(f, tree)": ("jax.tree.map(f, tree)",),
    "add(a, b)": ("a + b",),
    "sub(a, b)": ("a - b",),
    "subtract(a, b)": ("a - b",),
    "mul(a, b)": ("a * b",),
    "multiply(a, b)": ("a * b",),
    "div(a, b)": ("a / b",),
    "divide(a, b)": ("a / b",),
    "rem(a, b)": ("a % b",),
    "pow(a, b)": ("a ** b",),
    "power(a, b)": ("a ** b",),
    "neg(a)": ("-a",),
    "lt(a, b)": ("a < b",),
    "gt(a, b)": ("a > b",),
    "eq(a, b)": ("a == b",),
}
"""Calls, and others on their arguments that may fail in the same way; what is not named there is left out."""

NAMES = {
    "jax.sharding.PartitionSpec": "P",
    "jax.sharding.NamedSharding": "NamedSharding",
    "jax.experimental.shard_map.shard_map": "shard_map",
    "jax.experimental.pjit.pjit": "jit",
    "jax.ad_checkpoint.checkpoint": "checkpoint",
}
"""What newer versions of JAX have under a shorter name, in `jax`."""

SHORT = 10
"""Nodes of a function of a name or two, and an operator."""

MOST_KEYWORDS = 6
"""Of more, no pairs are tried."""


def shorter_calls(view: View) -> Iterator[Edit]:
    """A shorter call of the same operation, on the same arrays: `dot_general(x, y, …)` is `jnp.dot(x, y)`."""
    for call in view.all(ast.Call):
        if any(isinstance(arg, ast.Starred) for arg in call.args):
            continue
        for names, templates in _table().get(trees.last_name(call.func), ()):
            given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
            given.update((word.arg, word.value) for word in call.keywords if word.arg in names)
            if given.keys() == set(names):
                for template in templates:
                    yield from _instead(view, call, template, given)


def shorter_names(view: View) -> Iterator[Edit]:
    """The same by a shorter name: `jax.sharding.PartitionSpec` is `jax.P`."""
    library = named(view, "jax")
    places: dict[str, list[ast.expr]] = {}
    for node in view.all(ast.Attribute, ast.Name):
        if isinstance(node.ctx, ast.Load) and (path := dotted(view, node)) in NAMES:
            places.setdefault(path, []).append(node)
    for path, nodes in places.items():
        if library is not None:
            new = ast.Attribute(library, NAMES[path], ast.Load())
            yield Edit({node: trees.clone(new) for node in nodes}, 2 * len(nodes))
    for statement in view.tree.body:
        match statement:
            case ast.ImportFrom(module=str(module), names=[ast.alias() as alias], level=0):
                name = NAMES.get(f"{module}.{alias.name}")
                if name is not None:
                    known = alias.asname or alias.name
                    new_alias = ast.alias(name, known if known != name else None)
                    yield Edit({statement: ast.ImportFrom("jax", [new_alias], 0)}, 2)


def plain_functions(view: View) -> Iterator[Edit]:
    """A function that has a name in place of a short one that is given to another: `abs`, or `jnp.add` of two."""
    library = named(view, "jax.numpy")
    for call in view.all(ast.Call):
        for function in call.args[:1]:
            if isinstance(function, ast.Lambda) and trees.extent(function) <= SHORT:
                rest = function.args.vararg
                count = len(function.args.args) if rest is None else len(_called_with(view, call))
                if count == 1:
                    yield Edit({function: ast.Name("abs", ast.Load())}, 4)
                    yield from _given_instead(view, call, function)
                elif count == 2 and library is not None:
                    yield Edit({function: ast.Attribute(library, "add", ast.Load())}, 4)


def _given_instead(view: View, call: ast.Call, function: ast.Lambda) -> Iterator[Edit]:
    """What a function gives in any case as what it is called with: `grad(lambda x: A)(0)` is `grad(abs)(A)`."""
    given = _called_with(view, call)
    if len(given) == 1 and not any(binding.uses for arg in function.args.args if (binding := view.binding(arg))):
        yield Edit({function: ast.Name("abs", ast.Load()), given[0]: trees.clone(function.body)}, 4)


def passed_on(view: View) -> Iterator[Edit]:
    """The function itself in place of one that calls it with its parameters and others.

    `grad(lambda p: f(0, p))(x)` is `grad(f)(x, x)`, or `grad(f)(0, x)`.
    """
    for call in view.all(ast.Call):
        match call.func:
            case ast.Call(args=[ast.Lambda(body=ast.Call(func=f, args=inner, keywords=[])) as whole, *_]):
                given = bound_arguments(whole.args, call)
                if given and not any(isinstance(arg, ast.Starred) for arg in inner):
                    inserted = [given.get(arg.id, arg) if isinstance(arg, ast.Name) else arg for arg in inner]
                    first = next(iter(given.values()))
                    for args in (inserted, [first] * len(inner)):
                        yield Edit({whole: f, call: ast.Call(call.func, [*map(trees.clone, args)], [])}, 4)


def keywords(view: View) -> Iterator[Edit]:
    """Drop all keywords of a call, or two of them: often none of them can go alone."""
    for call in view.all(ast.Call):
        named_ = [keyword for keyword in call.keywords if keyword.arg]
        if len(named_) < 2:
            continue
        yield Edit.delete(*named_)
        for count in (len(named_) - 1, 2) if len(named_) > 2 else ():
            for several in itertools.combinations(named_, count) if len(named_) <= MOST_KEYWORDS else ():
                yield Edit.delete(*several)


def _called_with(view: View, call: ast.Call) -> list[ast.expr]:
    """What the result of a call is called with at once."""
    above = view.parents[call]
    return above.args if isinstance(above, ast.Call) and above.func is call else []


@functools.cache
def _table() -> dict[str, list[tuple[list[str], tuple[str, ...]]]]:
    """By name: the arguments that a call needs, and what may stand in its place."""
    table: dict[str, list[tuple[list[str], tuple[str, ...]]]] = {}
    for pattern, templates in SHORTER.items():
        call = trees.expression(pattern)
        assert isinstance(call, ast.Call)
        names = [arg.id for arg in call.args if isinstance(arg, ast.Name)]
        table.setdefault(trees.last_name(call.func), []).append((names, templates))
    return table


def _instead(view: View, call: ast.Call, template: str, given: dict[str, ast.expr]) -> Iterator[Edit]:
    """The template with the arguments in their places, and libraries by the names that they have in the program."""
    new = trees.expression(template)
    changes: dict[ast.AST, Replacement] = {call: new}
    for node in ast.walk(new):
        if isinstance(node, ast.Name) and node.id in given:
            changes[node] = trees.shallow(given[node.id])
        elif isinstance(node, ast.Name):
            library = named(view, {"jnp": "jax.numpy", "lax": "jax.lax"}.get(node.id, node.id))
            if library is None:
                return
            changes[node] = library
    kept = sum(trees.extent(value) for name, value in given.items() if name in template)
    yield Edit(changes, trees.extent(call) - kept - 3)


