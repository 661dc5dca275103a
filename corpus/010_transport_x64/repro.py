"""Advect a tracer in a periodic channel; restart buffers are kept in double precision."""
import argparse
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np

warnings.filterwarnings("ignore", category=FutureWarning)


class Grid:
    __slots__ = ("dx", "n", "x")

    def __init__(self, n, length=1.0):
        self.n = n
        self.dx = length / n
        self.x = (np.arange(n) + 0.5) * self.dx

    def __repr__(self):
        return f"Grid({self.n}, dx={self.dx:.4f})"


def van_leer(r):
    return (r + jnp.abs(r)) / (1 + jnp.abs(r))


def upwind(q, r):
    return jnp.zeros_like(r)


LIMITERS = {"van-leer": van_leer, "upwind": upwind, "superbee": lambda q, r: jnp.clip(2 * r, 0, 1)}


def flux(q, speed, courant, limiter):
    dq = jnp.roll(q, -1) - q
    r = jnp.roll(dq, 1) / jnp.where(jnp.abs(dq) < 1e-12, 1e-12, dq)
    phi = limiter(q, r) if limiter is not van_leer else limiter(r)
    return speed * (q + 0.5 * phi * (1 - courant) * dq)


def step(q, speed, dt, dx, limiter):
    f = flux(q, speed, speed * dt / dx, limiter)
    return q - dt / dx * (f - jnp.roll(f, 1))


def initial(grid, shape):
    match shape:
        case "hat":
            return np.where(np.abs(grid.x - 0.3) < 0.1, 1.0, 0.0)
        case "bell":
            return np.exp(-(((grid.x - 0.3) / 0.05) ** 2))
        case _:
            raise SystemExit(f"unknown shape {shape}")


def run(grid, q, steps, speed, limiter, every):
    dt = 0.5 * grid.dx / abs(speed)
    history = np.zeros((steps // every + 1, grid.n))

    def body(i, carry):
        q, saved = carry
        q = step(q, speed, dt, grid.dx, limiter)
        saved = jax.lax.cond(
            i % every == 0,
            lambda saved: jax.lax.dynamic_update_slice(saved, q[None], (i // every, 0)),
            lambda saved: saved,
            saved,
        )
        return q, saved

    return jax.lax.fori_loop(0, steps, body, (q, jnp.asarray(history)))


def options(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=64)
    parser.add_argument("--limiter", choices=sorted(LIMITERS), default="van-leer")
    parser.add_argument("--shape", default="hat")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--every", type=int, default=10)
    return parser.parse_args(argv)


if __name__ == "__main__":
    opts = options(sys.argv[1:])
    grid = Grid(opts.n)
    q = jnp.asarray(initial(grid, opts.shape), jnp.float32)
    print(grid, "mass", float(q.sum() * grid.dx), q.dtype)
    q, saved = run(grid, q, opts.steps, 1.0, LIMITERS[opts.limiter], opts.every)
    print("mass", float(q.sum() * grid.dx), "peaks", saved.max(1))
