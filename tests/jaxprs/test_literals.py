"""Literals where JAX would compute with numbers at once, or keep them as constants: both forms leave them literals."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import dumps, equivalent, from_source, internals, loads, to_source

X = np.linspace(0.5, 1.5, 4).astype(np.float32)


def flat(jaxpr):
    return lambda *leaves: jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *leaves)


def assert_both_forms(jaxpr, *args):
    made, kept = from_source(to_source(jaxpr)), loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(made)(*args), jaxpr)
    assert equivalent(kept, jaxpr)
    mapped = [jax.make_jaxpr(jax.vmap(fun))(*(np.stack([arg, arg]) for arg in args))
              for fun in (flat(jaxpr), made, flat(kept))]  # fmt: skip
    assert equivalent(mapped[1], mapped[0])
    assert equivalent(mapped[2], mapped[0])


@functools.partial(jax.jit, inline=True)
def scanned(k, x):
    return lax.scan(lambda carry, y: (carry * lax.neg(k) + y, k**k), k, x)


@functools.partial(jax.jit, inline=True)
def repeated(k, x):
    return lax.while_loop(lambda carry: carry[0] < lax.sin(k), lambda carry: (carry[0] + lax.neg(k), carry[1]), (k, x))


@functools.partial(jax.jit, inline=True)
def solved(k, x):
    return lax.custom_linear_solve(lambda y: y * lax.neg(k), x, lambda _, y: y / lax.neg(k), symmetric=True)


@pytest.mark.parametrize("number", [np.float32(2), 2.0])
@pytest.mark.parametrize("fun", [scanned, repeated, solved])
def test_what_loops_and_solvers_close_over(fun, number):
    jaxpr = jax.make_jaxpr(functools.partial(fun, number))(X)
    if not any(isinstance(atom, internals.Literal) for atom in jaxpr.eqns[-1].invars):
        pytest.skip("this JAX makes no literals of what it inlines")
    assert_both_forms(jaxpr, X)


def test_a_literal_that_is_converted_to_its_own_type():
    jaxpr = jax.make_jaxpr(lambda x, y: x * lax.neg(lax.convert_element_type(y, jnp.float32)))(X, jnp.bfloat16(1))
    convert = jaxpr.eqns[0]
    literal = internals.Literal(np.float32(2), jaxpr.out_avals[0].update(shape=()))
    eqns = [convert.replace(invars=[literal]), *jaxpr.eqns[1:]]
    jaxpr = internals.ClosedJaxpr(jaxpr.jaxpr.replace(eqns=eqns), jaxpr.consts)
    assert "lax.neg(np.float32(2.0))" in to_source(jaxpr)
    assert equivalent(jax.make_jaxpr(from_source(to_source(jaxpr)))(X, jnp.bfloat16(1)), jaxpr)


def test_numbers_of_weak_types_within_functions_that_are_compiled_later():
    assert_both_forms(jax.make_jaxpr(jax.checkpoint(lambda x: x / jnp.sqrt(2)))(X), X)


def test_tangents_of_integers():
    def gradients(x, n):
        _, pull = jax.vjp(lambda x, n, m: x * n.sum() * m, x, n, 3)
        return pull(x)

    n = np.arange(4)
    jaxpr = jax.make_jaxpr(gradients)(X, n)
    assert [aval.shape for aval in jaxpr.out_avals] == [(4,), (4,), ()]
    made, kept = from_source(to_source(jaxpr)), loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(made)(X, n), jaxpr)
    assert equivalent(kept, jaxpr)
    assert made(X, n)[1].dtype == jax.dtypes.float0


def test_rules_that_branch_on_what_they_keep():
    @jax.custom_vjp
    def scaled(x):
        return x * 3

    scaled.defvjp(lambda x: (scaled(x), (x, True)), lambda kept, ct: ((ct * kept[0] if kept[1] else ct),))
    jaxpr = jax.make_jaxpr(scaled)(X)
    for fun in (from_source(to_source(jaxpr)), lambda x: flat(loads(dumps(jaxpr)))(x)[0]):
        np.testing.assert_array_equal(jax.grad(lambda x, fun=fun: fun(x).sum())(X), X)
