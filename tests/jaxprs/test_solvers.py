"""Roots and solutions whose derivatives are implicit, in both forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.flatten_util import ravel_pytree

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source

A = (np.eye(3) * 2 + np.arange(9).reshape(3, 3) * 0.1).astype(np.float32)
B = np.arange(1, 4).astype(np.float32)


def newton(f, y):
    """JAX could not differentiate this."""
    return lax.while_loop(lambda s: s[1] < 20, lambda s: (s[0] - 0.3 * f(s[0]), s[1] + 1), (y, 0))[0]


def dense(g, y):
    flat, unravel = ravel_pytree(y)
    return unravel(jnp.linalg.solve(jax.jacobian(lambda v: ravel_pytree(g(unravel(v)))[0])(flat), flat))


def root(a, b):
    return lax.custom_root(lambda y: a @ y + 0.1 * y**3 - b, jnp.zeros(3), newton, dense).sum()


def root_of_tree(a, b):
    def f(y):
        return {"first": y["first"] ** 2 - b[0], "second": y["second"] - y["first"] * a[0, 0]}

    def solve(f, y):
        return lax.fori_loop(0, 30, lambda i, y: jax.tree.map(lambda one, off: one - 0.2 * off, y, f(y)), y)

    found = lax.custom_root(f, {"first": b[1], "second": b[1]}, solve, dense)
    return found["first"] + found["second"]


def root_with_more(a, b):
    def solve(f, y):
        return newton(f, y), f(y)

    return lax.custom_root(lambda y: y - b, jnp.zeros(3), solve, dense, has_aux=True)[0].sum() * a.sum()


def solution(a, b):
    return lax.custom_linear_solve(
        lambda x: a @ x, b, lambda _, b: jnp.linalg.solve(a, b), lambda _, b: jnp.linalg.solve(a.T, b)
    ).sum()


def symmetric_solution(a, b):
    whole = a @ a.T

    def solve(matvec, b):
        return lax.while_loop(lambda s: s[1] < 50, lambda s: (s[0] + 0.1 * (b - matvec(s[0])), s[1] + 1), (b, 0))[0]

    return lax.custom_linear_solve(lambda x: whole @ x, b, solve, symmetric=True).sum()


def solution_of_tree(a, b):
    first, second = lax.custom_linear_solve(
        lambda x: (a @ x[0], 2 * x[1]), (b, b), lambda _, b: (jnp.linalg.solve(a, b[0]), b[1] / 2),
        lambda _, b: (jnp.linalg.solve(a.T, b[0]), b[1] / 2),
    )  # fmt: skip
    return (first * second).sum()


FUNCTIONS = (root, root_of_tree, root_with_more, solution, symmetric_solution, solution_of_tree)


@pytest.mark.parametrize("fun", FUNCTIONS, ids=lambda fun: fun.__name__)
def test_implicit_derivatives_stay(fun):
    jaxpr = jax.make_jaxpr(fun)(A, B)
    made, kept = from_source(to_source(jaxpr)), loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(made)(A, B), jaxpr)
    assert equivalent(kept, jaxpr)

    def with_derivatives(fun):
        return jax.jit(lambda *args: (jax.value_and_grad(fun, (0, 1))(*args), jax.jvp(fun, args, args)))

    wanted, *others = (
        with_derivatives(one)(A, B) for one in (fun, made, lambda *args: jax.core.eval_jaxpr(kept.jaxpr, (), *args)[0])
    )
    for one in others:
        jax.tree.map(lambda one, two: np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-5), one, wanted)
