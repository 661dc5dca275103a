import jax
import jax.numpy as jnp
import numpy as np

from .settings import Settings

__all__ = ["Spotter"]


def glorot(key, *shape):
    return jax.random.normal(key, shape) * np.sqrt(2 / (shape[0] + shape[-1]))


def attend(q, k, v):
    scale = q.shape[-1] ** -0.5
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * scale)
    return jnp.einsum("bhqk,bkd->bqhd", weights, v)


class Spotter:
    def __init__(self, cfg: Settings, classes=4):
        self.cfg = cfg
        self.classes = classes

    def init(self, key):
        keys = jax.random.split(key, 6)
        d, h, e = self.cfg.dim, self.cfg.heads, self.cfg.head_dim
        return {
            "embed": glorot(keys[0], self.cfg.frame // 2 + 1, d),
            "qkv": [glorot(k, d, h, e) for k in keys[1:4]],
            "out": glorot(keys[4], h, e, d),
            "head": glorot(keys[5], d, self.classes),
        }

    def apply(self, params, x):
        x = x @ params["embed"]
        q, k, v = (jnp.einsum("btd,dhe->bthe", x, w) for w in params["qkv"])
        y = attend(q, k, v)
        x = x + jnp.einsum("bthe,hed->btd", y, params["out"])
        return jax.nn.relu(x).mean(1) @ params["head"]
