"""Candidates that hold only what failed: one for each frame of the failing stack and each way of cutting it out."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jaxshrink import render
from jaxshrink import tree as trees
from jaxshrink.lift.callbacks import called_by_jax
from jaxshrink.lift.computed import located
from jaxshrink.lift.donated import donated
from jaxshrink.lift.draft import Draft
from jaxshrink.lift.mentioned import mentioned
from jaxshrink.observation import Array, Literal, Observation, Recipe, Ref, Span, UserFrame
from jaxshrink.render import Style, Unrenderable
from jaxshrink.tree import Edit, Inapplicable
from jaxshrink.view import View

TRANSFORMS = {
    "jit": "jit",
    "pjit": "jit",
    "vmap": "vmap",
    "grad": "grad",
    "value_and_grad": "grad",
    "vjp": "grad",
    "jacrev": "grad",
    "linearize": "jvp",
    "checkpoint": "checkpoint",
    "eval_shape": "eval_shape",
}
"""Transformations seen on a stack, and the one under which a lifted statement is tried."""


def lifted(view: View, observation: Observation, style: Style) -> Iterator[ast.Module]:
    """Programs that may fail in the same way, innermost frame first.

    For each library frame with a public name: a call of it. For each frame of the user's: the failing
    expression and the failing statement, their parts as they were observed or their free variables defined.
    The same of functions that JAX called back, where they are called back again. Last, calls that the message names.
    What worked on tracers is also tried under the transformations that made them.
    """
    for call in observation.library_calls:
        yield from _safely(_library_call(view, observation, style, call.name, call.args, call.kwargs))
    for frame in observation.frames:
        names = _outward(observation, frame)
        for cut in (_expression, _statement):
            yield from _safely(cut(view, observation, style, frame, names))
    for frame in observation.called_back:
        for cut in (_expression, _statement):
            for module in _safely(cut(view, observation, style, frame, ())):
                yield from called_by_jax(module, frame, observation)
    every = tuple(name for gap in reversed(observation.transforms) for name in reversed(gap.names))
    for named in mentioned(view, observation):
        yield from _safely(_expression(view, observation, style, named, every))


def _safely(candidates: Iterator[ast.Module]) -> Iterator[ast.Module]:
    """The candidates up to the first that cannot be written down."""
    with contextlib.suppress(Unrenderable, Inapplicable):
        yield from candidates


def _library_call(
    view: View, observation: Observation, style: Style, name: str, args: tuple[Ref, ...], kwargs: Mapping[str, Ref]
) -> Iterator[ast.Module]:
    draft = Draft(view, observation, style)
    call = ast.Call(draft.public(name), [draft.value(arg) for arg in args], draft.keywords(kwargs))
    yield draft.module(ast.Expr(call))
    traced = [i for i, ref in enumerate(args) if _is_traced(observation, ref)]
    if traced:
        parameters = dict(zip(traced, _distinct("x" for _ in traced), strict=True))
        for i, parameter in parameters.items():
            call.args[i] = ast.Name(parameter, ast.Load())
        arrays = [observation.objects[args[i]] for i in traced]
        yield from _transformed(draft, ast.Expr(call), list(parameters.values()), arrays, style, TRANSFORMS)


def _expression(
    view: View, observation: Observation, style: Style, frame: UserFrame, transforms: tuple[str, ...]
) -> Iterator[ast.Module]:
    """The failing expression."""
    node = Draft(view, observation, style).spans.get(frame.span)
    if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Load | None):
        yield from _cut(view, observation, style, frame, transforms, node, ast.Expr)


def _statement(
    view: View, observation: Observation, style: Style, frame: UserFrame, transforms: tuple[str, ...]
) -> Iterator[ast.Module]:
    """The failing statement; of a compound one the head, with an empty body."""
    node = located(view, frame)
    if node is None or isinstance(node, ast.Module):
        return
    statement = view.statement(node)
    match statement:
        case ast.Return(value=ast.expr() as value):
            statement = ast.Expr(value)
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            return
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
            added = ast.BinOp(target, op, value)
            yield from _cut(view, observation, style, frame, transforms, added, ast.Expr)
        case ast.Raise(exc=ast.expr() as exc, cause=ast.expr()):  # a name that is gone when the handler has ended
            statement = ast.Raise(exc, None)
        case ast.Expr():
            pass
        case _ if hasattr(statement, "body"):
            statement = trees.rewrite(statement, Edit.delete(*statement.body, *getattr(statement, "orelse", ())))
    yield from _cut(view, observation, style, frame, transforms, statement, lambda part: part)


def _cut(
    view: View,
    observation: Observation,
    style: Style,
    frame: UserFrame,
    transforms: tuple[str, ...],
    node: ast.AST,
    as_statement: Callable[[Any], ast.stmt],
) -> Iterator[ast.Module]:
    """A part of the program with its operands as observed, alone and under transformations, then with its variables."""
    failing = Draft(view, observation, style).spans.get(frame.span)
    operands = list(_operands(view, observation, node, set() if failing is None else _above(view, failing)))
    if operands:
        draft = Draft(view, observation, style)
        filled = {part: render.plain(ref, observation.objects, style) for part, ref in operands}
        yield draft.module(as_statement(draft.closed(node, frame.locals, filled)))
    traced = {part: ref for part, ref in operands if _is_traced(observation, ref)}
    if not traced and not frame.function:  # a call apart from the stack: what it got was constant there
        operands = list(_operands(view, observation, node, {node}, whole=False))
        traced = {part: ref for part, ref in operands if isinstance(observation.objects[ref], Array)}
    if traced:
        draft = Draft(view, observation, style)
        parameters = dict(zip(traced, _distinct(map(_parameter_name, traced)), strict=True))
        filled = {part: render.plain(ref, observation.objects, style) for part, ref in operands if part not in traced}
        filled.update((part, ast.Name(parameter, ast.Load())) for part, parameter in parameters.items())
        statement = as_statement(draft.closed(node, frame.locals, filled))
        arrays = [observation.objects[ref] for ref in traced.values()]
        yield from _transformed(draft, statement, list(parameters.values()), arrays, style, transforms)
        if not transforms:
            yield from _leaked(Draft(view, observation, style), node, frame, operands, traced, as_statement)

    def with_objects(draft: Draft) -> Any:
        objects = dict(_objects(view, draft, node, set() if failing is None else _above(view, failing)))
        return draft.closed(node, frame.locals, {**objects})

    for closed in (with_objects, lambda draft: draft.closed(node, frame.locals)):
        draft = Draft(view, observation, style)
        yield draft.module(as_statement(closed(draft)))
    if isinstance(node, ast.expr):
        yield from donated(lambda: Draft(view, observation, style), node, frame, with_objects)


def _leaked(
    draft: Draft,
    node: ast.AST,
    frame: UserFrame,
    operands: list[tuple[ast.expr, Ref]],
    traced: Mapping[ast.expr, Ref],
    as_statement: Callable[[Any], ast.stmt],
) -> Iterator[ast.Module]:
    """Outside all transformations a tracer has leaked from one that is over: each in turn leaks from a new one."""
    objects, body = draft.observation.objects, draft.body
    for leak, ref in traced.items():
        array = render.leaf(objects[ref], draft.style)
        draft.body = [*trees.statements("kept = []\njax.jit(kept.append)(0)"), *body]
        draft.body[1].value.args[0] = array  # type: ignore[attr-defined]
        filled = {
            part: trees.expression("kept[0]") if part is leak else render.plain(other, objects, draft.style)
            for part, other in operands
        }
        yield draft.module(as_statement(draft.closed(node, frame.locals, filled)))


def _transformed(
    draft: Draft,
    statement: ast.stmt,
    parameters: list[str],
    arrays: list[Recipe],
    style: Style,
    transforms: Iterable[str],
) -> Iterator[ast.Module]:
    """A statement about parameters as a function, under each transformation on its own."""
    names = [ast.arg(name) for name in parameters]
    arguments = ast.arguments([], names, None, [], [], None, [])
    for transform in dict.fromkeys(("jit", *(TRANSFORMS[name] for name in transforms if name in TRANSFORMS))):
        function: ast.expr = ast.Name("f", ast.Load())
        if isinstance(statement, ast.Expr):
            body = trees.clone(statement.value)
            if transform == "grad":  # of the first of whatever it gives
                leaves = ast.Call(trees.expression("jax.tree.leaves"), [body], [])
                leaf = ast.Subscript(leaves, ast.Constant(0), ast.Load())
                body = ast.Call(trees.expression("jnp.sum"), [leaf], [])
            function = ast.Lambda(trees.clone(arguments), body)
        values = [render.leaf(_batched(array) if transform == "vmap" else array, style) for array in arrays]
        call = ast.Call(ast.Call(trees.expression(f"jax.{transform}"), [function], []), values, [])
        if isinstance(statement, ast.Expr):
            yield draft.module(ast.Expr(call))
        else:
            definition = ast.FunctionDef("f", trees.clone(arguments), [trees.clone(statement)], [], None, None)
            yield draft.module(definition, ast.Expr(call))


def _above(view: View, node: ast.AST) -> set[ast.AST]:
    """The node and all that it is part of."""
    found = {node}
    while node in view.parents:
        node = view.parents[node]
        found.add(node)
    return found


def _operands(
    view: View, observation: Observation, node: ast.AST, failing: set[ast.AST], *, whole: bool = True
) -> Iterator[tuple[ast.expr, Ref]]:
    """The largest expressions below a node, apart from those that failed, whose observed values can be written down.

    Unless containers are taken as a `whole`, what they hold is given.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Lambda | ast.comprehension | ast.Constant):
            continue
        origin = None if child in failing else getattr(child, "origin", None)
        value = observation.values.get(Span(*origin)) if origin is not None else None
        read = isinstance(child, ast.expr) and isinstance(getattr(child, "ctx", None), ast.Load | None)
        container = value is not None and not isinstance(observation.objects[value], Array | Literal)
        if value is not None and isinstance(child, ast.expr) and read and (whole or not container):
            try:
                render.plain(value, observation.objects)
            except Unrenderable:
                pass
            else:
                yield child, value
                continue
        yield from _operands(view, observation, child, failing, whole=whole)


