"""Sample from a character model with a temperature schedule. Ragged prompts are cut to their lengths."""
import string
from functools import partial, reduce

import jax
import jax.numpy as jnp
import numpy as np

ALPHABET = string.ascii_lowercase + " ."
INDEX = {c: i for i, c in enumerate(ALPHABET)}
CORPUS = "the cat sat on the mat. the dog sat on the log. a cat and a dog ran. "


def encode(text: str) -> np.ndarray:
    return np.array([INDEX[c] for c in text.lower() if c in INDEX], np.int32)


def decode(ids) -> str:
    return "".join(ALPHABET[int(i)] for i in ids)


def pad(texts, length):
    ids = [encode(text)[:length] for text in texts]
    return np.stack([np.pad(i, (0, length - len(i))) for i in ids]), np.array([len(i) for i in ids])


class GRU:
    """A gated recurrent unit, its parameters in a dictionary."""

    def __init__(self, vocabulary, width):
        self.vocabulary, self.width = vocabulary, width

    def init(self, key):
        ke, kx, kh, ko = jax.random.split(key, 4)
        w = self.width
        return {
            "embed": 0.1 * jax.random.normal(ke, (self.vocabulary, w)),
            "x": jax.random.normal(kx, (w, 3 * w)) / w**0.5,
            "h": jax.random.normal(kh, (w, 3 * w)) / w**0.5,
            "out": jax.random.normal(ko, (w, self.vocabulary)) / w**0.5,
        }

    def cell(self, p, h, token):
        gx, gh = p["embed"][token] @ p["x"], h @ p["h"]
        (rx, zx, nx), (rh, zh, nh) = jnp.split(gx, 3, -1), jnp.split(gh, 3, -1)
        r, z = jax.nn.sigmoid(rx + rh), jax.nn.sigmoid(zx + zh)
        h = (1 - z) * jnp.tanh(nx + r * nh) + z * h
        return h, h @ p["out"]

    def run(self, p, tokens, h=None):
        h = jnp.zeros(self.width) if h is None else h
        return jax.lax.scan(partial(self.cell, p), h, tokens)


def schedule(*stages):
    """Temperatures one after another: (steps, temperature)."""
    return reduce(lambda ts, stage: ts + [stage[1]] * stage[0], stages, [])


@partial(jax.jit, static_argnums=(0,))
def summarise(net, params, tokens, length):
    h, logits = net.run(params, tokens[: int(length)])
    return h, logits[-1]


def sample(net, params, prompt, length, key, temperatures):
    h, logits = summarise(net, params, prompt, length)
    out = []
    for t in temperatures:
        key, sub = jax.random.split(key)
        token = jax.random.categorical(sub, logits / t)
        out.append(token)
        h, logits = net.cell(params, h, token)
    return decode(out)


def train(net, params, steps=3, window=16, lr=0.1):
    ids = encode(CORPUS)
    batch = np.stack([ids[i : i + window + 1] for i in range(0, len(ids) - window, window)])

    @jax.jit
    def update(params):
        def loss(p):
            _, logits = jax.vmap(lambda t: net.run(p, t))(batch[:, :-1])
            logp = jax.nn.log_softmax(logits)
            return -jnp.take_along_axis(logp, batch[:, 1:, None], -1).mean()

        value, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - lr * g, params, g), value

    for _ in range(steps):
        params, value = update(params)
    print("loss", value)
    return params


net = GRU(len(ALPHABET), 24)
params = train(net, net.init(jax.random.PRNGKey(0)))
prompts, lengths = pad(["the cat", "a dog sat on"], 16)
for prompt, length in zip(prompts, lengths):
    print(decode(prompt[:length]), "->", sample(net, params, prompt, length, jax.random.PRNGKey(1), schedule((4, 1.0), (4, 0.5))))
