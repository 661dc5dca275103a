"""Programs that compile a function again and again, for what they make of it, with what is to be told of them."""

from __future__ import annotations

from tests.recompiles.case import Case

CASES = {
    "a lambda for each call": Case(
        """\
def run(x):
    return jax.jit(lambda x: x + 1)(x)

for _ in range(3):
    run(np.ones(3))
""",
        "<lambda>", 3, "new function object", "function: object 2 → object 3", "a new lambda is made by `run`",
    ),
    "a function that is defined anew": Case(
        """\
def run(x):
    @jax.jit
    def inner(x):
        return x + 1
    return inner(x)

for _ in range(3):
    run(np.ones(3))
""",
        "inner", 3, "new function object", "function: object 2 → object 3", "`inner` is defined anew by `run`",
    ),
    "a value that is closed over": Case(
        """\
def make(lr):
    def update(x):
        return x - lr
    return jax.jit(update)

for lr in [0.1, 0.2, 0.3]:
    make(lr)(np.ones(3))
""",
        "update", 3, "new function object", "lr: 0.2 → 0.3", "`update` closes over lr (0.1, 0.2, 0.3)",
    ),
    "a partial for each call": Case(
        """\
import functools

def update(lr, x):
    return x - lr

for lr in [0.1, 0.2]:
    jax.jit(functools.partial(update, lr))(np.ones(3))
""",
        "update", 2, "new function object", "lr: 0.1 → 0.2", "`update` is bound to lr (0.1, 0.2)",
    ),
    "a gradient for each call": Case(
        """\
def loss(w):
    return (w * w).sum()

for _ in range(2):
    jax.jit(jax.grad(loss))(np.ones(3))
""",
        "loss", 2, "new function object", "function: object 1 → object 2", "a new function around `loss` is made",
    ),
    "methods of new objects": Case(
        """\
class Model:
    def __init__(self):
        self.predict = jax.jit(self._predict)

    def _predict(self, x):
        return x * 2

for _ in range(2):
    Model().predict(np.ones(3))
""",
        "_predict", 2, "new function object", "self: Model 1 → Model 2", "`_predict` is a method of a new Model",
    ),
    "a method that is jitted anew": Case(
        """\
class Model:
    def predict(self, x):
        return x * 2

model = Model()
for _ in range(2):
    jax.jit(model.predict)(np.ones(3))
""",
        "predict", 2, "new function object", "function: object 1 → object 2", "the method `predict` is jitted anew",
    ),
    "donated in one jit only": Case(
        """\
def step(x):
    return x * 2

jax.jit(step)(jnp.ones(3))
jax.jit(step, donate_argnums=0)(jnp.ones(3))
""",
        "step", 2, "options", "donate_argnums: not given → (0,)", "jit it once and use that", traces=1,
    ),
    "objects that are called": Case(
        """\
class Model:
    def __call__(self, x):
        return x * 2

for _ in range(2):
    jax.jit(Model())(np.ones(3))
""",
        "__call__", 2, "new function object", "self: Model 1 → Model 2", "`__call__` is a method of a new Model",
    ),
    "cleared caches": Case(
        """\
@jax.jit
def step(x):
    return x * 2

for _ in range(2):
    step(np.ones(3))
    jax.clear_caches()
""",
        "step", 2, "caches cleared", "", "clear them less often",
    ),
    "a cleared cache of the function": Case(
        """\
@jax.jit
def step(x):
    return x * 2

for _ in range(2):
    step(np.ones(3))
    step.clear_cache()
""",
        "step", 2, "dropped", "", "JAX has dropped it: the function's cache was cleared",
    ),
    "vmap over other arguments": Case(
        """\
@jax.jit
def score(w, x):
    return w * x

jax.vmap(score, in_axes=(None, 0))(np.ones(3), np.ones((5, 3)))
jax.vmap(score, in_axes=(0, None))(np.ones((5, 3)), np.ones(3))
""",
        "score", 2, "transformation", "w: not mapped → axis 0 of 5", "vmap maps over w in another way", traces=1,
    ),
    "transformations from outside": Case(
        """\
@jax.jit
def loss(w):
    return (w * w).sum()

loss(np.ones(3))
jax.vmap(loss)(np.ones((2, 3)))
""",
        "loss", 2, "transformation", "transformations: none → vmap", "put jit outermost", traces=1,
    ),
    "arrays that are closed over": Case(
        """\
def fit(params):
    def loss(w):
        return ((params["x"] @ w) ** 2).sum()
    return jax.jit(jax.value_and_grad(loss))(np.ones(3))

for _ in range(2):
    fit({"x": np.ones((4, 3)), "y": [1]})
""",
        "loss", 2, "new function object", "function: object 1 → object 2",
        "`loss` closes over params ({'x': f32[4,3], 'y': [1]}), and is defined anew by `fit`: define it once, outside, "
        "with these as arguments, and keep jax.jit(jax.value_and_grad(...)) of it",
    ),
    "a lambda under a transformation": Case(
        """\
for _ in range(2):
    jax.jit(jax.vmap(lambda x: x * 2))(np.ones((2, 3)))
""",
        "<lambda>", 2, "new function object", "function: object 1 → object 2",
        "a new lambda is made each time: define it once, outside, and keep jax.jit(jax.vmap(...)) of it",
    ),
    "a function that is defined in a loop": Case(
        """\
for _ in range(2):
    @jax.jit
    def step(x):
        return x + 1
    step(np.ones(3))
""",
        "step", 2, "new function object", "function: object 1 → object 2", "`step` is defined anew each time",
    ),
    "a function and its gradient": Case(
        """\
def loss(w):
    return (w * w).sum()

for fun in [loss, jax.grad(loss), jax.vmap(jax.grad(loss))]:
    jax.jit(fun)(np.ones((2, 3)))
""",
        "loss", 3, "new function object", "function: ", "that is needed once for each",
    ),
    "vmap over several sizes": Case(
        """\
@jax.jit
def double(x):
    return x * 2

for size in [2, 3, 4]:
    jax.vmap(double)(np.ones((size, 2)))
""",
        "double", 3, "transformation", "x: axis 0 of 3 → axis 0 of 4",
        "vmap maps over x in 3 ways (axis 0 of 2, axis 0 of 3, axis 0 of 4)", traces=1,
    ),
    "a loop outside of jit": Case(
        """\
for _ in range(3):
    jax.lax.while_loop(lambda x: x < 3, lambda x: x + 1, 0)
""",
        "while", 3, "new function object", "function: function → function",
        "`while` is called outside of jit, with a function that is made anew each time",
    ),
}
