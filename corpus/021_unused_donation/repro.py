"""Trains a linear autoencoder; the batch is donated although no result has its shape."""
import collections
import functools

import jax
import jax.numpy as jnp
import numpy as np

State = collections.namedtuple("State", "params momentum step")


def init(key, pixels, latent):
    encoder, decoder = jax.random.split(key)
    params = {
        "encoder": jax.random.normal(encoder, (pixels, latent)) / np.sqrt(pixels),
        "decoder": jax.random.normal(decoder, (latent, pixels)) / np.sqrt(latent),
    }
    return State(params, jax.tree.map(jnp.zeros_like, params), 0)


def loss(params, images):
    flat = images.reshape(images.shape[0], -1)
    return jnp.mean((flat @ params["encoder"] @ params["decoder"] - flat) ** 2)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(state, images):
    value, slope = jax.value_and_grad(loss)(state.params, images)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state.momentum, slope)
    params = jax.tree.map(lambda p, m: p - 0.1 * m, state.params, momentum)
    return State(params, momentum, state.step + 1), value


class Images:
    def __init__(self, count, side, seed=0):
        self.pixels = side * side
        self.data = np.random.default_rng(seed).uniform(size=(count, side, side)).astype(np.float32)

    def batches(self, size):
        for start in range(0, len(self.data), size):
            yield jnp.asarray(self.data[start : start + size])


def main():
    images = Images(32, 6)
    state = init(jax.random.key(0), images.pixels, latent=4)
    losses = []
    for batch in images.batches(8):
        state, value = train_step(state, batch)
        losses.append(float(value))
    print("loss", " ".join(f"{value:.4f}" for value in losses))


if __name__ == "__main__":
    main()
