# ruff: noqa
# ---- passes jit
import jax, jax.numpy as jnp
@jax.jit
def step(params, x):
    h = jnp.tanh(x @ params["w"] + params["b"])
    return {"loss": jnp.mean(h ** 2), "h": h}
params = {"w": jnp.arange(6.0).reshape(2, 3) / 10, "b": jnp.array([0.5, 0.25, 0.125])}
result = step(params, jnp.array([[1.0, 2.0], [3.0, 4.0]]))
# ---- fails jit
import jax, jax.numpy as jnp
@jax.jit
def step(params, x):
    h = jnp.tanh(x @ params["w"] + params["b"])
    return {"loss": jnp.mean(h ** 2), "h": h}
step({"w": jnp.ones((2, 3)), "b": jnp.ones(4)}, jnp.ones((5, 2)))
# ---- passes jit static
import jax, jax.numpy as jnp
from functools import partial
@partial(jax.jit, static_argnums=(1,), static_argnames=("mode",))
def f(x, n, *, mode="sum"):
    for _ in range(n):
        x = jnp.sin(x)
    return x.sum() if mode == "sum" else x
result = f(jnp.arange(3.0), 2, mode="none")
# ---- fails jit static
import jax, jax.numpy as jnp
from functools import partial
@partial(jax.jit, static_argnums=(1,), static_argnames=("mode",))
def f(x, n, *, mode="sum"):
    return jnp.reshape(x, (n, 2))
f(jnp.arange(7.0), 3, mode="none")
# ---- fails jit static unhashable
import jax, jax.numpy as jnp
f = jax.jit(lambda x, sizes: x, static_argnums=1)
f(jnp.ones(3), [1, 2])
# ---- passes jit donate
import jax, jax.numpy as jnp
@jax.jit
def init():
    return jnp.zeros(3)
update = jax.jit(lambda state, g: state - 0.1 * g, donate_argnums=0)
state = init()
for i in range(3):
    state = update(state, jnp.full(3, float(i)))
result = state + 1
# ---- fails donated used again
import jax, jax.numpy as jnp
update = jax.jit(lambda state, g: state - 0.1 * g, donate_argnums=0)
state = jnp.zeros(3)
new = update(state, jnp.ones(3))
new + state
# ---- passes jit named tuple
import jax, jax.numpy as jnp
from typing import NamedTuple
class State(NamedTuple):
    mean: jax.Array
    count: int
@jax.jit
def update(state, x):
    return State(state.mean + x, state.count + 1)
s = State(jnp.zeros(2), 0)
s = update(s, jnp.ones(2))
result = update(s, jnp.ones(2))
# ---- fails jit named tuple
import jax, jax.numpy as jnp
from typing import NamedTuple
class State(NamedTuple):
    mean: jax.Array
    count: int
@jax.jit
def update(state, x):
    return State(jnp.concatenate([state.mean, x]), state.count + 1)
update(State(jnp.zeros((2, 2)), 0), jnp.ones(2))
# ---- fails jit dataclass
import dataclasses
import jax, jax.numpy as jnp
@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass
class Layer:
    w: jax.Array
    b: jax.Array
    def tree_flatten(self):
        return (self.w, self.b), None
    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)
    def __call__(self, x):
        return x @ self.w + self.b
@jax.jit
def loss(layer, x):
    return jnp.sum(layer(x) ** 2)
jax.grad(loss)(Layer(jnp.ones((3, 4)), jnp.ones(4)), jnp.ones((2, 5)))
# ---- fails jit non array result
import jax
@jax.jit
def f(x):
    return {"x": x, "name": "sine"}
f(1.0)
# ---- fails jit non array argument
import jax
@jax.jit
def f(x, name):
    return x
f(1.0, "sine")
# ---- passes closures
import jax, jax.numpy as jnp
w = jnp.arange(4.0)
@jax.jit
def outer(x, n):
    y = x * 2
    def inner(z):
        return z + y + w
    def body(i, carry):
        return carry + i * n
    return jax.lax.fori_loop(0, 3, body, inner(x))
