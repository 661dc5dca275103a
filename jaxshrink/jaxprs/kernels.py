"""Kernels of Pallas, as calls of `pallas_call` on blocks of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxshrink.inside.capture.constants import Unwritable
from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.texts import text
from jaxshrink.jaxprs.writer import Body, tupled

PALLAS = "jax.experimental.pallas"

_PLAIN = {"num_index_operands": 0, "vmapped_dims": (), "scratch_avals": (), "grid_names": None, "debug": False}
"""What a grid has where it is no more than sizes and blocks."""


def pallas_call(body: Body, eqn: Any) -> bool:
    """A call of a kernel over a grid; without scratch memory, prefetched scalars and what only some hardware has."""
    params, grid = eqn.params, eqn.params["grid_mapping"]
    is_plain = all(getattr(grid, name, usual) == usual for name, usual in _PLAIN.items())
    unusual = ("mesh", "compiler_params", "cost_estimate", "metadata", "debug")
    if not is_plain or any(params.get(name) for name in unusual) or not all(map(_is_block, grid.block_mappings)):
        return False
    try:
        options = [f"{name}={text(params[name])}" for name in ("interpret", "name") if params.get(name)]
    except Unwritable:
        return False
    specs = [_spec(body, block) for block in grid.block_mappings]
    shapes = [f"jax.ShapeDtypeStruct({text(tuple(aval.shape))}, {text(np.dtype(aval.dtype))})"
              for aval in params["out_avals"]]  # fmt: skip
    if grid.grid:
        options.insert(0, f"grid={text(tuple(grid.grid))}")
    if params.get("input_output_aliases"):
        options.append(f"input_output_aliases={dict(params['input_output_aliases'])}")
    kernel = _function(body, params["jaxpr"], internals.function_name(params["jaxpr"]) or "kernel", "")
    given = [kernel, f"out_shape={tupled(shapes)}", f"in_specs=[{', '.join(specs[: len(eqn.invars)])}]",
             f"out_specs={tupled(specs[len(eqn.invars) :])}", *options]  # fmt: skip
    call = f"{PALLAS}.pallas_call({', '.join(given)})({', '.join(body.operands(eqn.invars))})"
    body.assign(eqn.outvars, (1,) if len(eqn.outvars) == 1 else None, call)
    return True


def grid_place(body: Body, eqn: Any) -> bool:
    """The place in the grid, or its size: these can be traced in kernels alone."""
    body.assign(eqn.outvars, (1,), f"{PALLAS}.{eqn.primitive.name}({eqn.params['axis']})")
    return True


def _is_block(block: Any) -> bool:
    sizes = {type(size).__name__ for size in block.block_shape}
    space = str(getattr(block.transformed_block_aval, "memory_space", None)).rpartition(".")[2].lower()
    return sizes <= {"Blocked", "Squeezed"} and not block.transforms and block.pipeline_mode is None \
        and space in ("none", "any", "default", "memoryspace")  # fmt: skip


def _spec(body: Body, block: Any) -> str:
    """The size of a block, and where it is for a place in the grid."""
    sizes = tuple(getattr(size, "block_size", None) for size in block.block_shape)
    return f"{PALLAS}.BlockSpec({text(sizes)}, {_function(body, block.index_map_jaxpr, 'index_map', None)})"


def _function(body: Body, jaxpr: Any, wanted: str, result: str | None) -> str:
    """The function of a jaxpr, defined once; `result` is what it returns, if not what the jaxpr gives."""
    pack = None if result is None else lambda results: result
    return body.once((id(jaxpr), "kernel"), lambda module: module.define(jaxpr, wanted, pack=pack), jaxpr)
