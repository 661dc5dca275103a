"""Lifted programs for failures that a call shows only because of what was before it, or inside a compiled function."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.lift import lifted
from jaxshrink.render import Style
from jaxshrink.settle import settle
from jaxshrink.view import View
from jaxshrink.watch import watch

CALLBACK = """
import jax
import jax.numpy as jnp
from jax.experimental import io_callback

class Full(Exception):
    pass

class Sink:
    def __init__(self, room):
        self.x, self.room = [], room

    def write(self, value):
        if len(self.x) == self.room:
            raise Full(f"{len(self.x)} of {self.room}")
        self.x.append(value)
        return value

sink = Sink(2)

@jax.jit
def step(x):
    return CALL + 1

for i in range(5):
    step(jnp.float32(i)).block_until_ready()
"""

DONATED = """
import jax
import jax.numpy as jnp

def decayed(params):
    return jax.tree.map(lambda p: 0.9 * p, params)

update = jax.jit(decayed, donate_argnums=0)
history = []
params = {"w": jnp.ones((3, 2))}
for _ in range(3):
    history.append(params)
    params = update(params)
USE
"""


def lifted_from(source: str, folder: Path) -> list[str]:
    """The texts of all lifted programs."""
    (folder / "repro.py").write_text(source)
    environment = {**os.environ, "JAX_TRACEBACK_FILTERING": "off", "JAX_PLATFORMS": "cpu"}
    observation = watch(sys.executable, folder, "repro.py", (), environment, 120)
    found = lifted(View(parse_with_origin(source, "repro.py")), observation, Style.ONES)
    return [trees.text(settle(ast.fix_missing_locations(tree))) for tree in found]


def program(source: str) -> str:
    return trees.text(settle(ast.parse(source)))


FULL = "class Full(Exception):\n    pass\n"
RAISE = "raise Full('2 of 2')"


def test_what_raised_in_a_pure_callback_is_called_back_first_and_later(tmp_path: Path) -> None:
    texts = lifted_from(CALLBACK.replace("CALL", "jax.pure_callback(sink.write, x, x)"), tmp_path)
    jitted = "jax.jit(lambda x: jax.pure_callback(write, x, x))"
    assert program(f"{FULL}def write(x):\n    {RAISE}\n{jitted}(1)") in texts
    later = f"{FULL}def write(x):\n    if x:\n        {RAISE}\n    return x\nf = {jitted}\nf(0)\nf(1)"
    assert program(later) in texts


@pytest.mark.parametrize(
    ("call", "lifted_call"),
    [
        ("io_callback(sink.write, x, x)", "jax.experimental.io_callback(write, None)"),
        ("(jax.debug.callback(sink.write, x), x)[1]", "jax.debug.callback(write)"),
    ],
)
def test_what_raised_in_a_callback_with_effects_is_called_back(call: str, lifted_call: str, tmp_path: Path) -> None:
    texts = lifted_from(CALLBACK.replace("CALL", call), tmp_path)
    head = "import jax.experimental\n" * ("experimental" in lifted_call) + f"{FULL}def write():\n    {RAISE}\n"
    assert program(f"{head}{lifted_call}") in texts
    assert program(f"{head}jax.jit(lambda: {lifted_call})()") in texts


def test_a_callback_fails_with_what_it_read_then(tmp_path: Path) -> None:
    source = """
import jax
x = {}
widths = {1: 2}
def find(key):
    x[0] = widths[key.item()]
    return key
f = jax.jit(lambda key: jax.pure_callback(find, key, key))
f(1)
f(3)
"""
    texts = lifted_from(source, tmp_path)
    assert program("def find():\n    {1: 2}[3]\njax.pure_callback(find, None)") in texts
    other_name = "x = {}\ndef find(x1):\n    x[0] = {1: 2}[3]\njax.jit(lambda x1: jax.pure_callback(find, x1, x1))(1)"
    assert program(other_name) in texts


def test_a_callback_raises_without_what_it_handled(tmp_path: Path) -> None:
    source = """
