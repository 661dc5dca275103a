import collections

import jax
import jax.numpy as jnp

Optimiser = collections.namedtuple("Optimiser", ["init", "update"])


def rmsprop(lr, decay=0.9, eps=1e-6):
    def init(params):
        return jax.tree.map(jnp.zeros_like, params)

    def update(grads, state):
        state = jax.tree.map(lambda s, g: decay * s + (1 - decay) * g**2, state, grads)
        return jax.tree.map(lambda g, s: -lr * g / jnp.sqrt(s + eps), grads, state), state

    return Optimiser(init, update)


def apply_updates(params, updates):
    return jax.tree.map(jnp.add, params, updates)
