"""How primitives are written that exchange values between devices, or elements of mapped axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxshrink.jaxprs.proposing import rule, single, tuple_of
from jaxshrink.jaxprs.texts import text


@rule("psum", "pmax", "pmin", "psum_invariant")
def _collective(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = params["axes"]
    operand = "_0" if len(eqn.invars) == 1 else tuple_of(0, len(eqn.invars))
    groups = params.get("axis_index_groups")
    options = "" if groups is None else f", axis_index_groups={text(groups)}"
    name = eqn.primitive.name.partition("_")[0]
    for axis in (axes[0], axes) if len(axes) == 1 else (axes,):
        yield f"lax.{name}({operand}, {text(axis)}{options})"


@rule("all_gather", "all_gather_invariant", "reduce_scatter", "all_to_all", "ppermute", "axis_index")
def _exchange(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axis = text(single(params["axis_name"]))
    match eqn.primitive.name:
        case "axis_index":
            yield f"lax.axis_index({axis})"
        case "ppermute":
            yield f"lax.ppermute(_0, {axis}, {text(list(map(tuple, params['perm'])))})"
        case "all_to_all":
            places = f"{params['split_axis']}, {params['concat_axis']}"
            for tiled in (False, True):
                yield f"lax.all_to_all(_0, {axis}, {places}, tiled={tiled})"
        case "reduce_scatter":
            where = params["scatter_dimension"]
            yield f"lax.psum_scatter(_0, {axis}, scatter_dimension={where}, tiled={params['tiled']})"
        case "all_gather_invariant":
            yield f"lax.all_gather(_0, {axis}, axis={params['all_gather_dimension']}, tiled={params['tiled']}, " \
                  "to='invarying')"  # fmt: skip
        case _:
            yield f"lax.all_gather(_0, {axis}, axis={params['all_gather_dimension']}, tiled={params['tiled']})"


@rule("pvary", "pcast")
def _vary(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = text(tuple(params["axes"]))
    yield f"lax.pcast(_0, {axes}, to='varying')"
    yield f"lax.pvary(_0, {axes})"
