"""Inverse kinematics of a planar arm with a smooth joint limit, a custom derivative for it, and Gauss-Newton."""
import operator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def soft_limit(angle, bound):
    """Identity inside of the bounds, flat far outside."""
    return bound * jnp.tanh(angle / bound)


@soft_limit.defjvp
def _soft_limit_jvp(bound, primals, tangents):
    (angle,), (dot,) = primals, tangents
    out = soft_limit(angle, bound)
    slope = 1 - (out / bound) ** 2
    # never flat, or the solver stalls
    slope = jnp.clip(slope, 1e-2, 1.0)
    return out, jnp.sum(slope * dot)


@dataclass(frozen=True)
class Arm:
    lengths: tuple
    bound: float = 2.5

    @cached_property
    def reach(self):
        return sum(self.lengths)

    @property
    def joints(self):
        return len(self.lengths)

    def positions(self, angles):
        angles = soft_limit(angles, self.bound)
        heading = jnp.cumsum(angles)
        steps = jnp.stack([jnp.cos(heading), jnp.sin(heading)], axis=-1) * jnp.array(self.lengths)[:, None]
        return jnp.cumsum(steps, axis=0)

    def tip(self, angles):
        return self.positions(angles)[-1]


class Solver:
    def __init__(self, arm, damping=1e-3, iterations=20, tolerance=1e-4):
        self.arm = arm
        self.damping = damping
        self.iterations = iterations
        self.tolerance = tolerance
        self.log = []

    def step(self, angles, target):
        residual = self.arm.tip(angles) - target
        J = jax.jacfwd(self.arm.tip)(angles)
        H = J.T @ J + self.damping * jnp.eye(self.arm.joints)
        return angles - jnp.linalg.solve(H, J.T @ residual), jnp.linalg.norm(residual)

    def solve(self, target, start=None):
        angles = jnp.full(self.arm.joints, 0.1) if start is None else start
        for i in range(self.iterations):
            angles, error = self.step(angles, target)
            self.log.append((i, float(error)))
            if error < self.tolerance:
                break
        return angles


def describe(arm):
    starts = list(accumulate(arm.lengths, operator.add, initial=0.0))
    return ", ".join(f"{a:.1f}-{b:.1f}" for a, b in zip(starts, starts[1:]))


def main(targets=((1.0, 1.0), (0.5, -1.2), (-1.0, 0.3))):
    arm = Arm((1.0, 0.7, 0.4))
    print("links", describe(arm), "reach", arm.reach)
    rest = arm.positions(jnp.zeros(arm.joints))
    assert np.allclose(rest[-1], [arm.reach, 0.0], atol=1e-5), rest
    solver, angles = Solver(arm), None
    for target in targets:
        angles = solver.solve(jnp.array(target), angles)
        print(target, np.round(angles, 3), f"after {len(solver.log)} steps, error {solver.log[-1][1]:.1e}")
        solver.log.clear()


if __name__ == "__main__":
    main()
