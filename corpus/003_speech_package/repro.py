"""Train a keyword spotter on synthetic tones (see the package `speech`)."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

import speech
from speech import features as F, optim
from speech.model import *


def batches(n, size, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        labels = rng.integers(0, len(speech.KEYWORDS), size)
        yield F.synthesise(labels, rng), labels


def loss(params, wave, labels):
    logits = Spotter(speech.settings).apply(params, F.spectrogram(wave, speech.settings))
    logp = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(logp, labels[:, None], axis=1).mean()


def accuracy(params, wave, labels):
    logits = Spotter(speech.settings).apply(params, F.spectrogram(wave, speech.settings))
    return (logits.argmax(-1) == labels).mean()


def main(epochs):
    net = Spotter(speech.settings)
    params = net.init(jax.random.PRNGKey(0))
    opt = optim.rmsprop(1e-3)
    state = opt.init(params)
    update = jax.jit(opt.update)
    for epoch in range(epochs):
        for wave, labels in batches(4, speech.settings.batch):
            value, grads = jax.value_and_grad(loss)(params, wave, labels)
            updates, state = update(grads, state)
            params = optim.apply_updates(params, updates)
        print(epoch, value, accuracy(params, wave, labels))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
