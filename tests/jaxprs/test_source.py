"""What the source of a jaxpr looks like."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import Inexpressible, equivalent, from_source, internals, to_source

forgets_names = pytest.mark.skipif(
    internals.debug_info_class() is None, reason="this JAX keeps no names of functions within functions"
)


def source_of(fun, *args):
    return to_source(jax.make_jaxpr(fun)(*args))


def text(source):
    return inspect.cleandoc(source) + "\n"


X = np.ones((3, 4), np.float32)


def test_operators_functions_and_names():
    def layer(params, x):
        return {"loss": jnp.sum(jnp.tanh(x @ params["w"] + 1.0) ** 2), "pre": x @ params["w"]}

    assert source_of(layer, {"w": X.T}, X) == text(
        """
        import jax.numpy as jnp


        def f(params_w, x):
            loss = jnp.sum(jnp.tanh(x @ params_w + 1.0) ** 2)
            pre = x @ params_w
            return (loss, pre)
        """
    )


def test_functions_that_close_over_nothing_come_first():
    @jax.jit
    def double(x):
        return x * 2

    assert source_of(lambda x: double(double(x)), X) == text(
        """
        import jax


        @jax.jit
        def double(x):
            return x * 2.0


        def f(x):
            return double(double(x))
        """
    )


@forgets_names
def test_loops_close_over_what_is_around():
    def loop(scale, start, xs):
        return lax.scan(lambda carry, x: (carry + x * scale, carry), start, xs)

    assert source_of(loop, np.float32(2), np.float32(0), X[0]) == text(
        """
        from jax import lax


        def f(scale, start, xs):

            def body(carry, x):
                return (carry + x * scale, carry)

            a, b = lax.scan(body, start, xs)
            return (a, b)
        """
    )


@forgets_names
def test_functions_of_jax_stand_for_themselves():
    def fun(key, x):
        return jax.nn.relu(jnp.where(x > 0, x, -1.0)) + jax.random.normal(key, (4,))

    source = source_of(fun, jax.random.key(0), X)
    assert "jnp.where(x > 0.0, x, -1.0)" in source and "jax.nn.relu(" in source
    assert "jax.random.normal(key, (4,))" in source


@forgets_names
def test_rules_of_their_own_are_written():
    @jax.custom_vjp
    def clip_gradient(x):
        return x

    clip_gradient.defvjp(lambda x: (x, ()), lambda _, ct: (jnp.clip(ct, -1, 1),))
    source = source_of(lambda x: clip_gradient(x) * 2, X)
    assert re.search(r"@jax.custom_vjp\ndef clip_gradient\(\w+\):", source)
    assert "clip_gradient.defvjp(clip_gradient_fwd, clip_gradient_bwd)" in source
    np.testing.assert_array_equal(jax.grad(lambda x: from_source(source)(x).sum())(X), np.ones_like(X))


def test_constants_small_ones_inline_large_ones_by_name():
    table, weights = np.arange(1000.0, dtype=np.float32) ** 2, np.array([1.0, 2.0, 3.0, 4.0], np.float32)

    def fun(x):
        return x * weights + table[:4] + jnp.asarray(table).sum()

    source = source_of(fun, X)
    assert "jnp.array([1.0, 2.0, 3.0, 4.0])[None]" in source
    assert "const = jnp.asarray(\n    np.frombuffer(" in source.rpartition("return ")[2]
    np.testing.assert_allclose(from_source(source)(X), fun(X), rtol=1e-6)


def test_everything_is_computed_in_the_same_order():
    def fun(x):
        first = jnp.sin(x)
        second = jnp.cos(x)
        return second / first, (x[0] @ x.T) * second[:, 0]

    jaxpr = jax.make_jaxpr(fun)(X)
    assert equivalent(jax.make_jaxpr(from_source(to_source(jaxpr)))(X), jaxpr)


def test_a_program_calls_the_function():
    source = to_source(jax.make_jaxpr(lambda x: x + 1)(X), called=True)
    assert source.endswith("jax.block_until_ready(jax.jit(f)(jnp.ones((3, 4))))\n")


def test_the_function_has_the_name_that_is_asked_for():
    assert from_source(to_source(jax.make_jaxpr(jnp.sin)(X), name="step")).__name__ == "step"


def test_tracebacks_show_the_source():
    fun = from_source(source_of(lambda x: jnp.log(x), X))
    assert "return jnp.log(x)" in inspect.getsource(fun)


def test_a_callback_has_no_source():
    with pytest.raises(Inexpressible, match="pure_callback"):
        source_of(lambda x: jax.pure_callback(np.sin, x, x), X)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (lambda x, y: x + y, lambda a, b: a + b, True),
        (lambda x, y: x + y, lambda x, y: y + x, False),
        (lambda x, y: x * 2, lambda x, y: x * 3, False),
        (lambda x, y: x * 2, lambda x, y: x * np.float64(2), True),
        (lambda x, y: jnp.sin(x), lambda x, y: (jnp.cos(y), jnp.sin(x))[1], True),
        (lambda x, y: jax.jit(jnp.add)(x, y), lambda x, y: jax.jit(jnp.multiply)(x, y), False),
        (lambda x, y: jax.jit(lambda a: a + y)(x), lambda x, y: jax.jit(lambda b: b + y)(x), True),
        (
            lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * x + y, x),
            lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * x + y, x),
            True,
        ),
        (
            lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * x + y, x),
            lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * y + x, x),
            False,
        ),
    ],
)
def test_equivalence(first, second, same):
    assert equivalent(jax.make_jaxpr(first)(X, X), jax.make_jaxpr(second)(X, X)) is same


@pytest.mark.parametrize(
    "constant",
    [
        np.array([0x7FC00123, 0xFFC00001, 0x80000000, 0x7F800000], np.uint32).view(np.float32),
        np.array([0.0, -0.0] * 100, np.float32),
        np.array([-0.0, 1.0, 2.0, 3.0], np.float32),
        np.array([complex(0.0, -0.0), complex(-0.0, np.nan)], np.complex64),
    ],
)
def test_constants_are_equal_to_the_bit(constant):
    made = from_source(to_source(jax.make_jaxpr(lambda: constant)()))()  # XLA itself may drop the sign of a zero
    assert np.asarray(made).tobytes() == constant.tobytes()


def test_numbers_of_python_stay_as_they_are():
    """Also where their type has no such number."""
    assert "* 6.283185307179586 + 0.1\n" in source_of(lambda x: x * (2 * np.pi) + 0.1, 1.0)
    assert "* 0.1\n" in source_of(lambda x: x * np.float32(0.1), X)


def test_weak_conversions_on_a_mesh_of_none():
    jaxpr = jax.make_jaxpr(jax.grad(lambda x: jnp.sum(jnp.float32(x) * X)))(2.0)
    assert equivalent(jaxpr, jax.make_jaxpr(from_source(to_source(jaxpr)))(2.0))
