"""Arrays whose buffers are gone: donated to an earlier call, or twice to one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from jaxshrink import tree as trees
from jaxshrink.lift.draft import Draft
from jaxshrink.observation import Array, Collection, Dictionary, Instance, Make, Observation, Ref, Span, UserFrame
from jaxshrink.tree import Edit

AGAIN = """
f = jax.jit(lambda x: x, donate_argnums=0)
x = ...
f(x)
f(x)
"""

TWICE = """
x = ...
jax.jit(lambda x, y: (x, y), donate_argnums=(0, 1))(x, x)
"""

TWICE_LATER = """
f = jax.jit(lambda x, y: (x, y), donate_argnums=(0, 1))
x, y = f(..., ...)
f(x, x)
"""
"""The first call of a compiled function goes through Python and raises another exception."""

MOST = 1000
"""Arrays that are looked at."""


def donated(
    draft: Callable[[], Draft], node: ast.expr, frame: UserFrame, closed: Callable[[Draft], ast.expr]
) -> Iterator[ast.Module]:
    """Programs in which an expression is evaluated on arrays that were donated, or a plainer call of such arrays.

    `closed` gives the expression with all that it needs defined in a draft. Raises Unrenderable.
    """
    observation = draft().observation
    message = observation.outcome.message or ""
    if "delete" not in message and "donate" not in message:
        return
    found = [ref for value in _values(observation, node, frame) for ref in _arrays(observation, value, ())][:MOST]
    deleted = [ref for ref in dict.fromkeys(found) if _array(observation, ref).deleted]
    repeated = [ref for ref in dict.fromkeys(found) if found.count(ref) > 1]
    for refs, template in (deleted, AGAIN), (repeated, TWICE), (repeated, TWICE_LATER):
        if refs and isinstance(node, ast.Call):
            yield _of_one(draft(), template, refs[0])
    if deleted or repeated:
        named = draft()
        named.named = {*deleted, *repeated}
        statement = ast.Expr(closed(named))
        yield named.module(statement)
        if deleted:
            yield named.module(statement, trees.clone(statement))
            names = [named.names[ref] for ref in deleted if ref in named.names]
            every = names[0] if len(names) == 1 else f"({', '.join(names)})"
            yield named.module(*trees.statements(f"jax.jit(lambda x: x, donate_argnums=0)({every})"), statement)


def _of_one(draft: Draft, template: str, ref: Ref) -> ast.Module:
    """The template about an array like the one given."""
    program = ast.parse(template)
    places = [each for each in ast.walk(program) if isinstance(each, ast.Constant) and each.value is ...]
    return draft.module(*trees.rewrite(program, Edit({place: draft.value(ref) for place in places})).body)


def _values(observation: Observation, node: ast.AST, frame: UserFrame) -> Iterator[Ref]:
    """The values of the largest parts of a node that have known ones."""
    for child in ast.iter_child_nodes(node):
        origin = getattr(child, "origin", None)
        known = frame.locals.get(child.id) if isinstance(child, ast.Name) else None
        value = observation.values.get(Span(*origin), known) if origin is not None else known
        if value is not None:
            yield value
        else:
            yield from _values(observation, child, frame)


def _arrays(observation: Observation, ref: Ref, above: Sequence[Ref]) -> Iterator[Ref]:
    """The arrays of JAX that a value is or holds, each as often as it is held."""
    parts: Sequence[Ref] = ()
    match observation.objects[ref]:
        case Array(lib="jax", tracer=False):
            yield ref
        case Collection(items=items) | Dictionary(items=items):
            parts = items
        case Make(args=args, kwargs=kwargs):
            parts = (*args, *kwargs.values())
        case Instance(attrs=attrs):
            parts = tuple(attrs.values())
    for part in parts:
        if part not in above:
            yield from _arrays(observation, part, (*above, ref))


def _array(observation: Observation, ref: Ref) -> Array:
    recipe = observation.objects[ref]
    assert isinstance(recipe, Array)
    return recipe
