"""Implied temperatures of grey bodies by bisection, on a grid of fluxes."""
import dataclasses
from functools import partial

import jax
import jax.numpy as jnp

SIGMA = 5.67e-8


@dataclasses.dataclass(frozen=True)
class Body:
    emissivity: float
    area: float = 1.0

    def flux(self, temperature):
        return self.emissivity * self.area * SIGMA * temperature**4


class Bisection:
    """Halves a bracket until it is as narrow as `tolerance`."""

    def __init__(self, f, tolerance=1e-9):
        self.f = f
        self.tolerance = tolerance

    def unfinished(self, state):
        low, high, _ = state
        return high - low > self.tolerance

    def halve(self, state):
        low, high, steps = state
        middle = 0.5 * (low + high)
        above = self.f(middle) > 0
        return jnp.where(above, low, middle), jnp.where(above, middle, high), steps + 1

    def __call__(self, low, high):
        low, high, steps = jax.lax.while_loop(self.unfinished, self.halve, (low, high, 0))
        return 0.5 * (low + high), steps


@partial(jax.jit, static_argnums=0)
def temperature(body, flux):
    solver = Bisection(lambda t: body.flux(t) - flux)
    return solver(jnp.float32(0.0), jnp.float32(5000.0))


def main():
    bodies = [Body(0.95), Body(0.3, area=2.0)]
    fluxes = jnp.array([100.0, 450.0, 1361.0])
    for body in bodies:
        for flux in fluxes:
            t, steps = temperature(body, flux)
            print(f"{body}: {float(t):.2f} K after {int(steps)} steps")


main()
