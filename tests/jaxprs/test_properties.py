"""Programs that Hypothesis makes, of common primitives under transformations."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax import lax

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.comparing import assert_same_numbers, flat

UNARY = (
    jnp.sin, jnp.tanh, jnp.exp, jnp.negative, jax.nn.relu, jnp.square, lambda x: x.T, lambda x: x * 2 + 1,
    lambda x: x - x.mean(0), lambda x: x[::-1], lambda x: jnp.cumsum(x, 0), lambda x: jnp.sort(x, 1),
    lambda x: x.reshape(-1)[:9].reshape(3, 3), lambda x: x.astype(jnp.bfloat16).astype(jnp.float32), jax.nn.softmax,
    lambda x: jnp.where(x > 0, x, 0.0), lambda x: x.at[0].set(1.0), lambda x: jnp.pad(x, 1)[1:-1, 1:-1],
)  # fmt: skip
BINARY = (jnp.add, jnp.multiply, jnp.subtract, jnp.maximum, jnp.matmul, lambda x, y: x / (1 + jnp.abs(y)))
AROUND = (
    jax.jit, jax.checkpoint, lambda fun: jax.vmap(lambda x: fun(x[None] * jnp.ones((3, 1)))[0]),
    lambda fun: lambda x: lax.scan(lambda carry, _: (jnp.tanh(fun(carry)), carry.sum()), x, None, length=2)[0],
    lambda fun: lambda x: lax.cond(x.sum() > 0, fun, lambda x: x * 0.5, x),
    lambda fun: lambda x: lax.fori_loop(0, 2, lambda i, x: jnp.sin(fun(x)) + i, x),
    lambda fun: jax.grad(lambda x: fun(x).sum()), lambda fun: lambda x: jax.jvp(fun, (x,), (jnp.ones_like(x),))[1],
)  # fmt: skip

X = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)


def steps():
    """What a function does: a tree of steps, each applied to what is there."""
    unary = st.tuples(st.just("unary"), st.sampled_from(UNARY))
    binary = st.tuples(st.just("binary"), st.sampled_from(BINARY), st.integers(0, 3))
    plain = unary | binary

    def nested(inner):
        return st.lists(plain | st.tuples(st.just("around"), st.sampled_from(AROUND), inner), max_size=4)

    return st.recursive(st.lists(plain, min_size=1, max_size=4), nested, max_leaves=4)


def function(program):
    """The function of a program."""

    def fun(x):
        values = [x]
        for kind, operation, *more in program:
            if kind == "unary":
                values.append(operation(values[-1]))
            elif kind == "binary":
                values.append(operation(values[-1], values[more[0] % len(values)]))
            else:
                values.append(operation(function(more[0]))(values[-1]))
        return values[-1]

    return fun


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(steps())
def test_both_forms_keep_everything(program):
    jaxpr = jax.make_jaxpr(function(program))(X)
    source = to_source(jaxpr)
    fun, kept = from_source(source), loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(fun)(X), jaxpr), source
    assert equivalent(kept, jaxpr)
    wanted = flat(jaxpr)(X)
    assert_same_numbers(fun(X), wanted, rtol=1e-3)
    assert_same_numbers(flat(kept)(X), wanted, rtol=1e-3)