import jax
class Bad(Exception):
    pass
def check(x):
    try:
        return {}[0]
    except KeyError as error:
        raise Bad("nothing there") from error
jax.jit(lambda x: jax.pure_callback(check, x, x))(1)
"""
    failing = "class Bad(Exception):\n    pass\ndef check():\n    raise Bad('nothing there')\n"
    assert program(f"{failing}jax.pure_callback(check, None)") in lifted_from(source, tmp_path)


def test_a_generator_is_as_exhausted_as_it_was(tmp_path: Path) -> None:
    source = """
import jax
class Feed:
    def __init__(self):
        self.batches = (i for i in range(2))
    def take(self):
        return next(self.batches)
feed = Feed()
step = jax.jit(lambda x: jax.debug.callback(feed.take))
for i in range(3):
    step(i)
    jax.effects_barrier()
"""
    assert program("def take():\n    next(iter(()))\njax.debug.callback(take)") in lifted_from(source, tmp_path)


def test_an_object_is_made_again_without_the_one_that_holds_it(tmp_path: Path) -> None:
    source = """
import jax
class Server:
    def __init__(self):
        self.compiled = {}
    def get(self, x):
        if x.shape not in self.compiled:
            self.compiled[x.shape] = jax.jit(lambda x: -x).lower(x).compile()
        return self.compiled[x.shape]
    def serve(self, x):
        return self.get(x)(x)
server = Server()
server.serve(jax.numpy.ones(2))
server.serve(jax.numpy.ones(2, int))
"""
    made = "jax.jit(lambda x: -x).lower(jnp.ones(2)).compile()"
    texts = lifted_from(source, tmp_path)
    assert any(text.endswith(f"\nmade = {made}\nmade(jnp.ones(2, int))") for text in texts), texts


def test_a_deleted_array_is_donated_before_it_is_used(tmp_path: Path) -> None:
    texts = lifted_from(DONATED.replace("USE", "print(history[0]['w'] + 1)"), tmp_path)
    donated = "x = jnp.ones((3, 2))\njax.jit(lambda x: x, donate_argnums=0)(x)\nx + 1"
    assert any(text.endswith(donated) for text in texts), texts


def test_a_donated_array_is_passed_again(tmp_path: Path) -> None:
    texts = lifted_from(DONATED.replace("USE", "update(history[0])"), tmp_path)
    x = "x = jnp.ones((3, 2))\n"
    assert program(f"f = jax.jit(lambda x: x, donate_argnums=0)\n{x}f(x)\nf(x)") in texts
    assert any(x in text and text.endswith("update({'w': x})\nupdate({'w': x})") for text in texts), texts


def test_an_array_is_donated_twice_to_one_call(tmp_path: Path) -> None:
    source = """
import dataclasses
import jax
import jax.numpy as jnp

@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    online: jax.Array
    target: dict

params = {"w": jnp.ones((3, 2))}
state = State(params, dict(params))
update = jax.jit(lambda state: state, donate_argnums=0)
update(state)
"""
    texts = lifted_from(source, tmp_path)
    x = "x = jnp.ones((3, 2))\n"
    both = "jax.jit(lambda x, y: (x, y), donate_argnums=(0, 1))"
    assert program(f"{x}{both}(x, x)") in texts
    assert program(f"f = {both}\nx, y = f(jnp.ones((3, 2)), jnp.ones((3, 2)))\nf(x, x)") in texts
    assert any(text.endswith(f"{x}state = State({{'w': x}}, {{'w': x}})\nupdate(state)") for text in texts), texts


def test_arrays_that_live_are_not_donated(tmp_path: Path) -> None:
    texts = lifted_from(DONATED.replace("USE", "params['w'] @ params['w']"), tmp_path)
    assert texts and not any("lambda x: x, donate_argnums" in text for text in texts)
