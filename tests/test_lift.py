"""Programs that hold only what failed, lifted out of real observed runs."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.lift import lifted
from jaxshrink.observation import Observation
from jaxshrink.render import Style
from jaxshrink.scopes import Scopes
from jaxshrink.settle import settle
from jaxshrink.view import View
from tests.observing import observe

CLOSURES = """
import functools
import jax
import jax.numpy as jnp
import numpy as np

SCALE = 2.0

def make(width, activation):
    kernel = jnp.ones((3, width))
    def layer(x, bias=0.0):
        return activation(jnp.dot(x, kernel) * SCALE + bias)
    return layer

def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

@traced
def chain(layers, x):
    for layer in layers:
        x = layer(x)
    return x

layers = [make(width, functools.partial(jax.nn.leaky_relu, negative_slope=0.1)) for width in (3, 4, 5)]
print(np.asarray(chain(layers, jnp.ones((2, 3)))).sum())
"""

MODEL = """
import dataclasses
from typing import NamedTuple
import jax
import jax.numpy as jnp

class State(NamedTuple):
    params: dict
    step: int

@dataclasses.dataclass
class Config:
    width: int = 4
    name: str = "adam"

class Model:
    def __init__(self, config):
        self.config = config
        self.init = {"w": jnp.ones((3, config.width)), "b": jnp.zeros(config.width)}

    def apply(self, params, x):
        return x @ params["w"] + params["b"]

    def loss(self, state, batch):
        return self.apply(state.params, batch["x"]).sum() / state.step

model = Model(Config(width=5))
state = State(model.init, 2)
value, grads = jax.value_and_grad(lambda p: model.loss(state._replace(params=p), {"x": jnp.ones((8, 3))}))(model.init)
step = jax.jit(lambda state, batch: model.loss(state, batch))
step(state, {"x": jnp.ones((8, 2))})
"""

NESTED = """
import jax
import jax.numpy as jnp
from jax import lax

def cell(carry, x):
    h, count = carry
    h = jnp.tanh(h) + x
    return (h, count + 1), jnp.concatenate([h, x], axis=1)

@jax.jit
def run(xs):
    return jax.vmap(lambda row: lax.scan(cell, (jnp.zeros(3), 0), row)[1])(xs)

run(jnp.ones((4, 5, 3)))
"""

PLAIN = """
import jax
import jax.numpy as jnp

def total(*, values, **options):
    result = 0.0
    for value in values:
        result += float(value[options["index"]])
    return result

@jax.jit
def main(x):
    return total(values=[x, x * 2], index=0)

main(jnp.arange(3.0))
"""


DIMENSIONS = "(((1,), (0,)), ((), ()))"
ARRAYS = "jnp.ones((2, 4)), jnp.ones((3, 5))"
DOT_GENERAL = f"jax.lax.dot_general({ARRAYS}, {DIMENSIONS}, preferred_element_type=jnp.float32)"


@dataclasses.dataclass(frozen=True)
class Run:
    """A program with what was observed of it."""

    view: View
    observation: Observation

    def lifted(self, style: Style = Style.ONES) -> list[str]:
        """The texts of all lifted programs."""
        trees_ = lifted(self.view, self.observation, style)
        return [trees.text(settle(ast.fix_missing_locations(tree))) for tree in trees_]


def _run(source: str, folder: Path) -> Run:
    return Run(View(parse_with_origin(source, "repro.py")), observe(folder, source))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    sources = {"closures": CLOSURES, "model": MODEL, "nested": NESTED, "plain": PLAIN}
    return {name: _run(source, tmp_path_factory.mktemp(name)) for name, source in sources.items()}


def program(source: str) -> str:
    return trees.text(settle(ast.parse(source)))


@pytest.mark.parametrize("name", ["closures", "model", "nested", "plain"])
@pytest.mark.parametrize("style", Style)
def test_lifted_programs_are_whole(runs: dict[str, Run], name: str, style: Style) -> None:
    texts = runs[name].lifted(style)
    assert len(texts) > 5
    for text in texts:
        tree = ast.parse(text)
        scopes = Scopes(tree)
        assert [each.id for each in scopes.unbound] == [] and scopes.early(tree) == [], text


@pytest.mark.parametrize("name", ["closures", "model", "nested", "plain"])
def test_each_program_is_lifted_alike_every_time(runs: dict[str, Run], name: str) -> None:
    assert runs[name].lifted() == runs[name].lifted()


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("closures", "jnp.dot(jnp.ones((2, 4)), jnp.ones((3, 5)))"),
        ("closures", DOT_GENERAL),
        ("nested", "jnp.concatenate([jnp.ones(3), jnp.ones(3)], axis=1)"),
        ("plain", "jax.jit(lambda x: float(x))(jnp.float32(1))"),
        ("plain", "0.0 + float(jnp.float32(1))"),
        ("plain", "result = 0.0\nresult += float(jnp.float32(1))"),
        ("model", "jnp.ones((8, 2)) @ jnp.ones((3, 5))"),
    ],
)
def test_the_failing_expression_alone(runs: dict[str, Run], name: str, source: str) -> None:
    assert program(source) in runs[name].lifted()


def test_a_function_of_a_loop_comes_with_the_values_that_it_closes_over(runs: dict[str, Run]) -> None:
    source = """
import functools
activation = functools.partial(jax.nn.leaky_relu, negative_slope=0.1)
SCALE = 2.0
def layer(x, bias=0.0):
    return activation(jnp.dot(x, jnp.ones((3, 5))) * SCALE + bias)
layer(jnp.ones((2, 4)))
"""
    assert sorted(program(source).split("\n")) in [sorted(text.split("\n")) for text in runs["closures"].lifted()]


def test_functions_of_one_name_get_several(runs: dict[str, Run]) -> None:
    texts = runs["closures"].lifted()
    assert any("layers = [layer, layer1, layer2]" in text and "def layer2(" in text for text in texts)


def test_a_carried_loop_is_lifted_with_its_body(runs: dict[str, Run]) -> None:
    calls = [text.split("\n")[-1] for text in runs["nested"].lifted() if "def cell" in text]
    assert "lax.scan(cell, (jnp.ones(3), 0), jnp.ones((5, 3)))" in calls
    assert any(call.startswith("jax.vmap(lambda row: lax.scan(cell") for call in calls)


def test_methods_bring_their_instance_and_its_class(runs: dict[str, Run]) -> None:
    text = next(text for text in runs["model"].lifted() if "object.__new__(Model)" in text)
    assert "class Model:" in text and "model.init = {'w': jnp.ones((3, 5)), 'b': jnp.ones(5)}" in text
    assert "Config(5)" in text or "Config(width=5)" in text
    assert any("State({" in text for text in runs["model"].lifted())
