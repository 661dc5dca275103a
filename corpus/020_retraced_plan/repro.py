"""Rolls out a pendulum; each episode has its own settings, which are a static argument."""
import functools
import time

import jax
import jax.numpy as jnp


class Settings:
    """Compared by identity, as it defines no __eq__."""

    def __init__(self, gravity=9.81, damping=0.1, dt=0.02, horizon=40):
        self.gravity, self.damping, self.dt, self.horizon = gravity, damping, dt, horizon

    def replace(self, **changes):
        return Settings(**{**vars(self), **changes})


def energy(state, settings):
    angle, speed = state
    return 0.5 * speed**2 - settings.gravity * jnp.cos(angle)


@functools.partial(jax.jit, static_argnames="settings")
def rollout(state, torques, settings):
    def step(state, torque):
        angle, speed = state
        force = torque - settings.damping * speed - settings.gravity * jnp.sin(angle)
        state = (angle + settings.dt * speed, speed + settings.dt * force)
        return state, energy(state, settings)

    return jax.lax.scan(step, state, torques)


class Planner:
    def __init__(self, settings, seed=0):
        self.settings = settings
        self.key = jax.random.key(seed)
        self.seconds = []

    def torques(self):
        self.key, key = jax.random.split(self.key)
        return jax.random.normal(key, (self.settings.horizon,))

    def episode(self, n):
        began = time.perf_counter()
        settings = self.settings.replace(damping=0.1)  # the same each time
        state, energies = rollout((0.1, 0.0), self.torques(), settings)
        self.seconds.append(time.perf_counter() - began)
        return float(energies[-1])


def main():
    planner = Planner(Settings())
    results = [planner.episode(n) for n in range(6)]
    print(f"best {min(results):.3f}, slowest episode {max(planner.seconds):.2f} s")


main()
