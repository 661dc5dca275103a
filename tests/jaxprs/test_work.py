"""Neither form takes more work than a jaxpr has equations, however these are nested."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source

X = np.linspace(0.1, 0.9, 3, dtype=np.float32)


def compiled(fun):
    inner = jax.jit(lambda x: fun(x) + 1)
    return lambda x: inner(inner(x))


def looped(fun):
    return lambda x: lax.fori_loop(0, 2, lambda i, y: fun(y) * x, x)


def branched(fun):
    return lambda x: lax.cond(x[0] > 0, fun, jnp.sin, x)


def ruled(fun):
    inner = jax.custom_jvp(fun)
    inner.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), tangents[0] * primals[0]))
    return lambda x: inner(x) * 2


def traced(wrap, depth):
    fun = jnp.sin
    for _ in range(depth):
        fun = wrap(fun)
    return jax.make_jaxpr(fun)(X)


def both_forms(jaxpr):
    to_source(jaxpr)
    assert equivalent(loads(dumps(jaxpr)), jaxpr)


def work(jaxpr):
    """How many functions of Python are called."""
    calls = 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        both_forms(jaxpr)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("wrap", [compiled, looped, branched, ruled])
def test_twice_the_depth_is_twice_the_work(wrap):
    both_forms(traced(wrap, 3))  # what is done once for all
    assert work(traced(wrap, 16)) < 3 * work(traced(wrap, 8))


def test_rules_without_end_are_kept_to_the_third_derivative():
    """The rule calls another function each time, as that of `odeint` does."""

    def power(n):
        fun = jax.custom_jvp(lambda x: x**n)
        fun.defjvp(lambda primals, tangents: (fun(*primals), n * power(n - 1)(*primals) * tangents[0]))
        return fun

    jaxpr = jax.make_jaxpr(power(-1.0))(2.0)
    kept = loads(dumps(jaxpr))
    for fun in (from_source(to_source(jaxpr)), lambda x: jax.core.eval_jaxpr(kept.jaxpr, kept.consts, x)[0]):
        wanted = power(-1.0)
        for _ in range(3):
            fun, wanted = jax.grad(fun), jax.grad(wanted)
            np.testing.assert_allclose(fun(2.0), wanted(2.0), rtol=1e-6)
        with pytest.raises(NotImplementedError, match="order 4"):
            jax.grad(fun)(2.0)
