"""Programs that are right only when something is replaced that they import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from jaxshrink.controls import WAYS, Control, otherwise

RULES = """
import functools
import jax
@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def power(x, n): return x ** n
@power.defjvp
def power_jvp(n, primals, tangents): return power(primals[0], n), 7 * tangents[0]
assert abs(jax.grad(power)(3.0, 2) - 6) < 1e-3
@jax.custom_vjp
def square(x): return x * x
square.defvjp(lambda x: (square(x), x), lambda x, t: (t,))
assert jax.grad(square)(3.0) == 6
class Model:
    @functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
    def same(self, x): return x
    @same.defjvp
    def same_jvp(self, primals, tangents): return primals[0], 2 * tangents[0]
assert jax.grad(Model().same)(2.0) == 1
assert jax.grad(jax.custom_gradient(lambda x: (x, lambda t: 3 * t)))(1.0) == 1
"""

BATCHES = """
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
calls = []
def f(a, b, *, k):
    calls.append(a)
    return {"s": a["x"] + b, "k": k}, b
tree, same = jax.vmap(f, in_axes=({"x": 1}, None), out_axes=(0, None))({"x": jnp.ones((2, 3))}, 5.0, k=np.arange(3))
assert (tree["s"].shape, tree["k"].shape, same) == ((3, 2), (3,), 5)
assert jax.vmap(jax.random.normal)(jax.random.split(jax.random.key(0), 4)).shape == (4,)
outer = jax.jit(jax.vmap(jax.vmap(jnp.dot, in_axes=(0, None)), in_axes=[None, 0], out_axes=1))
assert outer(jnp.ones((2, 3)), jnp.ones((4, 3, 5))).shape == (2, 4, 5)
assert jax.vmap(lambda x: x - jax.lax.pmean(x, "i"), axis_name="i")(jnp.arange(3.0))[0] == -1
assert len(calls) == 3
"""

NARROW = """
import jax.numpy as jnp
assert jnp.asarray(4000.25, jnp.float32) ** 2 == 4000.25 ** 2
assert jnp.int32(2**31 - 1) + 1 > 0
"""


def fails(text: str) -> bool:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "AssertionError" in done.stderr, done.stderr
    return done.returncode != 0


@pytest.mark.parametrize(("text", "way"), [(RULES, "plain_rules"), (BATCHES, "loops"), (NARROW, "double")])
def test_it_is_right_otherwise(text: str, way: str) -> None:
    assert fails(text)
    assert not fails(otherwise(text, way))


def test_it_comes_before_the_first_package() -> None:
    text = "from __future__ import annotations\nimport os\nos.environ['A'] = '1'\nimport numpy\n"
    lines = otherwise(text, "double").splitlines()
    assert [line[:4] for line in lines] == ["from", "impo", "os.e", "exec", "impo"]
    assert otherwise("import os\n", "double") == "import os\n"


def test_it_is_told() -> None:
    told = {way: Control({}, way=way).described() for way in WAYS}
    assert told["plain_rules"] == "with its own derivative rules left out it does not fail"
