"""How the primitives are written whose functions have another name, or take their options in another way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from jaxshrink.jaxprs import internals, references
from jaxshrink.jaxprs.texts import Call, text

Rule = Callable[[Any, dict[str, Any]], Iterator[str | Call | None]]
RULES: dict[str, Rule] = {}
"""Give expressions for an equation and its options, the nicest first."""


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return add


def _shape(eqn: Any, index: int = 0) -> tuple[int, ...]:
    return tuple(getattr(eqn.invars[index].aval, "shape", ()))


def _has_methods(eqn: Any) -> bool:
    """Whether the first operand is sure to be an array: one of a weak type may be given as Python's number."""
    return not getattr(eqn.invars[0].aval, "weak_type", False)


def _is_literal(eqn: Any, index: int = 0) -> bool:
    return isinstance(eqn.invars[index], internals.Literal)


def _of(dtype: Any) -> str:
    """A dtype as further argument, where it is not that of numbers."""
    return "" if dtype == jax.dtypes.canonicalize_dtype(float) else f", {text(np.dtype(dtype))}"


@_rule("integer_pow")
def _power(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"_0 ** {params['y']}" if params["y"] >= 0 else f"_0 ** ({params['y']})"


@_rule("square")
def _square(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "_0 ** 2"


@_rule("convert_element_type")
def _convert(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    dtype = text(params["new_dtype"])
    yield f"_0.astype({dtype})" if _has_methods(eqn) else None
    yield f"lax.convert_element_type(_0, {dtype})"
    if params.get("weak_type"):
        kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
        yield f"lax.convert_element_type(_0, {kinds.get(np.dtype(params['new_dtype']).kind)})"
    yield f"jnp.asarray(_0, {dtype})"


@_rule("broadcast_in_dim")
def _broadcast(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    shape, dims = tuple(params["shape"]), tuple(params["broadcast_dimensions"])
    size = text(shape[0]) if len(shape) == 1 else text(shape)
    dtype = eqn.invars[0].aval.dtype
    if params.get("sharding") is not None:
        return
    if _is_literal(eqn):
        value = np.asarray(eqn.invars[0].val)
        if value == 0 or value == 1:
            yield f"jnp.{'ones' if value == 1 else 'zeros'}({size}{_of(dtype)})"
        yield f"jnp.full({size}, _0{_of(dtype)})"
        yield f"jnp.full({size}, _0, {text(np.dtype(dtype))})"
    added = tuple(sorted(set(range(len(shape))) - set(dims)))
    if added and all(shape[i] == 1 for i in added) and list(dims) == sorted(dims):
        yield f"jnp.expand_dims(_0, {text(added[0] if len(added) == 1 else added)})"
    if len(eqn.invars) == 1:
        yield f"jnp.broadcast_to(_0, {text(shape)})"
        yield f"lax.broadcast_in_dim(_0, {text(shape)}, {text(dims)})"


@_rule("reshape")
def _reshape(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    sizes = tuple(params["new_sizes"])
    if params.get("dimensions") is None:
        if _has_methods(eqn):
            yield f"_0.reshape({', '.join(map(text, sizes))})" if sizes else "_0.reshape(())"
        yield f"jnp.expand_dims(_0, {text(tuple(i for i, size in enumerate(sizes) if size == 1))})"
        yield f"lax.reshape(_0, {text(sizes)})"


@_rule("transpose")
def _transpose(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = tuple(params["permutation"])
    if axes == tuple(reversed(range(len(axes)))):
        yield "_0.T"
    yield f"jnp.transpose(_0, {text(axes)})"


@_rule("squeeze")
def _squeeze(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = tuple(params["dimensions"])
    yield f"jnp.squeeze(_0, {text(axes[0] if len(axes) == 1 else axes)})"


@_rule("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or")
def _reduction(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = tuple(params["axes"])
    kind = eqn.primitive.name.removeprefix("reduce_")
    name = {"and": "all", "or": "any"}.get(kind, kind)
    if axes == tuple(range(len(_shape(eqn)))):
        yield f"jnp.{name}(_0)"
    yield f"jnp.{name}(_0, axis={text(axes[0] if len(axes) == 1 else axes)})"


@_rule("argmax", "argmin")
def _arg(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axis, dtype, name = params["axes"][0], text(np.dtype(params["index_dtype"])), eqn.primitive.name
    yield f"jnp.{name}(_0, axis={axis})"
    yield f"lax.{name}(_0, {axis}, {dtype})"


@_rule("slice")
def _slice(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    strides = params.get("strides") or (1,) * len(params["start_indices"])
    cuts = []
    for start, stop, step, size in zip(
        params["start_indices"], params["limit_indices"], strides, _shape(eqn), strict=True
    ):
        cut = f"{start or ''}:{'' if stop == size else stop}" + (f":{step}" if step != 1 else "")
        cuts.append(cut)
    while len(cuts) > 1 and cuts[-1] == ":":
        cuts.pop()
    yield f"_0[{', '.join(cuts)}]"


@_rule("iota")
def _iota(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    shape, dimension, dtype = params["shape"], params["dimension"], text(np.dtype(params["dtype"]))
    if eqn.invars:
        return
    if len(shape) == 1:
        yield f"jnp.arange({shape[0]})"
        yield f"jnp.arange({shape[0]}, dtype={dtype})"
        yield f"lax.iota({dtype}, {shape[0]})"
    yield f"lax.broadcasted_iota({dtype}, {text(tuple(shape))}, {dimension})"


@_rule("select_n")
def _select(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    if len(eqn.invars) == 3:
        yield "jnp.where(_0, _2, _1)"
        yield "lax.select(_0, _2, _1)"


@_rule("concatenate")
def _concatenate(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    parts = ", ".join(f"_{i}" for i in range(len(eqn.invars)))
    dimension = params["dimension"]
    yield f"jnp.concatenate([{parts}])" if dimension == 0 else f"jnp.concatenate([{parts}], axis={dimension})"
    yield f"lax.concatenate([{parts}], {dimension})"


@_rule("stack")
def _stack(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    parts = ", ".join(f"_{i}" for i in range(len(eqn.invars)))
    options = ", ".join(f"{key}={text(value)}" for key, value in params.items() if key in ("axis",))
    yield f"jnp.stack([{parts}], {options})" if options else f"jnp.stack([{parts}])"


@_rule("sort")
def _sort(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    dimension, keys, stable = params["dimension"], params["num_keys"], params["is_stable"]
    operands = "_0" if len(eqn.invars) == 1 else "(" + ", ".join(f"_{i}" for i in range(len(eqn.invars))) + ")"
    if len(eqn.invars) == 1:
        yield f"jnp.sort(_0, axis={dimension})"
    yield f"lax.sort({operands}, dimension={dimension}, is_stable={stable}, num_keys={keys})"


@_rule("dynamic_slice")
def _dynamic_slice(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"lax.dynamic_slice(_0, {_tuple(1, len(eqn.invars))}, {text(tuple(params['slice_sizes']))})"


@_rule("dynamic_update_slice")
def _dynamic_update_slice(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"lax.dynamic_update_slice(_0, _1, {_tuple(2, len(eqn.invars))})"


def _tuple(start: int, stop: int) -> str:
    return "(" + "".join(f"_{i}, " for i in range(start, stop)) + ")"


@_rule("cholesky")
def _cholesky(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "lax.linalg.cholesky(_0, symmetrize_input=False)"


@_rule("eigh")
def _eigh(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"lax.linalg.eigh(_0, lower={params['lower']}, symmetrize_input=False, sort_eigenvalues=" \
          f"{params.get('sort_eigenvalues')})"  # fmt: skip


@_rule("fft")
def _fft(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    kind = str(getattr(params["fft_type"], "name", params["fft_type"])).lower()
    name = {"fft": "fft", "ifft": "ifft", "rfft": "rfft", "irfft": "irfft"}[kind]
    lengths = tuple(params["fft_lengths"])
    if len(lengths) == 1:
        yield f"jnp.fft.{name}(_0)"
        yield f"jnp.fft.{name}(_0, {lengths[0]})"
    yield f"lax.fft(_0, {text(params['fft_type'])}, {text(lengths)})"
    yield f"lax.fft(_0, {kind!r}, {text(lengths)})"


@_rule("reduce_window_sum", "reduce_window_max", "reduce_window_min")
def _window(eqn: Any, params: dict[str, Any]) -> Iterator[Call | None]:
    kind = eqn.primitive.name.rpartition("_")[2]
    fun = {"sum": "lax.add", "max": "lax.max", "min": "lax.min"}[kind]
    dtype = np.dtype(eqn.invars[0].aval.dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        init = {"sum": "0", "max": str(info.min), "min": str(info.max)}[kind]
    else:
        init = {"sum": "0.0", "max": "-jnp.inf", "min": "jnp.inf"}[kind]
    sizes, strides, padding = (text(params[key]) for key in ("window_dimensions", "window_strides", "padding"))
    options = tuple((key, text(params[key])) for key in ("base_dilation", "window_dilation"))
    for start in (init, f"{text(dtype)}({init})"):
        yield Call(f"lax.reduce_window(_0, {start}, {fun}, {sizes}, {strides}, {padding}", options)


@_rule("copy", "copy_p")
def _copy(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jnp.copy(_0)"


@_rule("device_put")
def _device_put(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    if len(eqn.invars) > 1:
        yield f"jax.device_put({_tuple(0, len(eqn.invars))})"
        return
    for device in dict.fromkeys(params["devices"]):
        yield "jax.device_put(_0)" if device is None else f"jax.device_put(_0, {text(device)})"


@_rule("optimization_barrier")
def _barrier(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "lax.optimization_barrier(_0)" if len(eqn.invars) == 1 else None
    yield f"lax.optimization_barrier({_tuple(0, len(eqn.invars))})"


@_rule("sharding_constraint")
def _constraint(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    sharding = params["sharding"]
    yield f"lax.with_sharding_constraint(_0, {text(sharding.spec)})" if hasattr(sharding, "spec") else None
    yield f"lax.with_sharding_constraint(_0, {text(sharding)})"


@_rule("layout_constraint")
def _layout(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"jax.experimental.layout.with_layout_constraint(_0, {text(params['layout'])})"


@_rule("reshard")
def _reshard(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    sharding = params["dst_sharding"]
    yield f"jax.sharding.reshard(_0, {text(sharding.spec)})"
    yield f"jax.sharding.reshard(_0, {text(sharding)})"


@_rule("name")
def _name(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"jax.ad_checkpoint.checkpoint_name(_0, {params['name']!r})"


# -- random keys


@_rule("random_seed")
def _seed(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.key(_0)"
    yield f"jax.random.key(_0, impl={params['impl'].name!r})"


@_rule("random_wrap")
def _wrap(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.wrap_key_data(_0)"
    yield f"jax.random.wrap_key_data(_0, impl={params['impl'].name!r})"


@_rule("random_unwrap")
def _unwrap(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.key_data(_0)"


@_rule("random_split")
def _split(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    shape = tuple(params["shape"])
    yield f"jax.random.split(_0, {text(shape[0] if len(shape) == 1 else shape)})"


@_rule("random_bits")
def _bits(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"jax.random.bits(_0, {text(tuple(params['shape']))}, jnp.uint{params['bit_width']})"


@_rule("random_fold_in")
def _fold_in(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.fold_in(_0, _1)"


# -- across devices


@_rule("psum", "pmax", "pmin", "psum_invariant")
def _collective(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = params["axes"]
    operand = "_0" if len(eqn.invars) == 1 else _tuple(0, len(eqn.invars))
    groups = params.get("axis_index_groups")
    options = "" if groups is None else f", axis_index_groups={text(groups)}"
    name = eqn.primitive.name.partition("_")[0]
    for axis in (axes[0], axes) if len(axes) == 1 else (axes,):
        yield f"lax.{name}({operand}, {text(axis)}{options})"


@_rule("all_gather", "all_gather_invariant", "reduce_scatter", "all_to_all", "ppermute", "axis_index")
def _exchange(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axis = text(_single(params["axis_name"]))
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


@_rule("pvary", "pcast")
def _vary(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = text(tuple(params["axes"]))
    yield f"lax.pcast(_0, {axes}, to='varying')"
    yield f"lax.pvary(_0, {axes})"


def _single(axes: Any) -> Any:
    return axes[0] if isinstance(axes, (tuple, list)) and len(axes) == 1 else axes


# -- references


@_rule("get", "swap", "addupdate")
def _reference(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield from references.proposals(eqn)


@_rule("new_ref", "ref", "mutable_array")
def _new_reference(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.new_ref(_0)"


@_rule("freeze")
def _freeze(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.freeze(_0)"
    yield "jax.ref.freeze(_0)"
