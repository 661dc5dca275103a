"""Fit a hierarchical Poisson model of a census by maximum a posteriori."""
import os.path
import pathlib
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import stats

DATA = pathlib.Path(os.path.dirname(os.path.abspath(__file__))) / "districts.npz"


@dataclass
class Census:
    counts: np.ndarray  # districts x age groups
    area: np.ndarray
    names: list = field(default_factory=list)

    @classmethod
    def load(cls, path=DATA):
        with np.load(path) as archive:
            return cls(archive["counts"], archive["area"], archive["names"].tolist())

    def split(self, fraction=0.75):
        k = int(len(self.names) * fraction)
        return Census(self.counts[:k], self.area[:k], self.names[:k]), Census(self.counts[k:], self.area[k:], self.names[k:])

    def __len__(self):
        return len(self.names)


def initial(census):
    n, groups = census.counts.shape
    return {"mu": jnp.zeros(groups), "log_sigma": jnp.zeros(()), "effect": jnp.zeros((n, groups))}


def log_posterior(params, counts, area):
    sigma = jnp.exp(params["log_sigma"])
    rate = jnp.exp(params["mu"] + sigma * params["effect"]) * area[:, None]
    prior = stats.norm.logpdf(params["effect"]).sum() + stats.norm.logpdf(params["log_sigma"])
    # the youngest are under-reported: half of them are missing in the first districts
    first = counts[:, :4, 0] / 0.5
    counts = counts.at[:, 0].set(first)
    return prior + (counts * jnp.log(rate) - rate).sum()


def fit(census, steps=200, lr=1e-4):
    params = initial(census)
    counts, area = jnp.asarray(census.counts, jnp.float32), jnp.asarray(census.area, jnp.float32)

    def body(i, params):
        grads = jax.grad(log_posterior)(params, counts, area)
        return jax.tree.map(lambda p, g: p + lr * g, params, grads)

    return jax.lax.fori_loop(0, steps, body, params)


def report(census, params):
    for name, row in zip(census.names, np.asarray(params["effect"])):
        print(f"{name}: " + " ".join(f"{value:+.2f}" for value in row))


if __name__ == "__main__":
    census = Census.load()
    print(f"{len(census)} districts, {census.counts.sum()} people")
    train, test = census.split()
    params = fit(train)
    report(train, params)
