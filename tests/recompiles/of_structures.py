"""Programs that compile a function again and again, for trees of another structure, with what is to be told of them."""

from __future__ import annotations

from tests.recompiles.case import Case

CASES = {
    "a key that comes and goes": Case(
        """\
@jax.jit
def step(state):
    return state["w"] * 2

step({"w": np.ones(3)})
step({"w": np.ones(3), "ema": np.ones(3)})
""",
        "step", 2, "tree structure", "state['ema']: not there → f32[3]", "keep the structure",
    ),
    "None and an array": Case(
        """\
@jax.jit
def step(x, carry):
    return x

step(np.ones(3), None)
step(np.ones(3), np.zeros(3))
""",
        "step", 2, "tree structure", "carry: None → f32[3]", "start with zeros",
    ),
    "a list and a tuple": Case(
        """\
@jax.jit
def step(xs):
    return xs[0]

step([np.ones(3)])
step((np.ones(3),))
""",
        "step", 2, "tree structure", "xs: list → tuple", "xs is a list first and a tuple now",
    ),
    "what is static in a class": Case(
        """\
class Layer:
    def __init__(self, w, activation):
        self.w, self.activation = w, activation

jax.tree_util.register_pytree_node(
    Layer, lambda layer: ((layer.w,), layer.activation), lambda activation, children: Layer(*children, activation)
)

@jax.jit
def apply(layer, x):
    return layer.activation(layer.w * x)

for _ in range(2):
    apply(Layer(np.ones(3), lambda x: x), 2.0)
""",
        "apply", 2, "tree structure", "layer.activation: <lambda> → <lambda>",
        "layer.activation, which is static, is a new function object each time: define it once",
    ),
    "a field that is static": Case(
        """\
import dataclasses, functools

@functools.partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["name", "epoch"])
@dataclasses.dataclass
class State:
    w: object
    name: str
    epoch: int

@jax.jit
def step(states, lr):
    return states[0].w

for epoch in range(3):
    step([State(np.ones(3), "run", epoch)], 0.1 if epoch < 2 else jnp.float32(0.1))
""",
        "step", 3, "tree structure", "states[0].epoch: 1 → 2",
        "states[0].epoch, which is static, has had 3 values (0, 1, 2), and each is a program of its own",
    ),
    "one thing after another": Case(
        """\
@jax.jit
def step(state, lr):
    return state

step({"w": np.ones(3)}, 0.1)
step({"w": np.ones(3), "ema": np.ones(3)}, jnp.float32(0.1))
""",
        "step", 2, "tree structure", "state['ema']: not there → f32[3]",
        "lr is a Python float first and a strong f32 now: pass jnp.float32(lr) each time",
    ),
    "an argument by name": Case(
        """\
@jax.jit
def step(x, lr):
    return x * lr

step(np.ones(3), 0.1)
step(np.ones(3), lr=0.1)
""",
        "step", 2, "tree structure", "lr: by position → by name", "call `step` in one way",
    ),
    "an argument with a default": Case(
        """\
@jax.jit
def step(x, lr=0.1):
    return x * lr

step(np.ones(3))
step(np.ones(3), 0.1)
""",
        "step", 2, "tree structure", "lr: not given → Python float", "give it in all, or in none",
    ),
    "a tuple with names and one without": Case(
        """\
import collections

State = collections.namedtuple("State", ["w", "b"])

@jax.jit
def step(state):
    return state[0]

step(State(np.ones(3), np.ones(3)))
step((np.ones(3), np.ones(3)))
""",
        "step", 2, "tree structure", "state: State → tuple", "state is a State first and a tuple now",
    ),
    "a class that is defined anew": Case(
        """\
import collections

@jax.jit
def step(state):
    return state.w

for _ in range(3):
    step(collections.namedtuple("State", ["w"])(np.ones(3)))
""",
        "step", 3, "tree structure", "state: State → State", "the class State of state is a new one each time",
    ),
    "None and a tree": Case(
        """\
@jax.jit
def step(x, carry):
    return x

step(np.ones(3), {"h": None})
step(np.ones(3), {"h": (np.ones(3), {"c": np.ones(3)})})
""",
        "step", 2, "tree structure", "carry['h']: None → tuple", "start with the same structure, of zeros",
    ),
    "keys in another order": Case(
        """\
import collections

@jax.jit
def step(params):
    return params["w"]

for keys in ["wb", "bw"]:
    step(collections.OrderedDict((key, np.ones(3)) for key in keys))
""",
        "step", 2, "tree structure", "list(params): ('w', 'b') → ('b', 'w')", "keys of params come in another order",
    ),
    "a default of its own": Case(
        """\
import collections

@jax.jit
def step(params):
    return params["w"]

for _ in range(2):
    step(collections.defaultdict(lambda: 0, w=np.ones(3)))
""",
        "step", 2, "tree structure", "params.default_factory: <lambda> → <lambda>", "define it once, outside",
    ),
    "a list that grows": Case(
        """\
@jax.jit
def total(state):
    return sum(state["losses"])

losses = []
for loss in range(3):
    losses.append(jnp.float32(loss))
    total({"losses": losses})
""",
        "total", 3, "tree structure", "state['losses'][2]: not there → f32[]",
        "state['losses'] has had 3 lengths (1, 2, 3), and each is a program of its own: stack it",
    ),
    "arguments that grow in number": Case(
        """\
@jax.jit
def total(*xs):
    return sum(xs)

for count in [1, 2, 3]:
    total(*[1.0] * count)
""",
        "total", 3, "tree structure", "xs[2]: not given → Python float", "*xs has had 3 lengths (1, 2, 3)",
    ),
    "an optimizer that is made anew": Case(
        """\
import collections, dataclasses, functools

Optimizer = collections.namedtuple("Optimizer", ["init", "update"])

def sgd(lr):
    def update(w):
        return w - lr * w
    return Optimizer(lambda w: w, update)

@functools.partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["tx"])
@dataclasses.dataclass
class State:
    w: object
    tx: object

@jax.jit
def step(state):
    return state.tx.update(state.w)

for _ in range(2):
    step(State(np.ones(3), sgd(0.1)))
""",
        "step", 2, "tree structure", "state.tx.init: <lambda> → <lambda>",
        "state.tx.init (and 1 more), which is static, is a new function object each time: define it once",
    ),
}
