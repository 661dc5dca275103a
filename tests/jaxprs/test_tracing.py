"""What a function closes over comes out, whatever it is and wherever it is asked for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import closure_convert, trace

X = np.linspace(0.5, 1.5, 3).astype(np.float32)
COUNTS = jnp.arange(3)
KEY = jax.random.key(0)


def closing_over(y):
    """A function of x that closes over floats, integers, keys and y."""

    def fun(x):
        return {"a": x * y + COUNTS, "b": jax.random.normal(KEY, (3,)) + y.sum()}

    return fun


def through_closure(y):
    """The same, computed by the converted function."""
    pure, values = closure_convert(closing_over(y), X)
    assert not set(map(type, pure.__closure__ or ())) & {jax.core.Tracer}
    return jax.tree.reduce(jnp.add, jax.tree.map(jnp.sum, pure(X, *values)))


def directly(y):
    return jax.tree.reduce(jnp.add, jax.tree.map(jnp.sum, closing_over(y)(X)))


def test_everything_together():
    traced = trace(closing_over(jnp.ones(3)), X)
    assert [str(aval.dtype) for aval in traced.out_avals] == ["float32", "float32"]
    assert traced.out_tree == jax.tree.structure({"a": 0, "b": 0})
    assert sorted(str(value.dtype) for value in traced.closed_over) == ["float32", "int32", "key<fry>"]
    assert not traced.effects
    results = jax.core.eval_jaxpr(traced.jaxpr.jaxpr, traced.closed_over, X)
    np.testing.assert_allclose(results[0], closing_over(jnp.ones(3))(X)["a"], rtol=1e-6)


def test_types_are_enough_and_keywords_are_arguments():
    traced = trace(lambda x, *, scale: x["w"] * scale, {"w": jax.ShapeDtypeStruct((2,), jnp.float32)}, scale=2.0)
    assert traced.jaxpr.in_avals[1].weak_type
    assert traced.out_avals[0].shape == (2,)


def test_effects_are_told():
    assert trace(lambda x: jax.debug.print("{}", x), 1.0).effects


@pytest.mark.parametrize(
    "around",
    [
        lambda fun: fun(jnp.asarray(X)),
        lambda fun: jax.jit(fun)(X),
        lambda fun: jax.grad(fun)(X),
        lambda fun: jax.jit(jax.value_and_grad(fun))(X),
        lambda fun: jax.vmap(fun)(np.stack([X, 2 * X])),
        lambda fun: jax.vmap(jax.grad(fun))(np.stack([X, 2 * X])),
        lambda fun: jax.jvp(fun, (X,), (X,)),
        lambda fun: jax.hessian(fun)(X),
        lambda fun: lax.scan(lambda carry, y: (carry + fun(y), fun(carry * y)), 0.0, np.stack([X, 2 * X])),
        lambda fun: lax.cond(True, fun, lambda y: y.sum(), X),
        lambda fun: jax.checkpoint(fun)(X),
    ],
)
def test_inside_of_transformations(around):
    for made, wanted in zip(jax.tree.leaves(around(through_closure)), jax.tree.leaves(around(directly)), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-5)


def test_integers_and_keys_that_are_mapped():
    def each(count, key):
        pure, values = closure_convert(lambda x: x * count + jax.random.uniform(key), X)
        assert len(values) == 2
        return pure(X, *values)

    keys = jax.random.split(KEY, 2)
    made = jax.vmap(each)(jnp.arange(2), keys)
    np.testing.assert_allclose(made[1], X + jax.random.uniform(keys[1]), rtol=1e-6)


def test_a_jaxpr_over_tracers_can_be_evaluated_under_vmap():
    """JAX 0.4.27 crashed there."""

    def outer(y):
        traced = trace(lambda x: x + y, 1.0)
        return jax.core.eval_jaxpr(traced.jaxpr.jaxpr, traced.closed_over, 1.0)[0]

    np.testing.assert_array_equal(jax.vmap(outer)(jnp.arange(3.0)), [1, 2, 3])


def test_the_pure_function_takes_what_it_was_made_for():
    pure, values = closure_convert(lambda tree: tree["a"] + COUNTS, {"a": X})
    np.testing.assert_allclose(pure({"a": 2 * X}, *values), 2 * X + np.arange(3))
    with pytest.raises(TypeError, match="structure"):
        pure(X, *values)


@pytest.mark.parametrize(
    "around",
    [
        lambda fun: jax.jit(fun),
        lambda fun: jax.jit(lambda x: jax.jit(fun)(x) + jax.jit(fun)(2 * x)),
        lambda fun: lambda x: lax.scan(lambda carry, y: (jax.jit(fun)(carry), y), x, X)[0],
        lambda fun: lambda x: lax.while_loop(lambda y: jax.jit(fun)(y).sum() < 9, lambda y: jax.jit(fun)(y) + 1, x),
        lambda fun: lambda x: lax.cond(x[0] > 0, jax.jit(fun), lambda y: y * 3, x),
        lambda fun: lambda x: lax.cond(x[0] > 9, lambda y: y * 3, jax.jit(fun), x),
        lambda fun: jax.grad(lambda x: jax.jit(fun)(x).sum()),
        lambda fun: jax.vmap(jax.jit(lambda y: fun(X)[1] * y)),
    ],
)
def test_what_compiled_functions_close_over(around):
    def fun(x):
        return x * COUNTS + COUNTS[0]

    pure, values = closure_convert(around(fun), X)
    assert sum(value is COUNTS for value in values) == 1
    np.testing.assert_allclose(pure(X, *values), around(fun)(X), rtol=1e-6)
    more = COUNTS + 1
    changed = jax.jit(pure)(X, *(more if value is COUNTS else value for value in values))
    np.testing.assert_allclose(changed, around(lambda x: x * more + more[0])(X), rtol=1e-6)
