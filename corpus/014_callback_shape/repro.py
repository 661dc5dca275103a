"""Fit a light curve whose period search runs in SciPy-like host code behind a callback."""
import math
import textwrap
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np


class Periodogram(Protocol):
    def __call__(self, t: np.ndarray, y: np.ndarray) -> np.ndarray: ...


class LombScargle:
    def __init__(self, frequencies):
        self.frequencies = np.asarray(frequencies, np.float32)
        self.calls = 0

    def __call__(self, t, y):
        self.calls += 1
        phase = 2 * np.pi * np.outer(self.frequencies, t)
        y = np.asarray(y) - np.mean(y)
        power = (np.cos(phase) @ y) ** 2 + (np.sin(phase) @ y) ** 2
        # one value for each pair of neighbours: their maximum
        return np.maximum(power[1:], power[:-1]).astype(np.float32)


def with_jax(search, n):
    """The search as a JAX function."""
    shape = jax.ShapeDtypeStruct((n,), jnp.float32)

    @jax.jit
    def wrapped(t, y):
        power = jax.pure_callback(search, shape, t, y)
        return power / power.max()

    return wrapped


def light_curve(n=60, period=0.83, seed=4):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 20, n)).astype(np.float32)
    y = 1.2 + 0.4 * np.sin(2 * math.pi * t / period) + 0.05 * rng.normal(size=n)
    return t, y.astype(np.float32)


def harmonics(params, t):
    base = 2 * jnp.pi * t * params["frequency"]
    k = jnp.arange(1, len(params["a"]) + 1)
    return params["mean"] + jnp.cos(base[:, None] * k) @ params["a"] + jnp.sin(base[:, None] * k) @ params["b"]


def refine(params, t, y, steps=50):
    loss = lambda p: jnp.mean((harmonics(p, t) - y) ** 2)

    def body(p, _):
        value, g = jax.value_and_grad(loss)(p)
        return {k: v - {"frequency": 1e-5}.get(k, 1e-2) * g[k] for k, v in p.items()}, value

    return jax.lax.scan(body, params, length=steps)


def main():
    t, y = light_curve()
    frequencies = np.linspace(0.5, 2.0, 200)
    search = LombScargle(frequencies)
    power = with_jax(search, len(frequencies))(t, y)
    best = frequencies[int(power.argmax())]
    print(textwrap.dedent(f"""
        searched {len(frequencies)} frequencies in {search.calls} call(s)
        best period: {1 / best:.3f}
    """))
    start = {"frequency": jnp.float32(best), "mean": jnp.mean(y), "a": jnp.zeros(2), "b": jnp.zeros(2)}
    params, values = refine(start, t, y)
    print(params, values[-1])


if __name__ == "__main__":
    main()
