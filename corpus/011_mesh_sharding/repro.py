"""Data-parallel k-means on four (pretended) devices."""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import logging
import typing as t

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

log = logging.getLogger("kmeans")
logging.basicConfig(level=logging.WARNING, format="%(message)s")


class Clusters(t.NamedTuple):
    centres: jax.Array
    sizes: jax.Array
    inertia: float = float("inf")


def make_mesh(axis: str = "data") -> Mesh:
    return Mesh(np.array(jax.devices()), (axis,))


def blobs(n, k=3, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-5, 5, size=(k, dim))
    labels = rng.integers(k, size=n)
    return (centres[labels] + rng.normal(size=(n, dim))).astype(np.float32)


def chunks(x, size):
    """All rows, `size` at a time, the last chunk may be shorter."""
    for start in range(0, len(x), size):
        yield x[start : start + size]


@jax.jit
def assign(x, centres):
    d = jnp.sum((x[:, None] - centres[None]) ** 2, axis=-1)
    return d.argmin(1), d.min(1).sum()


@jax.jit
def accumulate(x, labels, sums, sizes):
    hot = jax.nn.one_hot(labels, len(sizes))
    return sums + hot.T @ x, sizes + hot.sum(0)


def fit(data, k, mesh, epochs=2, batch=64):
    rows = NamedSharding(mesh, PartitionSpec("data"))
    whole = NamedSharding(mesh, PartitionSpec())
    current = Clusters(jax.device_put(data[:k], whole), jnp.zeros(k))
    for epoch in range(epochs):
        sums, sizes, inertia = jnp.zeros_like(current.centres), jnp.zeros(k), 0.0
        for x in chunks(data, batch):
            x = jax.device_put(x, rows)
            labels, cost = assign(x, current.centres)
            sums, sizes = accumulate(x, labels, sums, sizes)
            inertia += float(cost)
        centres = jnp.where(sizes[:, None] > 0, sums / jnp.maximum(sizes, 1)[:, None], current.centres)
        if inertia > current.inertia:
            log.warning("worse: %.2f > %.2f", inertia, current.inertia)
        current = Clusters(jax.device_put(centres, whole), sizes, inertia)
        log.info("epoch %d: %.2f", epoch, inertia)
    return current


mesh = make_mesh()
print("devices:", mesh.size)
result = fit(blobs(130), k=3, mesh=mesh)
print(result.centres, result.sizes, sep="\n")
