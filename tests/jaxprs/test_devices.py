"""Programs on several devices, which a process of its own has; keys by name across processes."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.comparing import assert_same_results, flat

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
rows = NamedSharding(mesh, P("x", None))
try:
    shard_map = jax.shard_map
except AttributeError:
    from jax.experimental.shard_map import shard_map


def matmul(a, b):
    def block(a, b):
        return lax.psum(a @ b, "y") + lax.axis_index("x")

    return shard_map(block, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))(a, b)


def constrained(a, b):
    return lax.with_sharding_constraint(jnp.sin(a @ b), rows).sum()


def compiled(a, b):
    return jax.jit(lambda a, b: a @ b, in_shardings=(rows, None), out_shardings=rows)(a, b) * 2


def exchanged(a, b):
    def block(a):
        shifted = lax.ppermute(a, "x", [(0, 1), (1, 0)])
        return shifted + lax.all_gather(a, "y", tiled=True).sum()

    return shard_map(block, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(a) @ b


a, b = np.arange(16.0, dtype=np.float32).reshape(4, 4), np.ones((4, 4), np.float32)
for wanted in (matmul, constrained, compiled, exchanged):
    jaxpr = jax.make_jaxpr(wanted)(a, b)
    source = to_source(jaxpr)
    fun, kept = from_source(source), loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(fun)(a, b), jaxpr), source
    assert equivalent(kept, jaxpr), wanted
    assert_same_results((wanted, fun, flat(kept)), (a, b))
"""


def test_four_devices():
    root = Path(__file__).parents[2]
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, cwd=root, env={**os.environ, **flags})
