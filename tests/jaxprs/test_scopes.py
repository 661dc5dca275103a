"""Scopes (`jax.named_scope`) in both forms: each equation stays in its own."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import dumps, from_source, internals, loads, to_source
from tests.jaxprs.comparing import assert_same_results, flat

X = np.array([0.5, 1.0, 2.0], np.float32)


def scoped(x):
    with jax.named_scope("outer"):
        x = jnp.sin(x)
        with jax.named_scope("inner"):
            y = x * 2 + jnp.cos(x)

        def step(carry, x):
            with jax.named_scope("step"):
                return carry * x, carry

        total, _ = lax.scan(step, jnp.float32(1), y)
    return total * y.sum()


def scopes(jaxpr):
    """Primitives with their scopes, in this jaxpr and those in it. Sums of cotangents are sums like others."""
    for eqn in internals.opened(jaxpr).eqns:
        yield eqn.primitive.name.removesuffix("_any"), internals.scopes(eqn)
        for part in filter(internals.is_jaxpr, eqn.params.values()):
            yield from scopes(part)


@pytest.mark.parametrize(
    ("fun", "x"), [(scoped, X), (jax.grad(scoped), X), (jax.vmap(scoped), np.stack([X, X + 1])), (jax.jit(scoped), X)]
)
def test_each_equation_stays_in_its_scopes(fun, x):
    jaxpr = jax.make_jaxpr(fun)(x)
    made, kept = from_source(to_source(jaxpr)), loads(dumps(jaxpr))
    assert list(scopes(kept)) == list(scopes(jaxpr))
    again = {name: found for name, found in scopes(jax.make_jaxpr(made)(x)) if found}
    assert again == {name: found for name, found in scopes(jaxpr) if found} != {}
    assert_same_results((flat(jaxpr), made, flat(kept)), (x,))


def test_equations_of_one_scope_stand_together():
    def fun(x):
        with jax.named_scope("first"):
            y = jnp.sin(x)
            with jax.named_scope("second"):
                z = jnp.sum(y)
            y = y * z
        return y + z

    assert to_source(jax.make_jaxpr(fun)(X)) == inspect.cleandoc(
        """
        import jax
        import jax.numpy as jnp


        def f(x):
            with jax.named_scope('first'):
                a = jnp.sin(x)
                with jax.named_scope('second'):
                    b = jnp.sum(a)
                c = a * b
            return c + b
        """
    ) + "\n"
