"""Observed values written down as plain source."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from jaxshrink.observation import Array, Collection, Dictionary, Literal, Opaque, Public, Recipe, Struct
from jaxshrink.render import MAX_NODES, Style, Unrenderable, array, plain


def jax_array(*shape: int, dtype: str = "float32", **other: Any) -> Array:
    return Array("jax", shape, dtype, **other)


def numpy_array(*shape: int, dtype: str = "float64", **other: Any) -> Array:
    return Array("numpy", shape, dtype, **other)


@pytest.mark.parametrize(
    ("recipe", "source"),
    [
        (jax_array(3), "jnp.ones(3)"),
        (jax_array(2, 3), "jnp.ones((2, 3))"),
        (jax_array(0, 3), "jnp.ones((0, 3))"),
        (jax_array(3, dtype="int32"), "jnp.ones(3, int)"),
        (jax_array(3, dtype="bool"), "jnp.ones(3, bool)"),
        (jax_array(3, dtype="bfloat16"), "jnp.ones(3, jnp.bfloat16)"),
        (jax_array(), "jnp.float32(1)"),
        (jax_array(dtype="int32"), "jnp.int32(1)"),
        (jax_array(dtype="bool"), "jnp.bool_(True)"),
        (jax_array(weak=True), "1.0"),
        (jax_array(dtype="int32", weak=True), "1"),
        (jax_array(dtype="complex64", weak=True), "1j"),
        (numpy_array(3), "np.ones(3)"),
        (numpy_array(3, dtype="float32"), "np.ones(3, np.float32)"),
        (numpy_array(3, dtype="int64"), "np.ones(3, np.int64)"),
        (numpy_array(3, dtype="int32"), "np.ones(3, np.int32)"),
        (numpy_array(dtype="bool", scalar=True), "np.bool_(True)"),
        (numpy_array(dtype="float32", scalar=True), "np.float32(1)"),
        (numpy_array(3, dtype="bfloat16"), "np.ones(3, jnp.bfloat16)"),
        (jax_array(dtype="key<fry>", key=True), "jax.random.key(0)"),
        (jax_array(4, dtype="key<fry>", key=True), "jax.random.split(jax.random.key(0), (4,))"),
    ],
)
def test_arrays_of_ones(recipe: Array, source: str) -> None:
    assert ast.unparse(array(recipe)) == source


@pytest.mark.parametrize(
    ("recipe", "style", "source"),
    [
        (jax_array(3), Style.ZEROS, "jnp.zeros(3)"),
        (jax_array(3, dtype="bool"), Style.ZEROS, "jnp.zeros(3, bool)"),
        (jax_array(3, dtype="int32", min=-2), Style.LOWEST, "jnp.full(3, -2, int)"),
        (jax_array(3, min=0.0), Style.LOWEST, "jnp.zeros(3)"),
        (jax_array(3, min=1.0), Style.LOWEST, "jnp.ones(3)"),
        (jax_array(3, min=float("-inf")), Style.LOWEST, "jnp.ones(3)"),
        (jax_array(2, dtype="int32", data=[3, 4], min=3), Style.EXACT, "jnp.array([3, 4], int)"),
        (jax_array(2, data=[1.5, float("inf")], min=1.5), Style.EXACT, "jnp.array([1.5, float('inf')], jnp.float32)"),
        (jax_array(2, data=[1.5, float("-inf")], min=1.5), Style.EXACT, "jnp.array([1.5, -float('inf')], jnp.float32)"),
        (jax_array(2, nan=True, data=[1.5, float("nan")], min=1.5), Style.EXACT, "jnp.full(2, 1.5)"),
        (jax_array(data=2.5), Style.EXACT, "jnp.float32(2.5)"),
        (jax_array(weak=True, data=2), Style.EXACT, "2.0"),
        (jax_array(9, dtype="int32", min=4), Style.EXACT, "jnp.full(9, 4, int)"),
        (jax_array(2, dtype="complex64", data=["1j", "(1+2j)"]), Style.EXACT, "jnp.array([1j, 1 + 2j], jnp.complex64)"),
    ],
)
def test_other_numbers(recipe: Array, style: Style, source: str) -> None:
    assert ast.unparse(array(recipe, style)) == source


@pytest.mark.parametrize("dtype", ["<U3", "|S2", "datetime64[ns]", "[('a', '<f4')]", "object", "key<fry>"])
def test_arrays_of_what_is_no_number_have_no_source(dtype: str) -> None:
    with pytest.raises(Unrenderable):
        array(numpy_array(3, dtype=dtype))


def test_shapes_with_unknown_sizes_have_no_source() -> None:
    shape: Any = ("b", 3)
    with pytest.raises(Unrenderable):
        array(Array("jax", shape, "float32"))


@pytest.mark.parametrize(
    ("objects", "source"),
    [
        ((Literal("'text'"),), "'text'"),
        ((Collection("list", (1, 2)), Literal("1"), jax_array(2)), "[1, jnp.ones(2)]"),
        ((Collection("tuple", (1,)), Literal("1")), "(1,)"),
        ((Collection("set", (1,)), Literal("1")), "{1}"),
        ((Dictionary("dict", (1,), (2,)), Literal("'k'"), jax_array(2)), "{'k': jnp.ones(2)}"),
        ((Struct((2, 3), "float32"),), "jax.ShapeDtypeStruct((2, 3), jnp.float32)"),
        ((Collection("list", ()),), "[]"),
    ],
)
def test_plain_values(objects: tuple[Recipe, ...], source: str) -> None:
    assert ast.unparse(plain(0, objects)) == source


@pytest.mark.parametrize(
    "objects",
    [
        (Opaque("C"),),
        (Public("jax.jit"),),
        (Collection("list", (1,)), Opaque("C")),
        (Collection("set", ()),),
        (Dictionary("collections.OrderedDict", (), ()),),
        (Collection("list", tuple([1] * MAX_NODES)), Literal("1")),
        (Collection("list", (0,)),),
    ],
)
def test_what_is_not_plain(objects: tuple[Recipe, ...]) -> None:
    with pytest.raises(Unrenderable):
        plain(0, objects)
