"""Reading and writing mutable references (`jax.new_ref`, and what Pallas kernels get)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax


def place(eqn: Any, operands: Sequence[str]) -> str | None:
    """The expression of the part of a reference that an equation reads or writes, None where it has none.

    Operands are the reference, what is written (unless it is read), and what its index is made of.
    """
    first = 1 if eqn.primitive.name == "get" else 2
    try:
        transforms = jax.tree_util.tree_unflatten(eqn.params["tree"], list(operands[first:]))
    except (TypeError, ValueError, AssertionError, AttributeError):  # an index may check what it is made of
        return None
    if not transforms:
        return f"{operands[0]}[...]"
    if len(transforms) != 1 or not hasattr(transforms[0], "indices"):
        return None
    shape = eqn.invars[0].aval.shape
    return f"{operands[0]}[{', '.join(map(_index, transforms[0].indices, shape))}]"


def _index(part: Any, size: int) -> str:
    if not hasattr(part, "start"):
        return str(part)
    if isinstance(part.start, str):
        return f"jax.ds({part.start}, {part.size})"
    step = getattr(part, "stride", 1) or 1
    stop = part.start + (part.size - 1) * step + 1
    whole = part.start == 0 and part.size * step >= size
    return f"{part.start or ''}:{'' if whole else stop}" + (f":{step}" if step != 1 else "")


def proposals(eqn: Any) -> Iterator[str | None]:
    """Expressions that may be an equation that reads or writes a reference."""
    where = place(eqn, [f"_{i}" for i in range(len(eqn.invars))])
    if eqn.primitive.name == "get" or where is None:
        yield where
    else:
        yield f"jax.ref.{eqn.primitive.name}(_0, np.s_{where.removeprefix('_0')}, _1)"
