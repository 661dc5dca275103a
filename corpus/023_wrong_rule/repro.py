"""Activations with hand-written derivatives, and a check of them before training."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

ACTIVATIONS = {}


def activation(name):
    def register(f):
        ACTIVATIONS[name] = f
        return f

    return register


@activation("softplus")
@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def softplus(x, sharpness):
    return jnp.log1p(jnp.exp(sharpness * x)) / sharpness


@softplus.defjvp
def softplus_jvp(sharpness, primals, tangents):
    (x,), (dx,) = primals, tangents
    return softplus(x, sharpness), jax.nn.sigmoid(sharpness * x) * sharpness * dx


@activation("swish")
def swish(x, sharpness):
    return x * jax.nn.sigmoid(sharpness * x)


class Layer:
    def __init__(self, kind, sharpness=2.0):
        self.f, self.sharpness = ACTIVATIONS[kind], sharpness

    def __call__(self, weights, x):
        return jnp.sum(self.f(x @ weights, self.sharpness))


def slope_by_differences(f, weights, step=1e-2):
    slope = np.zeros(weights.shape)
    for index in np.ndindex(weights.shape):
        change = np.zeros(weights.shape, np.float32)
        change[index] = step
        slope[index] = (f(weights + change) - f(weights - change)) / (2 * step)
    return slope


def check(kind):
    layer = Layer(kind)
    key = jax.random.key(4)
    weights, x = 0.3 * jax.random.normal(key, (3, 2)), jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)
    exact = jax.grad(layer)(weights, x)
    np.testing.assert_allclose(exact, slope_by_differences(lambda w: layer(w, x), weights), rtol=0.05, atol=0.01)


for kind in ACTIVATIONS:
    check(kind)
print("all derivatives are right")
