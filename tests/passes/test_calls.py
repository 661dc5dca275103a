"""Shorter calls of the same operation, and fewer keywords."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written

IMPORTS = "import jax\nimport jax.numpy as jnp\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jax.lax.dot_general(f(x), y, (((1,), (0,)), ((), ())), precision=None)", "jnp.dot(f(x), y)"),
        ("jax.lax.concatenate([x, y], dimension=0)", "jnp.concatenate([x, y])"),
        ("jnp.einsum('ij,jk', x, y)", "jnp.dot(x, y)"),
        ("jax.lax.add(x, f(y))", "x + f(y)"),
        (
            "jax.lax.conv_general_dilated(x, y, window_strides=(1,), padding='SAME', rhs_dilation=(1,))",
            "jax.lax.conv(x, y, (1,), 'SAME')",
        ),
        ("jax.tree_util.tree_map(f, x)", "jax.tree.map(f, x)"),
    ],
)
def test_shorter_calls(before: str, after: str) -> None:
    assert written(IMPORTS + after) in edits_of("shorter-calls", IMPORTS + before)


@pytest.mark.parametrize("source", ["lax.dot_general(x, y)", "import jax\njax.lax.dot_general(*x)"])
def test_calls_without_a_library_or_with_unknown_arguments_stay(source: str) -> None:
    assert edits_of("shorter-calls", source) == []


def test_keywords_go_together() -> None:
    texts = edits_of("keywords", "f(x, a=1, b=2, c=3, d=4)")
    assert {"f(x)", "f(x, a=1)", "f(x, b=2, d=4)"} <= set(texts)
    assert edits_of("keywords", "f(x, a=1)") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import jax\nf(jax.sharding.PartitionSpec('m'), jax.sharding.PartitionSpec())",
            "import jax\nf(jax.P('m'), jax.P())",
        ),
        ("import jax\nfrom jax.sharding import PartitionSpec as Q\nf(Q(), jax)", "import jax\nf(jax.P(), jax)"),
        ("from jax.sharding import PartitionSpec as P\nf(P())", "from jax import P\nf(P())"),
        ("from jax.experimental.shard_map import shard_map\nshard_map(f)", "from jax import shard_map\nshard_map(f)"),
    ],
)
def test_shorter_names(before: str, after: str) -> None:
    assert written(after) in edits_of("shorter-names", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jax.vmap(lambda x: x, out_axes=None)(a)", "jax.vmap(abs, out_axes=None)(a)"),
        ("jax.vmap(lambda x, y: x)(a, b)", "jax.vmap(jnp.add)(a, b)"),
        ("jax.vmap(lambda *args, **more: 0)(a, b)", "jax.vmap(jnp.add)(a, b)"),
        ("jax.vmap(lambda x, y: f(g(x), h(y)))(a, b)", None),
        ("f = lambda x: x", None),
    ],
)
def test_plain_functions(before: str, after: str | None) -> None:
    texts = edits_of("plain-functions", IMPORTS + before)
    assert texts == ([written(IMPORTS + after)] if after is not None else [])


def test_what_a_function_gives_as_what_it_is_called_with() -> None:
    texts = edits_of("plain-functions", IMPORTS + "jax.grad(lambda x: jnp.ones(1))(0.0)")
    assert texts == [written(IMPORTS + f"jax.grad({new})") for new in ("abs)(0.0", "abs)(jnp.ones(1)")]


@pytest.mark.parametrize("after", ["jax.grad(f)(0, x)", "jax.grad(f)(x, x)"])
def test_passed_on(after: str) -> None:
    assert written(after) in edits_of("passed-on", "jax.grad(lambda p: f(0, p))(x)")
