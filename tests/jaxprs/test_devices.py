"""Programs on several devices, which a process of its own has; keys by name across processes."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import layout
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


def over_all_devices(a, b):
    summed = jax.grad(lambda a: shard_map(lambda a: a * a, mesh=mesh, in_specs=P(("x", "y")),
                                          out_specs=P(("x", "y"), None))(a).sum())(a)
    return lax.with_sharding_constraint(summed @ b, NamedSharding(mesh, P(P.UNCONSTRAINED, ("x", "y"))))


def in_memory(a, b):
    rows_on_host = NamedSharding(mesh, P("x"), memory_kind=jax.devices()[0].default_memory().kind)
    return jax.jit(lambda a: a + 1, out_shardings=rows_on_host)(a) @ b


def inlined(a, b):
    return jax.jit(lambda a, b: a @ b, inline=True, keep_unused=True)(a, b)


def in_context_of_mesh(a, b):
    with mesh:
        return jax.jit(lambda a: lax.with_sharding_constraint(a * 2, P("x", "y")))(a) @ b


def laid_out(a, b):
    rows_by_columns = layout.Format(layout.Layout((1, 0)), rows)
    a = jax.jit(lambda a: a.T + 1, in_shardings=rows_by_columns, out_shardings=rows_by_columns)(a)
    return layout.with_layout_constraint(a, layout.Layout((1, 0))) @ b


def under_mesh(a, b):
    return jax.jit(lambda a: lax.with_sharding_constraint(a * 2, P("x", "y")))(a) @ b


def explicit(a, b):
    a, b = jax.sharding.reshard(a, P("x", None)), jax.sharding.reshard(b, P(None, "y"))
    return jnp.sin(a @ b).sum(0), jnp.matmul(a, b, out_sharding=P(None, "y")), jnp.zeros((4, 4), out_sharding=P("x"))


def explicit_loop(a, b):
    a = jax.sharding.reshard(a, P(None, "y"))
    return lax.scan(jax.jit(lambda carry, row: (carry + row, carry * row)), a[0], a)


def partly_automatic(a, b):
    a = jax.sharding.reshard(a, P("x", "y"))
    return jax.sharding.auto_axes(lambda a: a @ a.T + 1, out_sharding=P("x", None))(a)


a, b = np.arange(16.0, dtype=np.float32).reshape(4, 4), np.ones((4, 4), np.float32)
def check(wanted):
    jaxpr = jax.make_jaxpr(wanted)(a, b)
    source = to_source(jaxpr)
    fun, kept = from_source(source), loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(fun)(a, b), jaxpr), source
    assert equivalent(kept, jaxpr), wanted
    assert_same_results((wanted, fun, flat(kept)), (a, b))
    return jaxpr


for wanted in (matmul, constrained, compiled, exchanged, over_all_devices, in_memory, inlined, in_context_of_mesh):
    check(wanted)
if hasattr(layout, "Format"):
    check(laid_out)
with jax.set_mesh(mesh):
    check(under_mesh)
with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)):
    for wanted in (explicit, explicit_loop, partly_automatic):
        jaxpr = check(wanted)
exec(to_source(jaxpr, called=True))
"""


def test_four_devices():
    root = Path(__file__).parents[2]
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, cwd=root, env={**os.environ, **flags})
