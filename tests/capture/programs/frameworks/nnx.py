# ruff: noqa
# ---- fails ensemble
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Member(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.Linear(4, 8, rngs=rngs)
        self.outer = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.outer(jax.nn.tanh(self.inner(x)))


@nnx.split_rngs(splits=5)
@nnx.vmap(in_axes=(0,), out_axes=0)
def create(rngs):
    return Member(rngs)


@nnx.vmap(in_axes=(0, 0), out_axes=0)
def forward(model, x):
    return model(x)


@nnx.jit
def train(model, optimiser, x, y):
    loss, gradients = nnx.value_and_grad(lambda model: jnp.mean((forward(model, x) - y) ** 2))(model)
    optimiser.update(model, gradients)
    return loss


model = create(nnx.Rngs(0))
optimiser = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
x = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
print(train(model, optimiser, x[:10], np.sin(x[:10].sum(1, keepdims=True))))
# ---- fails host statistics
import collections

import jax
import numpy as np
import optax
from flax import nnx


class Metrics:
    def __init__(self):
        self.totals = collections.defaultdict(float)

    def confusion(self, logits, labels, n=3):
        counts = np.zeros((n, n))
        np.add.at(counts, (labels, np.argmax(logits, -1)), 1)
        return counts


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.head = nnx.Linear(4 * 36, 3, rngs=rngs)

    def __call__(self, x):
        return self.head(nnx.relu(self.norm(self.conv(x))).reshape(x.shape[0], -1))


metrics = Metrics()


@nnx.jit
def train(model, x, y):
    def loss(model):
        logits = model(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits

    (value, logits), gradients = nnx.value_and_grad(loss, has_aux=True)(model)
    return value, metrics.confusion(logits, y)


rng = np.random.default_rng(0)
print(train(Classifier(nnx.Rngs(0)), rng.normal(size=(5, 6, 6, 1)).astype(np.float32), rng.integers(0, 3, 5)))
# ---- fails half precision carry
import jax.numpy as jnp
from flax import nnx


class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(8, 8, rngs=rngs, dtype=jnp.bfloat16)
        self.norm = nnx.LayerNorm(8, rngs=rngs)

    def __call__(self, x):
        return self.linear(nnx.gelu(self.norm(x)))


@nnx.split_rngs(splits=3)
@nnx.vmap(in_axes=0, out_axes=0)
def create(rngs):
    return Block(rngs)


class Model(nnx.Module):
    def __init__(self, rngs):
        self.embedding = nnx.Linear(4, 8, rngs=rngs)
        self.blocks = create(rngs)

    def __call__(self, x):
        @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
        def run(x, block):
            return block(x)

        return run(self.embedding(x), self.blocks)


model = Model(nnx.Rngs(0))
print(nnx.jit(nnx.grad(lambda model, x: model(x).mean()))(model, jnp.ones((3, 4))))
# ---- fails other trace
import jax
import jax.numpy as jnp
from flax import nnx


class Calls(nnx.Variable):
    pass


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(6, 1, rngs=rngs)
        self.calls = Calls(jnp.zeros((), jnp.int32))

    def __call__(self, x):
        y = self.layer(x)
        self.calls.value = self.calls.value + 1
        return y


net = Net(nnx.Rngs(3))
print(jax.jit(lambda x: net(x))(jnp.ones((3, 6))))