result = outer(jnp.ones(4), 2)
# ---- fails closures
import jax, jax.numpy as jnp
w = jnp.arange(4.0)
@jax.jit
def outer(x, n):
    y = x * 2
    def body(i, carry):
        return jnp.stack([carry, y * n, w])
    return jax.lax.fori_loop(0, 3, body, x)
outer(jnp.ones(4), 2)
# ---- fails missing argument
import jax, jax.numpy as jnp
@jax.jit
def f(x, y):
    return x + y
f(jnp.ones(2))
# ---- fails jit of no function
import jax
jax.jit(3)
# ---- passes pjit
import jax, jax.numpy as jnp
from jax.experimental.pjit import pjit
f = pjit(lambda x, y: jnp.dot(x, y))
result = f(jnp.ones((2, 3)), jnp.arange(3.0))
# ---- fails pjit
import jax, jax.numpy as jnp
from jax.experimental.pjit import pjit
f = pjit(lambda x, y: jnp.dot(x, y))
f(jnp.ones((2, 3)), jnp.ones((4, 2)))
# ---- passes vmap
import jax, jax.numpy as jnp
def predict(params, x):
    return jnp.dot(params["w"], x) + params["b"]
batched = jax.vmap(predict, in_axes=({"w": None, "b": None}, 0), out_axes=1)
result = batched({"w": jnp.arange(6.0).reshape(2, 3), "b": jnp.ones(2)}, jnp.arange(12.0).reshape(4, 3))
# ---- fails vmap
import jax, jax.numpy as jnp
def predict(params, x):
    return jnp.dot(params["w"], x) + params["b"]
jax.vmap(predict, in_axes=({"w": None, "b": 0}, 0))({"w": jnp.ones((2, 3)), "b": jnp.ones((3, 2))}, jnp.ones((4, 3)))
# ---- fails vmap inside
import jax, jax.numpy as jnp
@jax.vmap
def f(x, y):
    return jnp.matmul(x, y)
f(jnp.ones((4, 3)), jnp.ones((4, 2)))
# ---- passes vmap axis
import jax, jax.numpy as jnp
def normed(x):
    return x / jax.lax.psum(x, "i") + jax.lax.axis_index("i")
result = jax.vmap(normed, axis_name="i")(jnp.arange(1.0, 4.0))
# ---- passes vmap axis size
import jax, jax.numpy as jnp
result = jax.vmap(lambda: jax.lax.axis_index("i") * 2, axis_name="i", axis_size=3)()
# ---- fails vmap axis
import jax, jax.numpy as jnp
jax.vmap(lambda x: jax.lax.pmean(x, "batch"), axis_name="i")(jnp.arange(3.0))
# ---- fails vmap out axes
import jax, jax.numpy as jnp
jax.vmap(lambda x: x * 2, out_axes=3)(jnp.ones((3, 2)))
# ---- passes pmap
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp
result = jax.pmap(lambda x: jax.lax.psum(x * 2, "d"), axis_name="d")(jnp.arange(8.0).reshape(4, 2))
# ---- fails pmap
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp
jax.pmap(lambda x: jax.lax.psum(x * 2, "d"), axis_name="d")(jnp.arange(15.0).reshape(5, 3))
# ---- passes shard_map
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec as P
try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map
import numpy as np
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
def block(x, w):
    return jax.lax.psum(x @ w, "b")
f = shard_map(block, mesh=mesh, in_specs=(P("a", "b"), P("b", None)), out_specs=P("a", None))
result = f(jnp.arange(16.0).reshape(4, 4), jnp.ones((4, 2)))
# ---- fails shard_map
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec as P
try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map
import numpy as np
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
def block(x, w):
    return x @ w
f = jax.jit(shard_map(block, mesh=mesh, in_specs=(P("a", "b"), P("b", None)), out_specs=P("a", None)))
f(jnp.ones((4, 4)), jnp.ones((4, 2)))
# ---- fails shard_map partial
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, jax.numpy as jnp
from functools import partial
from jax.sharding import PartitionSpec as P
try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map
mesh = jax.make_mesh((4,), ("x",))
@partial(shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
def f(x):
    return jnp.concatenate([x, jnp.ones((2, 2, 2))])
f(jnp.ones((8, 2)))
