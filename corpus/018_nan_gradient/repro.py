"""Fits points on a plane to measured distances; one pair of points starts at the same place."""
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass
class Options:
    points: int = 6
    rate: float = 0.05
    steps: int = 4
    verbose: bool = False


class Layout:
    def __init__(self, options):
        self.options = options
        rng = np.random.default_rng(1)
        start = rng.normal(size=(options.points, 2)).astype(np.float32)
        start[3] = start[2]  # the scan found them together
        self.positions = jnp.asarray(start)
        self.measured = jnp.asarray(rng.uniform(0.5, 2.0, size=(options.points, options.points)), jnp.float32)

    def distances(self, positions):
        apart = positions[:, None, :] - positions[None, :, :]
        return jnp.sqrt(jnp.sum(apart**2, axis=-1))

    def stress(self, positions):
        upper = jnp.triu(jnp.ones_like(self.measured), 1)
        return jnp.sum(upper * (self.distances(positions) - self.measured) ** 2)


def fit(layout):
    step = jax.jit(jax.value_and_grad(layout.stress))
    positions, history = layout.positions, []
    for n in range(layout.options.steps):
        stress, slope = step(positions)
        history.append(float(stress))
        if layout.options.verbose:
            print(n, history[-1])
        if not bool(jnp.all(jnp.isfinite(slope))):
            raise FloatingPointError(f"step {n}: the gradient of the stress is not finite")
        positions = positions - layout.options.rate * slope
    return positions, history


if __name__ == "__main__":
    positions, history = fit(Layout(Options()))
    print(history)
