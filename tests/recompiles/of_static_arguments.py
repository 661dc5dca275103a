"""Programs that compile a function again and again, for its static arguments, with what is to be told of them."""

from __future__ import annotations

from tests.recompiles.case import Case

CASES = {
    "self as a static argument": Case(
        """\
import functools

class Model:
    @functools.partial(jax.jit, static_argnums=0)
    def predict(self, x):
        return x * 2

for _ in range(2):
    Model().predict(np.ones(3))
""",
        "predict", 2, "static argument", "self: <Model object> → <Model object>",
        "hashed by identity, and each Model is another: give the class `__hash__` and `__eq__`",
    ),
    "a static argument that changes": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="step")
def train(x, step):
    return x * step

for step in range(3):
    train(np.ones(3), step=step)
""",
        "train", 3, "static argument", "step: 1 → 2", "step has had 3 values (0, 1, 2), and each is a program",
    ),
    "one field of a static configuration": Case(
        """\
import dataclasses, functools

@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    rate: float

@functools.partial(jax.jit, static_argnames="config")
def train(x, config):
    return x * config.rate

for rate in [0.1, 0.2]:
    train(np.ones(3), Config(width=8, rate=rate))
""",
        "train", 2, "static argument", "config.rate: 0.1 → 0.2", "config.rate has had 2 values (0.1, 0.2)",
    ),
    "a function as a static argument": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnums=1)
def apply(x, fun):
    return fun(x)

for _ in range(2):
    apply(np.ones(3), lambda x: x * 2)
""",
        "apply", 2, "static argument", "fun: <lambda> → <lambda>", "is a new function object each time",
    ),
    "a function in a static configuration": Case(
        """\
import dataclasses, functools

@dataclasses.dataclass(frozen=True)
class Config:
    activation: object
    width: int = 8

@functools.partial(jax.jit, static_argnames="config")
def apply(x, config):
    return config.activation(x)

for _ in range(2):
    apply(np.ones(3), Config(lambda x: x))
""",
        "apply", 2, "static argument", "config.activation: <lambda> → <lambda>",
        "static argument config.activation is a new function object each time: define it once",
    ),
    "an object in a static configuration": Case(
        """\
import functools

class Optimizer:
    pass

@functools.partial(jax.jit, static_argnames="config")
def apply(x, config):
    return x

for _ in range(2):
    apply(np.ones(3), (Optimizer(), 8))
""",
        "apply", 2, "static argument", "config[0]: <Optimizer object> → <Optimizer object>",
        "static argument config[0] is hashed by identity, and each Optimizer is another",
    ),
    "an enumeration as a static argument": Case(
        """\
import enum, functools

class Mode(enum.Enum):
    TRAIN = 1
    TEST = 2

@functools.partial(jax.jit, static_argnames="mode")
def apply(x, mode):
    return x

for mode in Mode:
    apply(np.ones(3), mode)
""",
        "apply", 2, "static argument", "mode: <Mode.TRAIN: 1> → <Mode.TEST: 2>", "that is needed once for each",
    ),
    "equal values of other types": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="factor")
def scale(x, factor):
    return x * factor

for factor in [1, 1.0, True]:
    scale(np.ones(3), factor)
""",
        "scale", 3, "static argument", "factor: 1.0 → True", "static argument factor has had 3 values (1, 1.0, True)",
    ),
    "a call after a gradient": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="train")
def loss(w, x, train):
    return (w * jnp.sin(x)).sum() if train else (w * x).sum()

jax.grad(loss)(jnp.ones(3), np.ones(3), True)
loss(np.ones(3), np.ones(3), train=False)
""",
        "loss", 3, "static argument", "train: True → False", "that is needed once for each", traces=2,
    ),
    "names as a static argument": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="keys")
def total(tree, keys):
    return sum(tree[key] for key in keys)

for keys in [("w",), ("w", "b")]:
    total({"w": 1.0, "b": 2.0}, keys)
""",
        "total", 2, "static argument", "keys: ('w',) → ('w', 'b')", "keep out of it what changes",
    ),
    "None as a static argument": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="axis")
def total(x, axis):
    return x.sum(axis)

for axis in [0, None]:
    total(np.ones(3), axis)
""",
        "total", 2, "static argument", "axis: 0 → None", "that is needed once for each",
    ),
    "functions of JAX as a static argument": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="activation")
def apply(x, activation):
    return activation(x)

for activation in [jax.nn.relu, jnp.tanh]:
    apply(np.ones(3), activation)
""",
        "apply", 2, "static argument", "activation: relu → tanh",
        "static argument activation is another function in some calls (relu, tanh)",
    ),
    "an element type as a static argument": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="dtype")
def cast(x, dtype):
    return x.astype(dtype)

for dtype in [np.dtype("int8"), jnp.bfloat16]:
    cast(np.ones(3), dtype)
""",
        "cast", 2, "static argument", "dtype: dtype('int8') → bfloat16", "that is needed once for each",
    ),
    "a label as a static argument": Case(
        """\
import functools

@functools.partial(jax.jit, static_argnames="name")
def step(x, name):
    return x

for number in range(4):
    step(np.ones(3), f"step {number}")
""",
        "step", 4, "static argument", "name: 'step 2' → 'step 3'", "leave it out if nothing that is computed depends",
    ),
    "static in one jit only": Case(
        """\
def scale(x, factor):
    return x * factor

jax.jit(scale)(np.ones(3), 2)
jax.jit(scale, static_argnums=1)(np.ones(3), 2)
""",
        "scale", 2, "static argument", "factor: Python int → 2", "is static in some calls only: jit `scale` once",
    ),
}
