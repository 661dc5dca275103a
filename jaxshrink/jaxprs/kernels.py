"""Kernels of Pallas, as calls of `pallas_call` on blocks of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxshrink.inside.capture.constants import Unwritable
from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.equations import plain_number
from jaxshrink.jaxprs.texts import text
from jaxshrink.jaxprs.writer import Body, tupled

_SHORT = {"jax.experimental.pallas.tpu.MemorySpace.": "pltpu.", "jax.experimental.pallas.tpu.": "pltpu.",
          "jax.experimental.pallas.": "pl."}  # fmt: skip

_PLAIN = {"vmapped_dims": (), "grid_names": None}
"""What a grid has where a call has made it: others come of transformations of a call."""

_OPTIONS = ("interpret", "debug", "name", "compiler_params", "cost_estimate", "metadata")


def pallas_call(body: Body, eqn: Any) -> bool:
    """A call of a kernel over a grid, unless a transformation has made it or sizes of the grid are computed."""
    params, grid = eqn.params, eqn.params["grid_mapping"]
    is_plain = all(getattr(grid, name, usual) == usual for name, usual in _PLAIN.items())
    if not is_plain or params.get("mesh") or not all(isinstance(size, int) for size in grid.grid):
        return False
    try:
        options = [f"{name}={_option(params[name])}" for name in _OPTIONS if params.get(name)]
        specs = [_spec(body, block) for block in grid.block_mappings]
        scratch = [_memory(aval) for aval in getattr(grid, "scratch_avals", ())]
    except Unwritable:
        return False
    shapes = [f"jax.ShapeDtypeStruct({text(tuple(aval.shape))}, {text(np.dtype(aval.dtype))})"
              for aval in params["out_avals"]]  # fmt: skip
    prefetched = grid.num_index_operands
    count = len(eqn.invars) - prefetched
    places = [f"grid={text(tuple(grid.grid))}"] if grid.grid else []
    places += [f"in_specs=[{', '.join(specs[:count])}]", f"out_specs={tupled(specs[count:])}"]
    places += [f"scratch_shapes=[{', '.join(scratch)}]"] if scratch else []
    if prefetched:
        inside = ", ".join([f"num_scalar_prefetch={prefetched}", *places])
        places = [f"grid_spec=pltpu.PrefetchScalarGridSpec({inside})"]
    if params.get("input_output_aliases"):
        options.append(f"input_output_aliases={dict(params['input_output_aliases'])}")
    given = [_kernel(body, params["jaxpr"]), f"out_shape={tupled(shapes)}", *places, *options]
    call = f"pl.pallas_call({', '.join(given)})({', '.join(body.operands(eqn.invars))})"
    body.assign(eqn.outvars, (1,) if len(eqn.outvars) == 1 else None, call)
    return True


def _option(value: Any) -> str:
    """An option, with the names that everyone gives to the modules of Pallas."""
    written = text(dict(value) if isinstance(value, Mapping) else value)
    for long, short in _SHORT.items():
        written = written.replace(long, short)
    return written


def grid_place(body: Body, eqn: Any) -> bool:
    """The place in the grid, or its size: these can be traced in kernels alone."""
    body.assign(eqn.outvars, (1,), f"pl.{eqn.primitive.name}({eqn.params['axis']})")
    return True


def _spec(body: Body, block: Any) -> str:
    """The size of a block, where it is for a place in the grid, and in which memory. Raises Unwritable."""
    if getattr(block, "transforms", True):  # JAX 0.4 has others
        raise Unwritable("transforms of a block")
    sizes = "".join(f"{_size(size)}, " for size in block.block_shape)
    given = [f"({sizes})", _index_map(body, block.index_map_jaxpr)]
    memory = getattr(block.transformed_block_aval, "memory_space", None)
    if getattr(memory, "name", "DEFAULT") != "DEFAULT":
        given.append(f"memory_space={_option(memory)}")
    if block.pipeline_mode is not None:
        given.append(f"pipeline_mode={_option(block.pipeline_mode)}")
    return f"pl.BlockSpec({', '.join(given)})"


def _size(size: Any) -> str:
    """One size of a block: a number, None for one that the kernel does not see, others as they are."""
    kind = type(size).__name__
    return str(size.block_size) if kind == "Blocked" else "None" if kind == "Squeezed" else _option(size)


def _memory(aval: Any) -> str:
    """An array for the kernel's own use."""
    inner = aval.inner_aval
    return f"{_option(aval.memory_space)}({text(tuple(inner.shape))}, {text(np.dtype(inner.dtype))})"


def _index_map(body: Body, jaxpr: Any) -> str:
    """The function that gives a block's place; a lambda where it computes nothing."""
    parts = internals.opened(jaxpr)
    if parts.eqns or parts.consts:
        return body.once((id(jaxpr), "index map"), lambda module: module.define(jaxpr, "index_map"), jaxpr)
    arguments = {var: body.writer.new(name) for var, name in zip(parts.invars, internals.names(jaxpr)[0], strict=True)}
    results = [plain_number(one) if isinstance(one, internals.Literal) else arguments[one] for one in parts.outvars]
    return f"lambda {', '.join(arguments.values())}: ({''.join(f'{one}, ' for one in results)})"


def _kernel(body: Body, jaxpr: Any) -> str:
    """The function of a kernel, defined once, which returns nothing."""
    wanted = internals.function_name(jaxpr) or "kernel"
    return body.once((id(jaxpr), "kernel"), lambda module: module.define(jaxpr, wanted, pack=lambda _: ""), jaxpr)
