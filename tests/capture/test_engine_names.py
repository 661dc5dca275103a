"""What JAX calls the arguments and results of compiled functions is the same in the captured program."""

from __future__ import annotations

import battery
import pytest

from jaxshrink.inside.capture import names

PROGRAMS = {
    "closure": """
scale = jnp.arange(3.0)
def loss(w, x):
    def inner(v):
        return v * scale + x
    return inner(w).sum()
result = jax.jit(loss)(jnp.ones(3), jnp.ones(3))
""",
    "dicts": """
@jax.jit
def step(params, batch):
    return {"loss": (params["w"] @ batch["x"]).sum(), "grads": [params["w"] * 2, batch["y"]]}
result = step({"w": jnp.ones((2, 3))}, {"x": jnp.ones((3, 2)), "y": jnp.ones(1)})
""",
    "keywords": """
def f(a, /, b, *, c=1.0, **more):
    return a + b * c + more["d"]
result = jax.jit(f)(jnp.ones(2), b=jnp.ones(2), c=jnp.ones(2), d=jnp.ones(2))
""",
    "rest": """
def total(*terms, scale):
    return sum(terms) * scale
result = jax.jit(total)(jnp.ones(2), jnp.ones(2), scale=2.0)
""",
    "static": """
def power(x, n, mode="a"):
    return x ** n if mode == "a" else x
result = jax.jit(power, static_argnames=("n", "mode"))(jnp.ones(2), n=3)
result = jax.jit(power, static_argnums=(1, 2))(jnp.ones(2), 3), result
""",
    "static places": """
def power(n, x):
    return x ** n
result = jax.jit(power, static_argnums=0)(3, jnp.ones(2))
""",
    "methods": """
class Model:
    def __init__(self):
        self.w = jnp.ones(3)
    def predict(self, inputs, mask):
        return self.w * inputs * mask
model = Model()
result = jax.jit(model.predict)(jnp.ones(3), jnp.ones(3))
""",
    "partials": """
import functools
def update(rate, params, grads):
    return {"new": params - rate * grads}
result = jax.jit(functools.partial(update, 0.1))(jnp.ones(2), jnp.ones(2))
""",
    "lambdas": """
result = jax.jit(lambda left, right: (left + right, left))(jnp.ones(2), jnp.ones(2))
""",
    "grad of vmap": """
def score(w, x):
    return jnp.tanh(w * x).sum()
def loss(weights, data):
    return jax.vmap(score, in_axes=(None, 0))(weights, data).sum()
result = jax.jit(jax.grad(loss))(jnp.ones(3), jnp.ones((2, 3)))
""",
    "jit of grad of vmap": """
def score(w, x):
    return (w * x).sum()
result = jax.jit(jax.grad(lambda w, xs: jax.vmap(score, in_axes=(None, 0))(w, xs).sum()))(jnp.ones(3), jnp.ones((2, 3)))
result = jax.jit(jax.vmap(jax.value_and_grad(score)))(jnp.ones((2, 3)), jnp.ones((2, 3))), result
""",
    "nested jits": """
@jax.jit
def layer(weights, inputs):
    return jnp.tanh(inputs @ weights)
@jax.jit
def network(stack, inputs):
    for weights in stack:
        inputs = layer(weights, inputs)
    return inputs
result = network([jnp.ones((3, 3)), jnp.ones((3, 3))], jnp.ones(3))
""",
    "scan": """
def cumulative(start, xs):
    def body(carry, x):
        return carry + x, carry
    last, all_ = jax.lax.scan(body, start, xs)
    return {"last": last, "all": all_}
result = jax.jit(cumulative)(jnp.zeros(()), jnp.arange(3.0))
""",
    "wrapped": """
import functools
def logged(fun):
    @functools.wraps(fun)
    def wrapper(*args, **kwargs):
        return fun(*args, **kwargs)
    return wrapper
@jax.jit
@logged
def train(params, batch):
    return params * batch
result = train(jnp.ones(2), jnp.ones(2))
""",
    "pmap": """
def device_step(params, shard):
    return {"sum": jax.lax.psum(params * shard, "i")}
result = jax.pmap(device_step, axis_name="i", in_axes=(None, 0))(jnp.ones(3), jnp.ones((1, 3)))
""",
    "shard_map": """
from jax.sharding import PartitionSpec as P
mesh = jax.sharding.Mesh(jax.devices()[:1], ("i",))
def block(lhs, rhs):
    return lhs @ rhs
mapped = jax.shard_map(block, mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i"))
result = jax.jit(mapped)(jnp.ones((2, 2)), jnp.ones((2, 2)))
""",
    "names of modules and builtins": """
def update(data, lax, input, filter):
    return jnp.abs(data) + abs(lax) * input.sum() + filter
result = jax.jit(update)(jnp.ones(2), jnp.ones(2), jnp.ones(2), jnp.ones(2))
""",
    "method with self": """
from functools import partial
class Model:
    w = 2.0
    @partial(jax.jit, static_argnums=0)
    def step(self, state):
        return state * self.w
result = Model().step(jnp.ones(3))
""",
}

HEAD = """
import jax, jax.numpy as jnp
from jax._src.interpreters import mlir
lowered, lower = [], mlir.lower_jaxpr_to_module
def lower_and_keep(*args, **kwargs):
    result = lower(*args, **kwargs)
    lowered.append(result.module.operation.get_asm(enable_debug_info=True))
    return result
mlir.lower_jaxpr_to_module = lower_and_keep
"""

TELL = r"""
import re
for text in lowered:
    print(*re.findall(r'module @(\w+)|loc\("([^"/:]*)"\)|result_info = "([^"]*)"', text))
"""
"""Names of the modules and their arguments and results. Those of functions of JAX stand before a colon."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_in_lowered_modules_are_the_same(runner: battery.Runner, name: str) -> None:
    source = PROGRAMS[name]
    (capture,) = runner.run([{"source": "import jax, jax.numpy as jnp\n" + source, "mode": "everything"}])
    text = capture["texts"][-1]
    # One run each, as what is compiled already is not lowered again.
    (original,) = runner.run([{"source": HEAD + source + TELL, "mode": "plain"}])
    (again,) = runner.run([{"source": HEAD + text + TELL, "mode": "plain"}])
    assert original["error"] is None and again["error"] is None, (text, original["error"], again["error"])
    named = [sorted(one["printed"].splitlines()) for one in (original, again)]
    assert named[0] == named[1], text


def test_a_code_is_asked_for_its_positions_once():
    """They come one after another: to look for each call from the start takes minutes where there are thousands."""

    class Code:
        co_filename = __file__
        asked = 0

        def co_positions(self):
            self.asked += 1
            return iter([(1, 1, 0, 1)] * 3)

    code = Code()
    assert [names.of_place((code, offset)) for offset in (0, 2, 4, 6)] == [None] * 4
    assert code.asked == 1
