#!/usr/bin/env python
"""Track a satellite with an extended Kalman filter; measurements drop out now and then.

usage: repro.py [--steps N] [--gate G] [--no-gate]
"""
import argparse
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

MU = 398600.4418


class Belief(NamedTuple):
    mean: jax.Array
    cov: jax.Array
    rejected: jax.Array


def gravity(state):
    r, v = state[:2], state[2:]
    return jnp.concatenate([v, -MU * r / jnp.linalg.norm(r) ** 3])


def rk4(f, y, dt):
    k1 = f(y)
    k2 = f(y + dt / 2 * k1)
    k3 = f(y + dt / 2 * k2)
    k4 = f(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def simulate(rng, steps, dt):
    y, track = np.array([7000.0, 0.0, 0.0, 7.5]), []
    for _ in range(steps):
        y = np.asarray(rk4(gravity, jnp.asarray(y), dt))
        track.append(y[:2] + rng.normal(scale=0.5, size=2))
    track = np.array(track)
    track[rng.uniform(size=steps) < 0.2] = np.nan
    return track


class Filter:
    def __init__(self, dt, noise=0.25, gate=9.0):
        self.dt = dt
        self.R = noise * np.eye(2)
        self.Q = np.diag([1e-3, 1e-3, 1e-6, 1e-6])
        self.H = np.eye(2, 4)
        self.gate = gate

    def start(self):
        return Belief(jnp.array([7000.0, 0.0, 0.0, 7.5]), jnp.eye(4), jnp.zeros((), jnp.int32))

    def predict(self, b: Belief) -> Belief:
        move = functools.partial(rk4, gravity, dt=self.dt)
        F = jax.jacfwd(move)(b.mean)
        return b._replace(mean=move(b.mean), cov=F @ b.cov @ F.T + self.Q)

    def update(self, b: Belief, z) -> Belief:
        innovation = z - self.H @ b.mean
        S = self.H @ b.cov @ self.H.T + self.R
        gain = b.cov @ self.H.T @ jnp.linalg.inv(S)
        distance = innovation @ jnp.linalg.solve(S, innovation)
        inside = distance < self.gate
        return b._replace(
            mean=b.mean + jnp.where(inside, 1.0, 0.0) * (gain @ innovation),
            cov=(jnp.eye(4) - gain @ self.H) @ b.cov,
            rejected=b.rejected + jnp.where(inside, 0.0, 1.0),
        )

    def step(self, b: Belief, z):
        b = self.predict(b)
        seen = jnp.isfinite(z).all()
        b = jax.lax.cond(seen, self.update, lambda b, z: b, b, z)
        return b, (b.mean, jnp.trace(b.cov))


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--steps", type=int, default=50)
    p.add_argument("--dt", type=float, default=10.0)
    p.add_argument("--gate", type=float, default=9.0)
    p.add_argument("--no-gate", dest="gate", action="store_const", const=float("inf"))
    a = p.parse_args(argv)
    track = simulate(np.random.default_rng(1), a.steps, a.dt)
    kf = Filter(a.dt, gate=a.gate)
    final, (means, spread) = jax.lax.scan(kf.step, kf.start(), track)
    error = np.nanmean(np.linalg.norm(means[:, :2] - track, axis=-1))
    print(f"error {error:.3f} km, {int(final.rejected)} outliers, spread {spread[-1]:.2e}")


if __name__ == "__main__":
    main()