def _objects(view: View, draft: Draft, node: ast.AST, failing: set[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The largest expressions below a node, apart from names and those that failed, with others of the same values."""
    for child in ast.iter_child_nodes(node):
        origin = None if child in failing else getattr(child, "origin", None)
        value = draft.observation.values.get(Span(*origin)) if origin is not None else None
        if value is not None and isinstance(child, ast.Attribute | ast.Subscript | ast.Call):
            with contextlib.suppress(Unrenderable):
                yield child, draft.value(value)
                continue
        if not isinstance(child, ast.Lambda | ast.comprehension):
            yield from _objects(view, draft, child, failing)


def _is_traced(observation: Observation, ref: Ref) -> bool:
    recipe = observation.objects[ref]
    return isinstance(recipe, Array) and recipe.tracer and not recipe.key


def _batched(recipe: Recipe) -> Array:
    assert isinstance(recipe, Array)
    return dataclasses.replace(recipe, shape=(2, *recipe.shape), weak=False)


def _parameter_name(part: ast.expr) -> str:
    match part:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))) if name.isidentifier():
            return name
    return "x"


def _distinct(names: Iterable[str]) -> list[str]:
    taken: list[str] = []
    for name in names:
        candidates = itertools.chain([name], "yzuvw" if name == "x" else (), (f"{name}{i}" for i in itertools.count(1)))
        taken.append(next(candidate for candidate in candidates if candidate not in taken))
    return taken


def _outward(observation: Observation, frame: UserFrame) -> tuple[str, ...]:
    """Transformations on the stack outside a frame."""
    gaps = [gap for gap in observation.transforms if 0 <= gap.inner <= frame.position]
    return tuple(name for gap in reversed(gaps) for name in reversed(gap.names))
