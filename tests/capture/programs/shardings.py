# ruff: noqa
# ---- passes sharding
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
x = jax.device_put(jnp.arange(16.0).reshape(4, 4), NamedSharding(mesh, P("x", "y")))
@jax.jit
def f(x):
    y = jax.lax.with_sharding_constraint(x @ x, NamedSharding(mesh, P(None, "y")))
    return y * 2
result = f(x)
# ---- fails sharding
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
jax.device_put(jnp.ones((3, 4)), NamedSharding(mesh, P("x", "y")))
# ---- fails sharding constraint
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
@jax.jit
def f(x):
    return jax.lax.with_sharding_constraint(x + 1, NamedSharding(mesh, P("x", "y", None)))
f(jnp.ones((4, 4)))
# ---- fails sharding devices
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
a = jax.device_put(jnp.ones(3), jax.devices()[0])
b = jax.device_put(jnp.ones(3), jax.devices()[1])
jax.jit(lambda a, b: a + b)(a, b)
# ---- passes with mesh
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
with mesh:
    f = jax.jit(lambda x: jax.lax.with_sharding_constraint(x + 1, P("x", "y")))
    y = f(jnp.arange(16.0).reshape(4, 4))
result = y * 2
# ---- fails with mesh
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
with mesh:
    f = jax.jit(lambda x: jax.lax.with_sharding_constraint(x + 1, P("x", "z")))
    f(jnp.ones((4, 4)))
# ---- fails jit shardings
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
s = NamedSharding(mesh, P("x"))
f = jax.jit(lambda a, b: a + b, in_shardings=(s, None), out_shardings=s)
f(jnp.ones(3), jnp.ones(3))
# ---- fails set_mesh
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, PartitionSpec as P
mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
with jax.set_mesh(mesh):
    a = jax.device_put(jnp.ones((4, 4)), P("x", "y"))
    @jax.jit
    def f(a, b):
        return a + b
    f(a, jax.device_put(jnp.ones((4, 4)), P("y", "x")))
# ---- fails set_mesh auto
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, PartitionSpec as P
mesh = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))
with jax.set_mesh(mesh):
    f = jax.shard_map(lambda a: a + jnp.ones(5), in_specs=P("x"), out_specs=P("x"))
    f(jnp.ones(8))
