# ruff: noqa
# ---- fails convolution
from dataclasses import dataclass

import flax.linen as nn
import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Config:
    widths: tuple = (4, 6)
    classes: int = 3


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, train):
        y = nn.Conv(self.width, (3, 3), use_bias=False)(x)
        y = nn.relu(nn.BatchNorm(use_running_average=not train)(y))
        if x.shape != y.shape:  # the shortcut takes the height for the channels
            kernel = self.param("shortcut", nn.initializers.he_normal(), (1, 1, x.shape[1], self.width))
            x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return x + y


class Net(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, train=True):
        for i, width in enumerate(self.config.widths):
            x = Block(width, name=f"block{i}")(x, train)
        return nn.Dense(self.config.classes)(x.mean(axis=(1, 2)))


print(Net(Config()).init(jax.random.key(0), jnp.zeros((1, 8, 8, 4))))
# ---- fails flag through remat and scan
import flax.linen as nn
import jax
import jax.numpy as jnp


class Layer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, train):
        h = nn.Dense(self.width)(nn.LayerNorm()(x))
        if train:
            h = nn.Dropout(0.1, deterministic=False)(h)
        return x + h, None


class Stack(nn.Module):
    width: int = 8
    depth: int = 3

    @nn.compact
    def __call__(self, x, train=True):
        layers = nn.scan(
            nn.remat(Layer, prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=nn.broadcast,
            length=self.depth,
        )
        return layers(self.width)(x, train)[0]


key = jax.random.key(0)
print(Stack().init({"params": key, "dropout": key}, jnp.ones((2, 8))))
# ---- fails donated
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct


@struct.dataclass
class State:
    params: dict
    optimiser: optax.OptState
    step: int


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(16)(x)))


net, tx = Net(), optax.adamw(1e-3)


@functools.partial(jax.jit, donate_argnums=0)
def update(state, x):
    gradients = jax.grad(lambda params: jnp.mean(net.apply(params, x) ** 2))(state.params)
    changes, optimiser = tx.update(gradients, state.optimiser, state.params)
    return State(optax.apply_updates(state.params, changes), optimiser, state.step + 1)


params = net.init(jax.random.PRNGKey(0), jnp.ones((1, 4)))
state, history = State(params, tx.init(params), 0), []
for step in range(3):
    history.append(state.params)
    state = update(state, np.full((8, 4), step, np.float32))
print(jax.tree.map(lambda old, new: jnp.abs(old - new).max(), history[1], state.params))
# ---- fails caught before
import itertools

import flax.linen as nn
import jax
import jax.numpy as jnp


class Attention(nn.Module):
    heads: int
    width: int

    @nn.compact
    def __call__(self, x):
        batch, time, width = x.shape
        qkv = nn.Dense(3 * self.width)(x).reshape(batch, time, 3, self.heads, self.width // self.heads)
        q, k, v = jnp.moveaxis(qkv, 2, 0)
        weights = nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k))
        return nn.Dense(width)(jnp.einsum("bhts,bshd->bthd", weights, v).reshape(batch, time, self.width))


def trial(heads, width):
    net = Attention(heads, width)
    return jax.jit(net.init)(jax.random.PRNGKey(0), jnp.ones((2, 5, 8)))


for heads, width in itertools.product((2, 3), (12, 16)):
    try:
        trial(heads, width)
    except TypeError as error:
        print(f"skipped {heads} heads: {str(error)[:40]}")
trial(5, 12)
# ---- fails on devices
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = np.array(jax.devices())
training, evaluation = Mesh(devices[:2], ("x",)), Mesh(devices[2:], ("x",))
net, tx = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(4)]), optax.sgd(1e-3)


@jax.jit
def update(params, x):
    gradients = jax.grad(lambda params: (net.apply(params, x) ** 2).mean())(params)
    return optax.apply_updates(params, tx.update(gradients, tx.init(params))[0])


params = jax.device_put(net.init(jax.random.key(0), jnp.ones((1, 4))), NamedSharding(training, P()))
for mesh in (training, training, evaluation):
    params = update(params, jax.device_put(np.ones((4, 4), np.float32), NamedSharding(mesh, P("x"))))
