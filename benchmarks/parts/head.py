"""Training and analysis of a sequence model on synthetic measurements."""

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

BATCH = 16
WIDTH = 24


@dataclasses.dataclass(frozen=True)
class Config:
    """What an experiment can be told."""

    seed: int = 0
    learning_rate: float = 3e-3
    decay: float = 0.9
    clip: float = 1.0
    verbose: bool = False


def make_batch(key, config):
    """A batch of noisy waves, one row each."""
    phase_key, noise_key = jax.random.split(key)
    phases = jax.random.uniform(phase_key, (BATCH, 1), maxval=2 * math.pi)
    steps = jnp.linspace(0.0, 1.0, WIDTH)
    noise = 0.05 * jax.random.normal(noise_key, (BATCH, WIDTH))
    return jnp.sin(2 * math.pi * steps + phases) + noise


def describe(name, x):
    """One line on an array, for the log."""
    return f"{name}: mean {float(x.mean()):+.4f}, deviation {float(x.std()):.4f}"
