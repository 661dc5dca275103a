"""Derivative rules that ask which of their arguments are differentiated (`symbolic_zeros`), in both forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_derivatives import SymbolicZero

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source


def is_zero(tangent):
    return isinstance(tangent, SymbolicZero)


@jax.custom_jvp
def forward(x, y, n):
    return jnp.sin(x) * y**n


def _forward_jvp(primals, tangents):
    (x, y, n), (x_dot, y_dot, n_dot) = primals, tangents
    assert is_zero(n_dot)
    out = jnp.zeros_like(x)
    out = out if is_zero(x_dot) else out + jnp.cos(x) * y**n * x_dot
    out = out if is_zero(y_dot) else out + jnp.sin(x) * n * y ** (n - 1) * y_dot
    return forward(x, y, n), out


forward.defjvp(_forward_jvp, symbolic_zeros=True)


@jax.custom_vjp
def reverse(x, y, n):
    return jnp.sin(x) * y**n


reverse.defvjp(
    lambda x, y, n: (jnp.sin(x.value) * y.value**n.value, (jnp.cos(x.value), x.value, y.value, n.value)),
    lambda kept, ct: (kept[0] * kept[2] ** kept[3] * ct, jnp.sin(kept[1]) * kept[3] * kept[2] ** (kept[3] - 1) * ct,
                      None),
    symbolic_zeros=True,
)  # fmt: skip


@jax.custom_jvp
def forward_in_some(x, y, n):
    return jnp.sin(x) * y**n


def _forward_in_some_jvp(primals, tangents):
    if not is_zero(tangents[1]):
        raise TypeError("y has no derivative")
    x, y, n = primals
    return forward_in_some(x, y, n), jnp.cos(x) * y**n * tangents[0]


forward_in_some.defjvp(_forward_in_some_jvp, symbolic_zeros=True)


@jax.custom_vjp
def reverse_in_some(x, y, n):
    return jnp.sin(x) * y**n


def _reverse_in_some_fwd(x, y, n):
    if y.perturbed:
        raise TypeError("y has no derivative")
    return jnp.sin(x.value) * y.value**n.value, (x.value, y.value, n.value)


reverse_in_some.defvjp(
    _reverse_in_some_fwd,
    lambda kept, ct: (jnp.cos(kept[0]) * kept[1] ** kept[2] * ct, None, None),
    symbolic_zeros=True,
)

ARGS = (np.float32(0.5), np.float32(2), np.int32(3))


def forms(fun):
    """A function, and what its source and its bytes give back."""
    jaxpr = jax.make_jaxpr(lambda x, y, n: fun(x, y, n))(*ARGS)
    made, kept = from_source(to_source(jaxpr)), loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(made)(*ARGS), jaxpr)
    assert equivalent(kept, jaxpr)
    return fun, made, lambda *args: jax.core.eval_jaxpr(kept.jaxpr, kept.consts, *args)[0]


@pytest.mark.parametrize("fun", [forward, reverse])
@pytest.mark.parametrize("places", [0, 1, (0, 1)])
def test_for_any_of_the_arguments(fun, places):
    wanted, *others = (jax.value_and_grad(one, places)(*ARGS) for one in forms(fun))
    for one in others:
        jax.tree.map(np.testing.assert_allclose, one, wanted)


@pytest.mark.parametrize("fun", [forward_in_some, reverse_in_some])
def test_for_those_that_the_rule_takes(fun):
    wanted, *others = forms(fun)
    for one in others:
        np.testing.assert_allclose(jax.grad(one)(*ARGS), jax.grad(wanted)(*ARGS))
        with pytest.raises(NotImplementedError):
            jax.grad(one, 1)(*ARGS)
