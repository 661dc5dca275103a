"""Nightly benchmark of the smoother; the flags come from a tuning run on another machine."""
import argparse
import os
import platform
import time

TUNED = {
    "xla_cpu_enable_fast_math": "false",
    "xla_cpu_prefer_wide_vectors_v2": "true",
}


def set_flags(extra=()):
    flags = [f"--{name}={value}" for name, value in TUNED.items()]
    os.environ["XLA_FLAGS"] = " ".join([*flags, *extra])


set_flags()

import jax
import jax.numpy as jnp


def kernel(width):
    x = jnp.linspace(-2, 2, width)
    k = jnp.exp(-(x**2))
    return k / k.sum()


@jax.jit
def smooth(signal, k):
    return jnp.convolve(signal, k, mode="same")


def benchmark(sizes, repeats=3):
    k = kernel(9)
    results = {}
    for n in sizes:
        signal = jnp.sin(jnp.arange(n) / 10.0)
        start = time.perf_counter()
        for _ in range(repeats):
            smooth(signal, k).block_until_ready()
        results[n] = (time.perf_counter() - start) / repeats
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="*", default=[256, 1024])
    args = parser.parse_args()
    print("on", platform.machine())
    for n, seconds in benchmark(args.sizes).items():
        print(f"{n:6d} {1e6 * seconds:8.1f} us")
