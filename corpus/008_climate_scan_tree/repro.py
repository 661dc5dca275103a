"""A zero-dimensional energy balance model with a carbon cycle, calibrated to a made-up record."""
from __future__ import annotations

import enum
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SECONDS = 3.15e7


class Scenario(enum.Enum):
    LOW = 2.6
    MIDDLE = 4.5
    HIGH = 8.5

    def emissions(self, years):
        ramp = np.linspace(0, 1, years)
        return {"fossil": 10 + 2 * (self.value - 4) * ramp, "land": 1.5 - ramp}


DEFAULTS = dict(albedo=0.3, emissivity=0.61, capacity=8.0e8, sensitivity=5.35, uptake=(0.02, 0.01))


def forcing(carbon, k):
    return k * jnp.log(carbon / 590.0)


def land(state, uptake):
    flux = uptake * (state["carbon"]["air"] - 590.0)
    return flux


def ocean(state, uptake):
    temperature = state["temperature"] - 288.0
    return uptake * (state["carbon"]["air"] - 590.0) * jnp.exp(-0.05 * temperature)


def model(params: dict[str, Any], scenario: Scenario, years=80):
    def step(state, drive):
        air = state["carbon"]["air"]
        sinks = {"land": land(state, params["uptake"][0]), "ocean": ocean(state, params["uptake"][1])}
        total = reduce(lambda a, b: a + b, sinks.values())
        absorbed = 340.0 * (1 - params["albedo"])
        emitted = params["emissivity"] * 5.67e-8 * state["temperature"] ** 4
        balance = absorbed - emitted + forcing(air, params["sensitivity"])
        new = {
            "temperature": state["temperature"] + balance * SECONDS / params["capacity"],
            "carbon": {"air": air + drive["fossil"] + drive["land"] - total, **sinks},
        }
        return new, (new["temperature"], total)

    start = {"temperature": jnp.float32(288.0), "carbon": {"air": jnp.float32(600.0), "land": jnp.float32(0.0)}}
    drives = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), scenario.emissions(years))
    return jax.lax.scan(step, start, drives)[1]


def record(years=80, seed=11):
    rng = np.random.default_rng(seed)
    return 288 + np.linspace(0, 1.2, years) + 0.1 * rng.normal(size=years)


@jax.jit
def misfit(params):
    temperature, _ = model(params, Scenario.MIDDLE)
    return jnp.mean((temperature - record()) ** 2)


def calibrate(steps=5):
    params = dict(DEFAULTS)
    free = {k: jnp.asarray(params[k]) for k in ("albedo", "emissivity")}
    for _ in range(steps):
        g = jax.grad(lambda free: misfit({**params, **free}))(free)
        free = {k: v - 1e-5 * g[k] for k, v in free.items()}
    return free


for scenario in Scenario:
    fitted = calibrate()
    warming, sinks = model({**DEFAULTS, **fitted}, scenario)
    print(f"{scenario.name:>6}: {warming[-1] - 288:.2f} K, sinks {sinks.mean():.2f} GtC")
