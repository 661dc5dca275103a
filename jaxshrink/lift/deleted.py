"""Arrays whose buffers were donated to a call before the one that fails."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from jaxshrink import render
from jaxshrink import tree as trees
from jaxshrink.lift.draft import Draft
from jaxshrink.observation import Array, Collection, Dictionary, Observation, Ref, UserFrame

DONATING = "jax.jit(lambda x: x, donate_argnums=0)"


def with_deleted(
    new_draft: Callable[[], Draft], node: ast.expr, frame: UserFrame, operands: Sequence[tuple[ast.expr, Ref]]
) -> Iterator[ast.Module]:
    """Programs that evaluate an expression on arrays deleted before; of a call also one of the plainest function.

    `operands` are parts of the expression with their values. Raises Unrenderable.
    """
    observation = new_draft().observation
    deleted = list(dict.fromkeys(ref for _, ref in operands if is_deleted(observation, ref)))
    if deleted and isinstance(node, ast.Call):
        draft = new_draft()
        function = ast.Name(draft.assigned("donating", "f", trees.expression(DONATING)), ast.Load())
        call = ast.Expr(ast.Call(function, [_variable(draft, deleted[0], "x")], []))
        yield draft.module(call, trees.clone(call))
        draft = new_draft()
        statement = _about(draft, node, frame, operands, deleted)
        yield draft.module(statement, trees.clone(statement))
    for ref in deleted:
        draft = new_draft()
        statement = _about(draft, node, frame, operands, [ref])
        yield draft.module(*trees.statements(f"{DONATING}({draft.names[ref]})"), statement)


def is_deleted(observation: Observation, ref: Ref) -> bool:
    """Is the value a deleted array, or a container that holds one?"""
    match observation.objects[ref]:
        case Array(deleted=deleted):
            return deleted
        case Collection(items=items) | Dictionary(items=items):
            return any(is_deleted(observation, item) for item in items)
    return False


def _about(
    draft: Draft, node: ast.expr, frame: UserFrame, operands: Sequence[tuple[ast.expr, Ref]], named: Sequence[Ref]
) -> ast.stmt:
    """A statement that evaluates the expression; some of its operands have names, the others stand in place."""
    filled: dict[ast.expr, ast.expr] = {}
    for part, ref in operands:
        if ref in named:
            filled[part] = _variable(draft, ref, getattr(part, "attr", getattr(part, "id", "x")))
        else:
            filled[part] = render.plain(ref, draft.observation.objects, draft.style)
    return ast.Expr(draft.closed(node, frame.locals, filled))


def _variable(draft: Draft, ref: Ref, name: str) -> ast.Name:
    """A plain value by the name of a variable that has it."""
    value = render.plain(ref, draft.observation.objects, draft.style)
    return ast.Name(draft.assigned(ref, name, value), ast.Load())
