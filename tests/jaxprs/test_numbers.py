"""Numbers of Python that a function closes over come out where a value may stand for them."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import closure_convert, dumps, equivalent, loads, trace

X = np.linspace(0.5, 1.5, 4).astype(np.float32)


def scaled(by):
    return lambda x: x * by


class Line(NamedTuple):
    slope: float
    offset: float

    def at(self, x):
        return self.slope * x + self.offset


def default(x, by=2.5):
    return x * by


def keyword(x, *, by=2.5):
    return x * by


def nested(by):
    def inner(x):
        return jnp.sin(x) * by

    return lambda x: inner(x) + inner(2 * x)


def in_loops(rate, target):
    def step(h, x):
        return h + rate * (x - target), h

    return lambda x: lax.scan(step, 0.0, x)[0]


def seeded(seed):
    return lambda x: x + jax.random.uniform(jax.random.key(seed), (4,))


@pytest.mark.parametrize(
    ("fun", "values"),
    [
        (scaled(2.5), [2.5]),
        (scaled(3), [3]),
        (scaled(1j), [1j]),
        (scaled(np.float32(2.5)), [2.5]),
        (scaled(np.array(2.5, np.float16)), [2.5]),
        (functools.partial(jnp.multiply, 2.5), [2.5]),
        (Line(2.0, 0.5).at, [2.0, 0.5]),
        (default, [2.5]),
        (keyword, [2.5]),
        (nested(2.5), [2.5]),
        (in_loops(0.1, 2.0), [0.1, 2.0]),
        (seeded(3), [3]),
    ],
)
def test_numbers_are_values(fun, values):
    pure, found = closure_convert(fun, X)
    np.testing.assert_allclose(found, values)
    np.testing.assert_allclose(pure(X, *found), fun(X), rtol=1e-6)


def steps(count):
    def fun(x):
        for _ in range(count):
            x = jnp.sin(x)
        return x

    return fun


@pytest.mark.parametrize(
    "fun",
    [
        steps(3),  # loops of Python
        (lambda count: lambda x: lax.fori_loop(0, count, lambda _, x: x * x, x))(3),  # one that has a derivative
        (lambda axis: lambda x: x[None].sum(axis))(1),
        (lambda size: lambda x: jnp.zeros(size).at[:4].add(x))(8),
        (lambda exponent: lambda x: x**exponent)(3),  # `integer_pow` has the better derivative
        (lambda limit: lambda x: x if limit > 2 else -x)(3.0),
        (lambda flag: lambda x: x * flag)(True),
        jnp.sum,
    ],
)
def test_some_must_be_numbers(fun):
    pure, found = closure_convert(fun, X)
    assert not found
    np.testing.assert_allclose(pure(X), fun(X))
    assert equivalent(trace(fun, X).jaxpr, jax.make_jaxpr(fun)(X))


def test_one_number_may_and_another_not():
    def power(exponent, by, axis):
        return lambda x: (by * x[None] ** exponent).sum(axis)

    pure, found = closure_convert(power(3, 2.5, 0), X)
    np.testing.assert_allclose(found, [2.5])
    np.testing.assert_allclose(pure(X, 1.0), X**3, rtol=1e-6)


def test_other_values_derivatives_and_maps():
    pure, (slope, offset) = closure_convert(Line(2.0, 0.5).at, X)
    np.testing.assert_allclose(pure(X, 3.0, 1.0), 3 * X + 1)
    gradient = jax.jit(jax.grad(lambda *args: pure(*args).sum(), (1, 2)))(X, slope, offset)
    np.testing.assert_allclose(gradient, [X.sum(), 4])
    assert jax.vmap(pure, (None, 0, None))(X, jnp.arange(3.0), offset).shape == (3, 4)


def test_types_stay_as_weak_as_they_were():
    half = jnp.ones(3, jnp.bfloat16)
    assert trace(scaled(2.5), half).out_avals == tuple(jax.make_jaxpr(scaled(2.5))(half).out_avals)


def test_what_nothing_reads_is_not_there():
    assert len(trace((lambda unused, by: lambda x: (unused, x * by)[1])(1.0, 2.0), X).closed_over) == 1


def test_a_function_that_calls_itself():
    def fun(x, times=2, by=0.5):
        return x if times == 0 else by * fun(x, times - 1)

    pure, found = closure_convert(fun, X)
    np.testing.assert_allclose(pure(X, *found), X / 4)


def test_the_jaxpr_is_one_like_others():
    jaxpr = trace(in_loops(0.1, 2.0), X).jaxpr
    assert equivalent(loads(dumps(jaxpr)), jaxpr)


def test_nothing_leaks():
    with jax.checking_leaks():
        for fun in (nested(2.5), in_loops(0.1, 2.0), steps(3)):
            pure, found = closure_convert(fun, X)
            jax.jit(jax.vmap(pure, (0, *[None] * len(found))))(X[None], *found)
