# ruff: noqa
# ---- fails module as a body
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr


class Cell(eqx.Module):
    """A module has no hash where it holds arrays, and `scan` wants one of its body."""

    lstm: eqx.nn.LSTMCell
    dt: float = eqx.field(static=True)

    def __init__(self, size, dt=0.1, *, key):
        self.lstm = eqx.nn.LSTMCell(2, size, key=key)
        self.dt = dt

    def __call__(self, carry, x):
        h, c, t = carry
        h, c = self.lstm(x, (h, c))
        return (h, c, t + self.dt), h


class Model(eqx.Module):
    cell: Cell
    head: eqx.nn.Linear
    size: int = eqx.field(static=True)

    def __init__(self, size=8, *, key):
        cell, head = jr.split(key)
        self.cell, self.head, self.size = Cell(size, key=cell), eqx.nn.Linear(size, 1, key=head), size

    def __call__(self, xs):
        start = jnp.zeros(self.size), jnp.zeros(self.size), jnp.zeros(())
        (h, _, _), _ = jax.lax.scan(self.cell, start, xs)
        return jax.nn.sigmoid(self.head(h))


@eqx.filter_jit
@eqx.filter_value_and_grad
def loss(model, xs, ys):
    return jnp.mean((jax.vmap(model)(xs)[:, 0] - ys) ** 2)


print(loss(Model(key=jr.PRNGKey(5)), jnp.ones((4, 16, 2)), jnp.arange(4.0)))
# ---- fails loop carry
import typing

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr


class FixedPoint(eqx.Module):
    weight: jax.Array
    input: eqx.nn.Linear
    activation: typing.Callable = eqx.field(static=True, default=jnp.tanh)

    def __init__(self, size, key):
        one, two = jr.split(key)
        self.weight, self.input = 0.1 * jr.normal(one, (size, size)), eqx.nn.Linear(size, size, key=two)

    def __call__(self, x):
        given = self.input(x)

        def go_on(state):
            _, error, steps = state
            return (error > 1e-3) & (steps < 20)

        def step(state):
            z, _, steps = state
            new = self.activation(self.weight @ z + given)
            return new, jnp.sum((new - z) ** 2) > 1e-6, steps + 1

        return jax.lax.while_loop(go_on, step, (jnp.zeros_like(given), jnp.array(jnp.inf), 0))


print(eqx.filter_jit(lambda model, x: jax.vmap(model)(x))(FixedPoint(5, jr.PRNGKey(0)), jnp.ones((7, 5))))
# ---- fails backward rule
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def quantise(x, scale, bits):
    return jnp.round(jnp.clip(x / scale, -1, 1) * 2**bits) / 2**bits * scale


def forward(x, scale, bits):
    return quantise(x, scale, bits), (x, scale)


def backward(bits, kept, cotangent):
    x, scale = kept
    return (jnp.where(jnp.abs(x) <= scale, cotangent, 0.0),)  # and that of the scale?


quantise.defvjp(forward, backward)


class Linear(eqx.Module):
    weight: jax.Array
    scale: jax.Array
    bits: int = eqx.field(static=True)

    def __call__(self, x):
        return quantise(self.weight, self.scale, self.bits) @ x


@eqx.filter_jit
def update(net, state, x):
    loss, gradients = eqx.filter_value_and_grad(lambda net: jnp.mean(jax.vmap(net)(x) ** 2))(net)
    changes, state = optimiser.update(gradients, state, net)
    return eqx.apply_updates(net, changes), state, loss


net, optimiser = Linear(jr.normal(jr.PRNGKey(0), (3, 4)), jnp.ones(()), 4), optax.lion(1e-3)
update(net, optimiser.init(eqx.filter(net, eqx.is_array)), jnp.ones((6, 4)))
# ---- fails export
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jax import export


class Net(eqx.Module):
    mlp: eqx.nn.MLP
    verbose: bool = eqx.field(static=True)

    def __call__(self, x):
        y = self.mlp(x)
        if self.verbose:
            jax.debug.print("mean {}", y.mean())
        return y


net = Net(eqx.nn.MLP(4, 2, 8, 2, key=jr.key(0)), True)
params, static = eqx.partition(net, eqx.is_array)
serve = jax.jit(lambda params, x: jax.vmap(eqx.combine(params, static))(x))
export.export(serve)(params, jax.ShapeDtypeStruct((3, 4), jnp.float32))
# ---- fails checked types
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from beartype import beartype
from jaxtyping import Array, Float, jaxtyped


@jaxtyped(typechecker=beartype)
def attend(q: Float[Array, "t d"], k: Float[Array, "s d"], v: Float[Array, "s d"]):
    return jax.nn.softmax(q @ k.T / q.shape[-1] ** 0.5) @ v


class Block(eqx.Module):
    q: eqx.nn.Linear
    v: eqx.nn.Linear

    def __call__(self, x):
        q, v = jax.vmap(self.q)(x), jax.vmap(self.v)(x)
        return attend(q, q, v)


block = Block(eqx.nn.Linear(8, 8, key=jr.key(0)), eqx.nn.Linear(8, 16, key=jr.key(1)))
print(eqx.filter_jit(jax.vmap(block))(jnp.ones((2, 6, 8))))
