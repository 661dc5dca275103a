"""Events of a weather station on its clock: seconds since 1970."""
import datetime
import logging

import jax
import jax.numpy as jnp

log = logging.getLogger("station")
EPOCH = datetime.datetime(1970, 1, 1)


class Clock:
    def __init__(self, start, rate):
        self.start = (start - EPOCH).total_seconds()
        self.rate = rate

    def ticks(self, n):
        return self.start + jnp.arange(n) / self.rate


@jax.jit
def wind(t):
    return 4.0 + 2.0 * jnp.sin(2 * jnp.pi * t / 86400.0)


def gusts(t, speed, threshold):
    above = speed > threshold
    return jnp.sum(jnp.where(above[1:], jnp.diff(t), 0.0))


def check(t):
    steps = jnp.diff(t)
    if not bool(jnp.all(steps > 0)):
        raise ValueError(f"time stands still in {int(jnp.sum(steps == 0))} of {len(steps)} steps")
    return t


def main():
    logging.basicConfig(level=logging.WARNING)
    clock = Clock(datetime.datetime(2024, 2, 29, 12), rate=4.0)
    t = check(clock.ticks(240))
    speed = wind(t)
    log.info("mean wind %.2f", speed.mean())
    print("seconds of gusts:", gusts(t, speed, 5.0))


if __name__ == "__main__":
    main()
