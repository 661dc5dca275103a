"""Programs that compile a function again and again, for what they call it with, with what is to be told of them."""

from __future__ import annotations

from tests.recompiles.case import Case

CASES = {
    "the last batch": Case(
        """\
@jax.jit
def step(params, batch):
    return params["w"] * batch.sum()

for size in [8, 8, 8, 5]:
    step({"w": 1.0}, np.ones((size, 3)))
""",
        "step", 2, "input types", "batch: f32[8,3] → f32[5,3]", "the shape of batch follows the last batch: pad it",
    ),
    "a shape of its own for each call": Case(
        """\
@jax.jit
def step(xs):
    return xs.sum()

for size in [1, 2, 3, 4]:
    step(np.ones(size))
""",
        "step", 4, "input types", "xs: f32[3] → f32[4]", "xs has had 4 shapes: pad it to one size",
    ),
    "a dimension more": Case(
        """\
@jax.jit
def loss(params):
    return params["w"].sum()

loss({"w": np.ones(3)})
loss({"w": np.ones((1, 3))})
""",
        "loss", 2, "input types", "params['w']: f32[3] → f32[1,3]",
        "params['w'] is f32[3] first and f32[1,3] now: give it one number of dimensions",
    ),
    "a Python number and an array": Case(
        """\
@jax.jit
def step(x, lr):
    return x * lr

step(np.ones(3), 0.1)
step(np.ones(3), jnp.float32(0.1))
""",
        "step", 2, "weak type", "lr: Python float → f32[]", "pass jnp.float32(lr) each time",
    ),
    "weakly typed arrays": Case(
        """\
@jax.jit
def step(state):
    return {"loss": state["loss"] * jnp.float32(2)}

state = {"loss": jnp.asarray(1.0)}
for _ in range(3):
    state = step(state)
""",
        "step", 2, "weak type", "state['loss']: weak f32[] → f32[]", "jnp.asarray(..., jnp.float32)",
    ),
    "integers and floats of Python": Case(
        """\
@jax.jit
def scale(x, factor):
    return x * factor

for factor in [1, 2, 2.5]:
    scale(np.ones(3), factor)
""",
        "scale", 2, "input types", "factor: Python int → Python float", "write it as one of them (1.0, not 1)",
    ),
    "an element type that drifts": Case(
        """\
@jax.jit
def total(x):
    return x.sum()

total(np.arange(10))
total(np.ones(10))
""",
        "total", 2, "input types", "x: i32[10] → f32[10]", "x is i32 first and f32 now",
    ),
    "64 bits in some calls": Case(
        """\
@jax.jit
def total(x):
    return x.sum()

x = np.ones(10)
for enabled in [False, True]:
    jax.config.update("jax_enable_x64", enabled)
    total(x)
jax.config.update("jax_enable_x64", False)
""",
        "total", 2, "config", "enable_x64: False → True", "the option enable_x64 is False first and True now",
    ),
    "an option in some calls": Case(
        """\
@jax.jit
def square(x):
    return x @ x

x = np.ones((2, 2), np.float32)
square(x)
with jax.default_matmul_precision("float32"):
    square(x)
""",
        "square", 2, "config", "default_matmul_precision: None → float32", "set it once, before the first call",
    ),
    "keys of both kinds": Case(
        """\
@jax.jit
def noise(key):
    return jax.random.normal(key)

noise(jax.random.PRNGKey(0))
noise(jax.random.key(0))
""",
        "noise", 2, "input types", "key: u32[2] → key<fry>[]", "make it in one way",
    ),
    "numbers of NumPy": Case(
        """\
@jax.jit
def step(x, lr):
    return x * lr

for lr in [0.1, np.float64(0.1)]:
    step(np.ones(3), lr)
""",
        "step", 2, "weak type", "lr: Python float → f32[]", "pass jnp.float32(lr) each time",
    ),
    "named axes": Case(
        """\
@jax.jit
def mean(x):
    return x - jax.lax.pmean(x, "i")

for size in [2, 3]:
    jax.vmap(mean, axis_name="i")(np.ones((size, 3)))
""",
        "mean", 2, "config", "axis_names: {'i': 2} → {'i': 3}", "under other named axes",
    ),
    "another device": Case(
        """\
@jax.jit
def step(x):
    return x * 2

for device in jax.devices()[:2]:
    step(jax.device_put(np.ones(3), device))
""",
        "step", 2, "sharding", "x: cpu:0 → cpu:1", "give it one place", traces=1, devices=2,
    ),
    "put on a device only later": Case(
        """\
@jax.jit
def step(x):
    return x * 2

x = jnp.ones(3)
step(x)
step(jax.device_put(x, jax.devices()[1]))
""",
        "step", 2, "sharding", "x: no device in particular → cpu:1", "jax.device_put", traces=1, devices=2,
    ),
    "another sharding": Case(
        """\
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

@jax.jit
def step(params):
    return params["w"] * 2

mesh = Mesh(np.array(jax.devices()), ("data",))
for spec in (P(), P("data")):
    step({"w": jax.device_put(np.ones(4), NamedSharding(mesh, spec))})
""",
        "step", 2, "sharding",
        "params['w']: P() over data=2 → P('data') over data=2", "give it one place",
        traces=1, devices=2,
    ),
    "a mesh around some calls": Case(
        """\
@jax.jit
def step(x):
    return x * 2

x = np.ones(4)
step(x)
with jax.sharding.Mesh(np.array(jax.devices()), ("data",)):
    step(x)
""",
        "step", 2, "config", "mesh: None → data=2", "use one mesh for all calls", devices=2,
    ),
    "pmap": Case(
        """\
def step(x):
    return x * 2

mapped = jax.pmap(step)
mapped(np.ones((2, 3)))
mapped(np.ones((2, 3)))
mapped(np.ones((2, 4)))
""",
        "step", 2, "input types", "x: f32[2,3] → f32[2,4]", "pad to one of them", devices=2,
    ),
    "one device after another": Case(
        """\
@jax.jit
def step(x):
    return x * 2

step(jnp.ones(3))
for device in jax.devices()[:2]:
    step(jax.device_put(np.ones(3), device))
""",
        "step", 3, "sharding", "x: cpu:0 → cpu:1", "x has been in 3 places (no device in particular, cpu:0, cpu:1)",
        traces=1, devices=2,
    ),
    "shardings of jit": Case(
        """\
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def step(x):
    return x * 2

halves = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("data",)), P("data"))
jax.jit(step)(np.ones(4))
jax.jit(step, in_shardings=halves)(np.ones(4))
""",
        "step", 2, "options", "in_shardings: not given → (P('data') over data=2)", "jit it once and use that",
        traces=1, devices=2,
    ),
}
