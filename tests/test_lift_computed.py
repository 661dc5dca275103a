"""Programs that begin at what wrong numbers were computed from, lifted out of one real observed run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.lift import computed
from jaxshrink.render import Style
from jaxshrink.scopes import Scopes
from jaxshrink.settle import settle
from jaxshrink.view import View
from tests.observing import observe

TRAINING = """
import jax
import jax.numpy as jnp

def loss(w, x):
    return jnp.sum(jnp.sqrt(w * x))

class Meter:
    def __init__(self):
        self.seen = []

    def add(self, value):
        self.seen.append(value)

def train(steps):
    step = jax.jit(jax.grad(loss))
    meter = Meter()
    w = jnp.array([4.0, 1.0])
    for i in range(steps):
        x = jnp.arange(2.0) + 1 - i
        scale = 0.5
        g = step(w, x)
        g *= scale
        meter.add(float(x[0]))
        if i > 9:
            pass
        elif not bool(jnp.all(jnp.isfinite(g))):
            bad = jnp.sum(~jnp.isfinite(g))
            raise FloatingPointError(f"step {i}: {bad} are wrong")
        else:
            w = w - g
    return w

train(3)
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    seen = observe(tmp_path_factory.mktemp("training"), TRAINING)
    view = View(parse_with_origin(TRAINING, "repro.py"), seen)
    return [trees.text(settle(ast.fix_missing_locations(each))) for each in computed(view, seen, Style.EXACT)]


def program(source: str) -> str:
    return trees.text(settle(ast.parse("import jax\nimport jax.numpy as jnp\n" + source)))


LOSS = "def loss(w, x):\n    return jnp.sum(jnp.sqrt(w * x))\n"
FOUND = """
if not bool(jnp.all(jnp.isfinite(g))):
    bad = jnp.sum(~jnp.isfinite(g))
    raise FloatingPointError(f'step {1}: {bad} are wrong')
"""


def test_whole_programs(texts: list[str]) -> None:
    for text in texts:
        tree = ast.parse(text)
        scopes = Scopes(tree)
        assert [each.id for each in scopes.unbound] == [] and scopes.early(tree) == [], text


def test_one_step_back(texts: list[str]) -> None:
    """The statements that made what the condition looks at; what they read is as it was in the round that failed."""
    values = "jnp.array([3.875, 0.6464466], jnp.float32), jnp.array([0.0, 1.0], jnp.float32)"
    assert program(f"{LOSS}step = jax.jit(jax.grad(loss))\ng = step({values})\ng *= 0.5{FOUND}") in texts


def test_two_steps_back(texts: list[str]) -> None:
    text = next(text for text in texts if "arange" in text and "def train" not in text)
    assert "x = jnp.arange(2.0) + 1 - 1\nscale = 0.5\n" in text, "in order"
    assert "meter" not in text and "raise" in text and "else" not in text


def test_a_container_is_filled(tmp_path: Path) -> None:
    loop = "found = []\nfor i in range(3):\n    found.append(jnp.sum(i * 7) == 0)\n"
    source = f"import jax.numpy as jnp\n{loop}assert all(found)\n"
    seen = observe(tmp_path, source)
    view = View(parse_with_origin(source, "repro.py"), seen)
    texts = [trees.text(settle(ast.fix_missing_locations(each))) for each in computed(view, seen, Style.EXACT)]
    assert texts[-1].endswith("found = []\nfound.append(jnp.sum(2 * 7) == 0)\nassert all(found)")
