"""Molecular property prediction with a message passing network that is built from a configuration."""
import copy
import json
import re
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np

CONFIG = """
{
  "hidden": 16,
  "layers": [
    {"kind": "message", "activation": "silu"},
    {"kind": "message", "activation": "silu", "residual": true},
    {"kind": "readout", "reduce": "average"}
  ],
  "train": {"steps": 3, "lr": 0.01}
}
"""
ACTIVATIONS: dict[str, Callable] = {name: getattr(jax.nn, name) for name in ("relu", "silu", "gelu")}
REDUCTIONS: dict[str, Callable] = {"sum": jnp.sum, "mean": jnp.mean, "max": jnp.max}
LAYERS: dict[str, type] = {}


def register(cls):
    LAYERS[re.sub(r"Layer$", "", cls.__name__).lower()] = cls
    return cls


class Layer:
    def __init__(self, width: int, **options: Any):
        self.width = width
        self.options = options

    def init(self, key):
        return {}


@register
class MessageLayer(Layer):
    def init(self, key):
        k1, k2 = jax.random.split(key)
        return {
            "w": jax.random.normal(k1, (self.width, self.width)) / np.sqrt(self.width),
            "v": jax.random.normal(k2, (self.width, self.width)) / np.sqrt(self.width),
        }

    def __call__(self, params, nodes, adjacency):
        act = ACTIVATIONS[self.options["activation"]]
        out = act(nodes @ params["w"] + adjacency @ nodes @ params["v"])
        return nodes + out if self.options.get("residual") else out


@register
class ReadoutLayer(Layer):
    def init(self, key):
        return {"w": jax.random.normal(key, (self.width,))}

    def __call__(self, params, nodes, adjacency):
        pool = REDUCTIONS[self.options["reduce"]]
        return pool(nodes, axis=0) @ params["w"]


class Network:
    def __init__(self, config):
        config = copy.deepcopy(config)
        self.layers = [LAYERS[layer.pop("kind")](config["hidden"], **layer) for layer in config["layers"]]

    def init(self, key):
        keys = jax.random.split(key, len(self.layers))
        return [layer.init(k) for layer, k in zip(self.layers, keys)]

    def __call__(self, params, nodes, adjacency):
        for layer, p in zip(self.layers, params):
            nodes = layer(p, nodes, adjacency)
        return nodes


def molecules(n, atoms=6, width=16, seed=3):
    rng = np.random.default_rng(seed)
    bonds = rng.uniform(size=(n, atoms, atoms)) < 0.3
    bonds = np.triu(bonds, 1) + np.triu(bonds, 1).transpose(0, 2, 1)
    return rng.normal(size=(n, atoms, width)).astype("f"), bonds.astype("f"), rng.normal(size=n).astype("f")


def train(config):
    net = Network(config)
    params = net.init(jax.random.key(0))
    nodes, bonds, energy = molecules(12)

    @jax.jit
    def step(params):
        def loss(params):
            predicted = jax.vmap(net, in_axes=(None, 0, 0))(params, nodes, bonds)
            return jnp.mean((predicted - energy) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - config["train"]["lr"] * g, params, grads), value

    for i in range(config["train"]["steps"]):
        params, value = step(params)
        print(f"{i}: {value:.3f}")
    return params


train(json.loads(CONFIG))
