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

PURE = "jax.pure_callback(sink.write, x, x)"
IO = "io_callback(sink.write, x, x)"
DEBUG = "(jax.debug.callback(sink.write, x), x)[1]"

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


@pytest.mark.parametrize(
    ("call", "lifted_call"),
    [
        (PURE, "jax.pure_callback(write, x, x)"),
        (IO, "jax.experimental.io_callback(write, x, x)"),
        (DEBUG, "jax.debug.callback(write, x)"),
    ],
)
def test_what_raised_in_a_callback_is_called_back_again(call: str, lifted_call: str, tmp_path: Path) -> None:
    texts = lifted_from(CALLBACK.replace("CALL", call), tmp_path)
    experimental = "import jax.experimental\n" if "experimental" in lifted_call else ""
    head = f"{experimental}class Full(Exception):\n    pass\ndef write(x):\n"
    failing = "raise Full('2 of 2')"
    first = f"{head}    {failing}\njax.jit(lambda x: {lifted_call})(1)"
    later = f"{head}    if x:\n        {failing}\n    return x\nf = jax.jit(lambda x: {lifted_call})\nf(0)\nf(1)"
    assert program(first) in texts
    assert program(later) in texts


def test_names_of_a_callback_do_not_hide_what_it_reads(tmp_path: Path) -> None:
    source = """
import jax
x = {1: 2}
def find(key):
    return x[int(key)]
jax.jit(lambda key: jax.pure_callback(find, key, key))(3)
"""
    texts = lifted_from(source, tmp_path)
    assert any("def find(x1):\n    x[int(" in text for text in texts), texts


def test_a_deleted_array_is_donated_before_it_is_used(tmp_path: Path) -> None:
    texts = lifted_from(DONATED.replace("USE", "print(history[0]['w'] + 1)"), tmp_path)
    donated = "x = jnp.ones((3, 2))\njax.jit(lambda x: x, donate_argnums=0)(x)\nx + 1"
    assert any(text.endswith(donated) for text in texts), texts


def test_a_donated_array_is_passed_twice(tmp_path: Path) -> None:
    texts = lifted_from(DONATED.replace("USE", "update(history[0])"), tmp_path)
    value = "{'w': jnp.ones((3, 2))}"
    plain = f"f = jax.jit(lambda x: x, donate_argnums=0)\nx = {value}\nf(x)\nf(x)"
    assert program(plain) in texts
    assert any(text.count("update(x)") == 2 and f"x = {value}" in text for text in texts), texts


def test_arrays_that_live_are_not_donated(tmp_path: Path) -> None:
    texts = lifted_from(DONATED.replace("USE", "params['w'] @ params['w']"), tmp_path)
    assert texts and not any("lambda x: x, donate_argnums" in text for text in texts)
