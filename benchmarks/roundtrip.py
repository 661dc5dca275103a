"""jaxprs as source and as bytes and back, beside the time that tracing takes: `python -m benchmarks.roundtrip`.

Prints ratios, which a busy machine changes less than it does seconds: the best of several repetitions, in turn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxshrink.jaxprs import dumps, from_source, loads, to_source

EQUATIONS = 10_000
REPETITIONS = 3


def network(x: Any, w: Any) -> Any:
    """A deep network without a loop over its layers: 19 equations each, no two layers of the same numbers."""
    for layer in range(EQUATIONS // 19):
        scale = 1.0 + layer / EQUATIONS
        hidden = jnp.tanh(x @ w * scale + 0.5)
        mean = hidden.mean(axis=1, keepdims=True)
        centred = hidden - mean
        variance = (centred**2).mean(axis=1, keepdims=True)
        hidden = centred * lax.rsqrt(variance + 1e-6)
        x = x + jnp.concatenate([jnp.sin(hidden[:, :2]), jnp.exp(-hidden[:, 2:] * scale)], axis=1).astype(jnp.float32)
    return x


def seconds(call: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    """How long a call takes, and what it gives."""
    start = time.perf_counter()
    value = call(*args)
    return time.perf_counter() - start, value


def main() -> None:
    """Measure and print."""
    args = np.ones((8, 4), np.float32), np.ones((4, 4), np.float32)
    best: dict[str, float] = {}
    for _ in range(REPETITIONS):
        jax.clear_caches()  # type: ignore[no-untyped-call]
        taken = {}
        taken["trace"], jaxpr = seconds(jax.make_jaxpr(network), *args)
        taken["to_source"], text = seconds(to_source, jaxpr)
        taken["from_source"], _ = seconds(from_source, text)
        taken["dumps"], data = seconds(dumps, jaxpr)
        taken["loads"], _ = seconds(loads, data)
        best = {name: min(value, best.get(name, value)) for name, value in taken.items()}
    print(f"{len(jaxpr.eqns)} equations, {len(text.splitlines())} lines, {len(data)} bytes; "
          f"jax {jax.__version__}, Python {sys.version.split()[0]}")  # fmt: skip
    for name, value in best.items():
        print(f"{name:12} {value:7.3f} s   {value / best['trace']:5.2f} of tracing")
    for pair in (("to_source", "from_source"), ("dumps", "loads")):
        print(f"{' + '.join(pair):24} {sum(best[name] for name in pair) / best['trace']:5.2f} of tracing")


if __name__ == "__main__":
    main()
