"""Constant arrays of a jaxpr as source: small ones where they are read, others by name, large ones as their bytes."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxshrink.inside.capture.constants import EXACT, INLINE, literal
from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.texts import VALUES, text


class Arrays:
    """Expressions for arrays. `lines` define those that have names, `data` those that are told by their bytes."""

    def __init__(self, new: Callable[[str | None], str]) -> None:
        self.new = new
        self.lines: list[str] = []
        self.data: list[str] = []
        self.known: dict[int, tuple[Any, str]] = {}

    def expression(self, value: Any, is_single: bool) -> str:
        """An expression for an array; the same array gets the same name. `is_single`: it is read once."""
        if id(value) in self.known:
            return self.known[id(value)][1]
        source = _source(value)
        if is_single and np.size(value) <= INLINE and source.startswith("jnp.array("):  # JAX would trace others
            return source
        name = self.new("const")
        self.known[id(value)] = value, name
        (self.data if "frombuffer" in source else self.lines).append(f"{name} = {source}")
        return name


def _source(value: Any) -> str:
    if internals.is_keys(value):
        data = _of_array(np.asarray(jax.random.key_data(value)))
        return f"jax.random.wrap_key_data({data}, impl={str(jax.random.key_impl(value))!r})"
    array = np.asarray(value)
    if getattr(getattr(value, "aval", None), "weak_type", False) and not array.shape:
        return f"jnp.asarray({VALUES.source(array.item())})"
    return _of_array(array)


def _of_array(array: np.ndarray) -> str:
    dtype, shape = text(array.dtype), text(array.shape[0] if array.ndim == 1 else array.shape)
    if array.dtype == jax.dtypes.float0:
        return f"np.zeros({shape}, {dtype})"
    if array.ndim == 1 and array.size > 2 and array.dtype.kind in "iuf" and _is_range(array):
        return f"jnp.arange({array.size}, dtype={dtype})"
    if (array.size <= EXACT or _is_uniform(array)) and _is_plain(array):
        return str(literal("jnp", array, array.dtype))
    packed = base64.b85encode(zlib.compress(array.tobytes(), 9)).decode()
    return f"jnp.asarray(np.frombuffer(zlib.decompress(base64.b85decode({packed!r})), {dtype}).reshape({shape}))"


def _is_uniform(array: np.ndarray) -> bool:
    return bool(array.size) and _same(array, np.full(array.shape, array.flat[0], array.dtype))


def _is_range(array: np.ndarray) -> bool:
    return _same(array, np.arange(array.size).astype(array.dtype))


def _is_plain(array: np.ndarray) -> bool:
    """Whether numbers as they are written hold all of it: not so NaNs with a sign or a payload, and zeros of either
    sign where all would be written as one number."""
    array = np.ascontiguousarray(array)
    parts = array.reshape(-1).view(array.real.dtype) if array.dtype.kind == "c" else array
    plain = parts.copy()
    plain[parts != parts] = np.nan if (parts != parts).any() else 0
    is_one = bool(array.size) and bool((array == array.flat[0]).all())
    return _same(parts, plain) and (not is_one or _is_uniform(array))


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays of one type are equal to the bit: zeros have signs."""
    return first.tobytes() == second.tobytes()
