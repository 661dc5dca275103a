"""How the primitives are written whose functions have another name, or take their options in another way."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from jaxshrink.jaxprs import internals, references
from jaxshrink.jaxprs.proposing import rule, single, tuple_of
from jaxshrink.jaxprs.texts import Call, text


def _shape(eqn: Any, index: int = 0) -> tuple[int, ...]:
    return tuple(getattr(eqn.invars[index].aval, "shape", ()))


def _has_methods(eqn: Any) -> bool:
    """Whether the first operand is sure to be an array: one of a weak type may be given as Python's number."""
    return not getattr(eqn.invars[0].aval, "weak_type", False)


def _is_literal(eqn: Any, index: int = 0) -> bool:
    return isinstance(eqn.invars[index], internals.Literal)


def _of(dtype: Any) -> str:
    """A dtype as further argument, where it is not that of numbers."""
    return "" if dtype == jax.dtypes.canonicalize_dtype(float) else f", {_dtype(dtype)}"


def _dtype(dtype: Any) -> str:
    """A dtype, as functions take it."""
    return "bool" if np.dtype(dtype).kind == "b" else text(np.dtype(dtype))


@rule("integer_pow")
def _power(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"_0 ** {params['y']}" if params["y"] >= 0 else f"_0 ** ({params['y']})"


@rule("add_any")
def _sum_of_cotangents(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.interpreters.ad.add_jaxvals(_0, _1)"


@rule("square")
def _square(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "_0 ** 2"


@rule("convert_element_type")
def _convert(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    dtype = _dtype(params["new_dtype"])
    yield f"_0.astype({dtype})" if _has_methods(eqn) else f"{dtype}(_0)" if dtype.startswith("jnp.") else None
    yield f"lax.convert_element_type(_0, {dtype})"
    if params.get("weak_type"):
        kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
        yield f"lax.convert_element_type(_0, {kinds.get(np.dtype(params['new_dtype']).kind)})"
    yield f"jnp.asarray(_0, {dtype})"


@rule("broadcast_in_dim")
def _broadcast(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    shape, dims = tuple(params["shape"]), tuple(params["broadcast_dimensions"])
    size = text(shape[0]) if len(shape) == 1 else text(shape)
    dtype = eqn.invars[0].aval.dtype
    if params.get("sharding") is not None:
        return
    if _is_literal(eqn):
        value = 0 if dtype == jax.dtypes.float0 else np.asarray(eqn.invars[0].val)
        if value == 0 or value == 1:
            yield f"jnp.{'ones' if value == 1 else 'zeros'}({size}{_of(dtype)})"
        is_weak = getattr(eqn.invars[0].aval, "weak_type", False)
        yield f"jnp.full({size}, _0{_of(dtype) if is_weak else f', {_dtype(dtype)}'})"
    indexed = [":" if i in dims else "None" for i in range(len(shape))]
    while indexed[-1:] == [":"]:
        indexed.pop()
    yield f"_0[{', '.join(indexed)}]" if _has_methods(eqn) and 0 < len(_shape(eqn)) < len(shape) else None
    added = tuple(sorted(set(range(len(shape))) - set(dims)))
    if added and all(shape[i] == 1 for i in added) and list(dims) == sorted(dims):
        yield f"jnp.expand_dims(_0, {text(added[0] if len(added) == 1 else added)})"
    if len(eqn.invars) == 1:
        yield f"jnp.broadcast_to(_0, {text(shape)})"
        yield f"lax.broadcast_in_dim(_0, {text(shape)}, {text(dims)})"


@rule("reshape")
def _reshape(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    sizes = tuple(params["new_sizes"])
    if params.get("dimensions") is None:
        if _has_methods(eqn):
            yield f"_0.reshape({', '.join(map(text, sizes))})" if sizes else "_0.reshape(())"
        yield f"jnp.expand_dims(_0, {text(tuple(i for i, size in enumerate(sizes) if size == 1))})"
        yield f"lax.reshape(_0, {text(sizes)})"


@rule("transpose")
def _transpose(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = tuple(params["permutation"])
    if axes == tuple(reversed(range(len(axes)))):
        yield "_0.T"
    yield f"jnp.transpose(_0, {text(axes)})"


@rule("squeeze")
def _squeeze(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = tuple(params["dimensions"])
    yield f"jnp.squeeze(_0, {text(axes[0] if len(axes) == 1 else axes)})"


@rule("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or")
def _reduction(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axes = tuple(params["axes"])
    kind = eqn.primitive.name.removeprefix("reduce_")
    name = {"and": "all", "or": "any"}.get(kind, kind)
    if axes == tuple(range(len(_shape(eqn)))):
        yield f"jnp.{name}(_0)"
    yield f"jnp.{name}(_0, axis={text(axes[0] if len(axes) == 1 else axes)})"


@rule("argmax", "argmin")
def _arg(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    axis, dtype, name = params["axes"][0], text(np.dtype(params["index_dtype"])), eqn.primitive.name
    yield f"jnp.{name}(_0, axis={axis})"
    yield f"lax.{name}(_0, {axis}, {dtype})"


@rule("slice")
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
    for axis in range(len(cuts)):  # which says the step all the same
        start, stop = (params[key][axis] for key in ("start_indices", "limit_indices"))
        along = (f", stride={strides[axis]}" if strides[axis] != 1 else "") + (f", axis={axis}" if axis else "")
        yield f"lax.slice_in_dim(_0, {start}, {stop}{along})"


@rule("iota")
def _iota(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    shape, dimension, dtype = params["shape"], params["dimension"], text(np.dtype(params["dtype"]))
    if eqn.invars:
        return
    if len(shape) == 1:
        yield f"jnp.arange({shape[0]})"
        yield f"jnp.arange({shape[0]}, dtype={dtype})"
        yield f"lax.iota({dtype}, {shape[0]})"
    yield f"lax.broadcasted_iota({dtype}, {text(tuple(shape))}, {dimension})"


@rule("select_n")
def _select(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    if len(eqn.invars) == 3:
        yield "jnp.where(_0, _2, _1)"
        yield "lax.select(_0, _2, _1)"


@rule("concatenate")
def _concatenate(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    parts = ", ".join(f"_{i}" for i in range(len(eqn.invars)))
    dimension = params["dimension"]
    yield f"jnp.concatenate([{parts}])" if dimension == 0 else f"jnp.concatenate([{parts}], axis={dimension})"
    yield f"lax.concatenate([{parts}], {dimension})"


@rule("stack")
def _stack(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    parts = ", ".join(f"_{i}" for i in range(len(eqn.invars)))
    options = ", ".join(f"{key}={text(value)}" for key, value in params.items() if key in ("axis",))
    yield f"jnp.stack([{parts}], {options})" if options else f"jnp.stack([{parts}])"


@rule("sort")
def _sort(eqn: Any, params: dict[str, Any]) -> Iterator[str | Call | None]:
    dimension, keys, stable = params["dimension"], params["num_keys"], params["is_stable"]
    operands = "_0" if len(eqn.invars) == 1 else "(" + ", ".join(f"_{i}" for i in range(len(eqn.invars))) + ")"
    if len(eqn.invars) == 1:
        yield f"jnp.sort(_0, axis={dimension})"
    options = (("dimension", str(dimension)), ("is_stable", str(stable)), ("num_keys", str(keys)))
    is_last = dimension == len(_shape(eqn)) - 1  # which is what it takes by itself
    yield Call(f"lax.sort({operands}", options[1:] if is_last else options)


@rule("dynamic_slice")
def _dynamic_slice(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"lax.dynamic_slice(_0, {tuple_of(1, len(eqn.invars))}, {text(tuple(params['slice_sizes']))})"


@rule("dynamic_update_slice")
def _dynamic_update_slice(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"lax.dynamic_update_slice(_0, _1, {tuple_of(2, len(eqn.invars))})"


@rule("cholesky")
def _cholesky(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "lax.linalg.cholesky(_0, symmetrize_input=False)"


@rule("eigh")
def _eigh(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"lax.linalg.eigh(_0, lower={params['lower']}, symmetrize_input=False, sort_eigenvalues=" \
          f"{params.get('sort_eigenvalues')})"  # fmt: skip


@rule("fft")
def _fft(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    kind = str(getattr(params["fft_type"], "name", params["fft_type"])).lower()
    name = {"fft": "fft", "ifft": "ifft", "rfft": "rfft", "irfft": "irfft"}[kind]
    lengths = tuple(params["fft_lengths"])
    if len(lengths) == 1:
        yield f"jnp.fft.{name}(_0)"
        yield f"jnp.fft.{name}(_0, {lengths[0]})"
    for function in ("lax.fft", "lax.fft.__wrapped__"):  # older releases compile it
        yield f"{function}(_0, {kind!r}, {text(lengths)})"


@rule("reduce_window_sum", "reduce_window_max", "reduce_window_min")
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
        for around in ("'VALID'", "'SAME'", padding):
            yield Call(f"lax.reduce_window(_0, {start}, {fun}, {sizes}, {strides}, {around}", options)


@rule("copy", "copy_p")
def _copy(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jnp.copy(_0)"


@rule("device_put")
def _device_put(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    if len(eqn.invars) > 1:
        yield f"jax.device_put({tuple_of(0, len(eqn.invars))})"
        return
    for device in dict.fromkeys(params["devices"]):
        yield "jax.device_put(_0)" if device is None else f"jax.device_put(_0, {text(device)})"


@rule("optimization_barrier")
def _barrier(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "lax.optimization_barrier(_0)" if len(eqn.invars) == 1 else None
    yield f"lax.optimization_barrier({tuple_of(0, len(eqn.invars))})"


@rule("sharding_constraint")
def _constraint(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    sharding = params["sharding"]
    yield f"lax.with_sharding_constraint(_0, {text(sharding.spec)})" if hasattr(sharding, "spec") else None
    yield f"lax.with_sharding_constraint(_0, {text(sharding)})"


@rule("layout_constraint")
def _layout(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"jax.experimental.layout.with_layout_constraint(_0, {text(params['layout'])})"


@rule("reshard")
def _reshard(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    sharding = params["dst_sharding"]
    yield f"jax.sharding.reshard(_0, {text(sharding.spec)})"
    yield f"jax.sharding.reshard(_0, {text(sharding)})"


@rule("name")
def _name(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"jax.ad_checkpoint.checkpoint_name(_0, {params['name']!r})"


@rule("dot_general")
def _product(eqn: Any, params: dict[str, Any]) -> Iterator[str | Call | None]:
    """By the dimensions that are multiplied, and those of batches, of both operands."""
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    precisions = params["precision"]
    known = set(precisions) if isinstance(precisions, tuple) else {precisions}
    more = "" if known == {None} else f", precision={text(known.pop() if len(known) == 1 else precisions)}"
    yield from (f"{name}(_0, _1{more})" for name in ("lax.dot", "jnp.matmul", "jnp.dot"))
    if not left_batch and not left:
        yield f"jnp.tensordot(_0, _1, axes=0{more})"
    elif not left_batch:
        yield f"jnp.tensordot(_0, _1, axes={text((single(left), single(right)))}{more})"
    letters = iter(string.ascii_lowercase)
    names = [[next(letters) for _ in _shape(eqn)], [""] * len(_shape(eqn, 1))]
    for i, j in (*zip(left, right, strict=True), *zip(left_batch, right_batch, strict=True)):
        names[1][j] = names[0][i]
    names[1] = [name or next(letters) for name in names[1]]
    batch = [names[0][i] for i in left_batch]
    free = [one for one in (*names[0], *names[1]) if (one in names[0]) != (one in names[1])]
    operands = ["".join(one) for one in names]
    out = "".join((*batch, *free))
    yield f"jnp.einsum('{operands[0]},{operands[1]}->{out}', _0, _1{more})"
    yield f"jnp.einsum('{operands[1]},{operands[0]}->{out}', _1, _0{more})"
    options = [(name, text(value)) for name, value in params.items()
               if name in ("precision", "preferred_element_type") and value is not None]  # fmt: skip
    if params.get("out_sharding") is None:
        numbers = (((*left,), (*right,)), ((*left_batch,), (*right_batch,)))
        yield Call(f"lax.dot_general(_0, _1, {text(numbers)}", tuple(options))


@rule("split")
def _parts(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    sizes, axis = params["sizes"], params["axis"]
    along = "" if axis == 0 else f", axis={axis}"
    if len(set(sizes)) == 1:
        yield f"jnp.split(_0, {len(sizes)}{along})"
    yield f"jnp.split(_0, {text([int(place) for place in np.cumsum(sizes)[:-1]])}{along})"


@rule("logistic")
def _sigmoid(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.nn.sigmoid(_0)"


@rule("rev")
def _reversed(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    cuts = ["::-1" if i in params["dimensions"] else ":" for i in range(max(params["dimensions"]) + 1)]
    yield f"_0[{', '.join(cuts)}]"


# -- random keys


@rule("random_seed")
def _seed(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.key(_0)"
    yield f"jax.random.key(_0, impl={params['impl'].name!r})"


@rule("random_wrap")
def _wrap(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.wrap_key_data(_0)"
    yield f"jax.random.wrap_key_data(_0, impl={params['impl'].name!r})"


@rule("random_unwrap")
def _unwrap(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.key_data(_0)"


@rule("random_split")
def _split(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    shape = tuple(params["shape"])
    yield f"jax.random.split(_0, {text(shape[0] if len(shape) == 1 else shape)})"


@rule("random_bits")
def _bits(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield f"jax.random.bits(_0, {text(tuple(params['shape']))}, jnp.uint{params['bit_width']})"


@rule("random_fold_in")
def _fold_in(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.random.fold_in(_0, _1)"


# -- references


@rule("get", "swap", "addupdate")
def _reference(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield from references.proposals(eqn)


@rule("new_ref", "ref", "mutable_array")
def _new_reference(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.new_ref(_0)"


@rule("freeze")
def _freeze(eqn: Any, params: dict[str, Any]) -> Iterator[str | None]:
    yield "jax.freeze(_0)"
    yield "jax.ref.freeze(_0)"
