"""Plainer arrays."""

from __future__ import annotations

import pytest

from jaxshrink.observation import Array
from tests.passes.proposing import array, edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(np.arange(12))", "f(np.ones(12))"),
        ("f(np.ones((3, 4)))", "f(1.0)"),
        ("f(np.ones((3, 4)))", "f(np.ones(2))"),
        ("f(np.ones((3, 4)))", "f(np.ones(()))"),
        ("f(np.zeros(3, np.int8))", "f(np.zeros(3, int))"),
        ("f(np.zeros(3, dtype=np.int8))", "f(np.zeros(3, dtype=bool))"),
        ("f(np.zeros(3, dtype=np.int8))", "f(np.ones(1, np.int8))"),
        ("f(np.zeros(3, dtype=np.int8))", "f(np.zeros(3, dtype='int8'))"),
        ("f(np.zeros((), np.int8))", "f(np.int8(1))"),
        ("f(np.zeros((), 'int8'))", "f(np.int8(1))"),
        ("f(np.zeros(()))", "f(np.float32(1))"),
        ("f(jax.ShapeDtypeStruct((3, 4), np.float32))", "f(jax.ShapeDtypeStruct((), np.float32))"),
        ("f(jax.ShapeDtypeStruct((3, 4), np.float32))", "f(jax.ShapeDtypeStruct((3, 4), float))"),
    ],
)
def test_ones(before: str, after: str) -> None:
    assert written(after) in edits_of("ones", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import numpy as np\nf(rng.normal(2.0, size=(n, 3)))", "import numpy as np\nf(np.ones((n, 3)))"),
        ("import jax.numpy as jnp\nf(random.normal(key, (n,)))", "import jax.numpy as jnp\nf(jnp.ones((n,)))"),
    ],
)
def test_sized(before: str, after: str) -> None:
    assert edits_of("sized", before) == [written(after)]
    assert edits_of("sized", "f(rng.normal(size=n))") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = np.ones(3)\ny = np.ones(4)\nf(x @ y)\ng(y @ x)", "x = 1.0\ny = 1.0\nf(x * y)\ng(y * x)"),
        ("f(np.ones(3) @ np.zeros(3) @ a)", "f(1 * 1 * a)"),
        ("f(np.ones(3), np.zeros((3, 4), int))", "f(np.float32(1), np.int32(1))"),
    ],
)
def test_scalars(before: str, after: str) -> None:
    assert written(after) in edits_of("scalars", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(np.ones((2, 3)), np.zeros((2, 4)))", "f(np.ones((3,)), np.zeros((4,)))"),
        ("f(np.ones((2, 3)), np.zeros((2, 4)))", "f(np.ones((2,)), np.zeros((2,)))"),
        ("f(np.ones((2, 3)), np.zeros((2, 4)))", "f(np.ones((3,)), np.zeros((2, 4)))"),
        ("f(np.ones((2,)))", "f(np.ones(2))"),
        ("f(np.ones((2, 3)), (0, 1))", "f(np.ones((3,)), (1,))"),
    ],
)
def test_axes(before: str, after: str) -> None:
    assert written(after) in edits_of("axes", before)


def test_one_library() -> None:
    before = "import numpy as np\nimport jax.numpy as jnp\nf(np.ones(3), jnp.ones(4))"
    assert edits_of("one-library", before) == [
        written("import numpy as np\nf(np.ones(3), np.ones(4))"),
        written("import jax.numpy as jnp\nf(jnp.ones(3), jnp.ones(4))"),
    ]


@pytest.mark.parametrize(
    ("value", "after"),
    [
        (array(6), "f(jnp.zeros(6))"),
        (array(6), "f(jnp.arange(6))"),
        (array(2, 3), "f(jnp.arange(6).reshape(-1, 3))"),
        (array(2, 3, lib="numpy"), "f(np.linspace(0, 1, 6).reshape(-1, 3))"),
        (Array("jax", (2,), "float32", data=[0.5, 3.0]), "f(jnp.array([0.5, 3.0], jnp.float32))"),
        (Array("jax", (), "float32", data=0.5), "f(jnp.float32(0.5))"),
    ],
)
def test_other_numbers(value: Array, after: str) -> None:
    assert written(after) in edits_of("other-numbers", "f(g(h(a, b)))", {"g(h(a, b))": value})


def test_what_is_plain_keeps_its_numbers() -> None:
    assert edits_of("other-numbers", "f(jnp.ones((2, 3)))", {"jnp.ones((2, 3))": array(2, 3)}) == []
