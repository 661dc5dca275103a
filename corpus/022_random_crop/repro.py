"""Train on random crops of a map; now and then a crop does not fit."""
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng()


@dataclasses.dataclass
class Crops:
    height: int = 12
    width: int = 12
    size: int = 4

    def positions(self, n):
        # one too many: the last row of corners hangs over the edge
        rows = rng.integers(0, self.height - self.size + 3, n)
        columns = rng.integers(0, self.width - self.size + 1, n)
        return zip(rows, columns)

    def batch(self, image, n):
        return jnp.stack([image[r : r + self.size, c : c + self.size] for r, c in self.positions(n)])


def loss(w, batch):
    return jnp.mean((w * batch.mean((1, 2)) - 1.0) ** 2)


def train(image, steps=2):
    crops = Crops()
    w = jnp.ones(())
    step = jax.jit(jax.value_and_grad(loss))
    for i in range(steps):
        value, gradient = step(w, crops.batch(image, 2))
        w = w - 0.01 * gradient
        print(i, value)
    return w


train(jnp.arange(144.0).reshape(12, 12) / 144)
