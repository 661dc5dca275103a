"""Several equations that are written as one expression, and those that are not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import equivalent, from_source, to_source
from tests.jaxprs.comparing import assert_same_results

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
I = np.array([2, 0], np.int32)  # noqa: E741 - an index
N = np.int32(3)

IDIOMS = {
    "a row": (lambda x, i, n: x[1], "x[1]"),
    "a column": (lambda x, i, n: x[:, 2], "x[:, 2]"),
    "a row that is computed": (lambda x, i, n: x[n], "x[n]"),
    "a part": (lambda x, i, n: lax.dynamic_slice(x, (n, 1), (1, 2)), "lax.dynamic_slice(x, (n, 1), (1, 2))"),
    "a part that is replaced": (
        lambda x, i, n: lax.dynamic_update_slice(x, jnp.ones((2, 2)), (n, 0)),
        "lax.dynamic_update_slice(x, jnp.ones((2, 2)), (n, 0))",
    ),
    "rows": (lambda x, i, n: x[i], "x[i]"),
    "columns": (lambda x, i, n: x[:, i], "x[:, i]"),
    "rows that are set": (lambda x, i, n: x.at[i].set(0.5), "x.at[i].set(0.5)"),
    "rows that are added to": (lambda x, i, n: x.at[i].add(1.5), "x.at[i].add(1.5)"),
    "columns that are set": (lambda x, i, n: x.at[:, i].set(0.0), "x.at[:, i].set(0.0)"),
    "an element that is computed": (lambda x, i, n: x[n, 1], "x[n, 1]"),
    "elements": (lambda x, i, n: x[i, i], "x[i, i]"),
    "elements that are set": (lambda x, i, n: x.at[i, i].set(0.5), "x.at[i, i].set(0.5)"),
    "a column that is set": (lambda x, i, n: x.at[:, 1].set(0.0), "x.at[:, 1].set(0.0)"),
    "a row that is added to": (lambda x, i, n: x.at[2].add(0.5), "x.at[2].add(0.5)"),
    "a block that is set": (lambda x, i, n: x.at[1:3].set(7.0), "x.at[1:].set(7.0)"),
    "a part of a column that is set": (lambda x, i, n: x.at[1:, 2].set(7.0), "x.at[1:, 2].set(7.0)"),
    "rows that may be missing": (
        lambda x, i, n: x.at[i].get(mode="fill", fill_value=-1.0), "x.at[i].get(mode='fill', fill_value=-1.0)",
    ),
    "rows within bounds": (lambda x, i, n: x.at[i].get(mode="clip"), "x.at[i].get(mode='clip')"),
    "rows of which more is known": (
        lambda x, i, n: x.at[i].set(0.5, mode="clip", unique_indices=True),
        "x.at[i].set(0.5, mode='clip', unique_indices=True)",
    ),
    "a product of all with all": (lambda x, i, n: jnp.tensordot(x, x, 0), "jnp.tensordot(x, x, axes=0)"),
    "a pool": (
        lambda x, i, n: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "SAME"),
        "lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), 'SAME')",
    ),
    "a sum of products": (lambda x, i, n: jnp.einsum("ij,kj", x, x), "jnp.tensordot(x, x, axes=(1, 1))"),
    "a slice that says its step": (lambda x, i, n: lax.slice(x, (0, 1), (3, 3), (1, 1)),
                                   "lax.slice_in_dim(x, 1, 3, axis=1)"),
    "a sum that keeps its axis": (lambda x, i, n: x.sum(1, keepdims=True), "jnp.sum(x, axis=1, keepdims=True)"),
    "a mean": (lambda x, i, n: jnp.mean(x), "jnp.mean(x)"),
    "a mean along an axis": (lambda x, i, n: x.mean(1), "jnp.mean(x, axis=1)"),
    "a mean that keeps its axis": (lambda x, i, n: x.mean(0, keepdims=True), "jnp.mean(x, axis=0, keepdims=True)"),
    "an identity matrix": (lambda x, i, n: jnp.eye(3) @ x, "jnp.eye(3) @ x"),
    "a softmax": (lambda x, i, n: jax.nn.softmax(x), "jax.nn.softmax(x)"),
    "a softmax along an axis": (lambda x, i, n: jax.nn.softmax(x, 0), "jax.nn.softmax(x, axis=0)"),
    "an activation": (lambda x, i, n: jax.nn.gelu(x), "jax.nn.gelu(x)"),
    "an integer that becomes a float": (lambda x, i, n: x * (n / 2), "x * (n / 2)"),
}


def written(fun):
    """The lines of the function that a program is written as; it does the same."""
    jaxpr = jax.make_jaxpr(fun)(X, I, N)
    source = to_source(jaxpr)
    made = from_source(source)
    assert equivalent(jax.make_jaxpr(made)(X, I, N), jaxpr), source
    assert_same_results((fun, made), (X, I, N))
    return source.rpartition("def f(x, i, n):\n")[2].splitlines()


@pytest.mark.parametrize("name", IDIOMS)
def test_one_expression(name):
    fun, expression = IDIOMS[name]
    assert " ".join(line.strip() for line in written(fun)) == f"return {expression}"


def test_rows_that_are_multiplied_with_others():
    assert written(lambda x, i, n: x.at[i].multiply(x[1:])) == ["    a = x[1:]", "    return x.at[i].multiply(a)"]


def test_what_is_read_elsewhere_stays():
    def fun(x, i, n):
        total = jnp.sum(x, axis=1)
        return total / 4, total

    assert "jnp.mean" not in "".join(written(fun))


def test_other_numbers_are_no_mean():
    assert written(lambda x, i, n: jnp.sum(x, axis=1) / 3) == ["    return jnp.sum(x, axis=1) / 3.0"]


def test_scopes_are_not_mixed():
    def fun(x, i, n):
        with jax.named_scope("total"):
            total = jnp.sum(x, axis=1)
        return total / 4

    assert "jnp.mean" not in "".join(written(fun))
