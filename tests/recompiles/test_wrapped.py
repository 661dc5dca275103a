"""Calls through wrappers of libraries are told as the program has made them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxshrink import recompiles
from jaxshrink.recompiles import Function, Report


def step(model: Any, batch: dict[str, jax.Array], lr: float) -> jax.Array:
    return lr * model(batch["x"]).sum()


def only(watched: Report, name: str) -> Function:
    (found,) = (each for each in watched.functions if each.name == name)
    return found


def differences(function: Function) -> list[list[str]]:
    return [[str(each) for each in miss.differences] for miss in function.misses]


def test_equinox() -> None:
    equinox = pytest.importorskip("equinox")
    jitted = equinox.filter_jit(step)
    model = equinox.nn.Linear(3, 2, key=jax.random.key(0))
    with recompiles.watch() as watched:
        for kind, lr in (("f4", 0.1), ("f2", 0.1), ("f2", 0.2), ("f2", jnp.float32(0.2))):
            jitted(model, {"x": np.ones(3, kind)}, lr)
    function = only(watched, "step")
    assert (function.defined, function.owner) == (f"{__file__}:{step.__code__.co_firstlineno}", "program")
    first = str(function.misses[0].signature)
    assert first == "model: 2 arrays (f32[2,3], f32[2]), batch['x']: f32[3], lr: 0.1 (static)"
    assert differences(function) == [[], ["batch['x']: f32[3] → f16[3]"], ["lr: 0.1 → 0.2"], ["lr: 0.2 → f32[]"]]
    assert function.misses[1].reason == "input types" and function.misses[3].reason == "static argument"


def test_methods_of_equinox() -> None:
    equinox = pytest.importorskip("equinox")

    class Model(equinox.Module):  # type: ignore[misc, name-defined]
        w: jax.Array
        scale: float

        @equinox.filter_jit
        def apply(self, x: jax.Array) -> jax.Array:
            return self.w * x * self.scale

    with recompiles.watch() as watched:
        for scale in (1.0, 2.0):
            Model(jnp.ones(3), scale).apply(np.ones(3))
    assert differences(only(watched, "apply")) == [[], ["self.scale: 1.0 → 2.0"]]


def test_new_functions_in_a_wrapper() -> None:
    equinox = pytest.importorskip("equinox")
    with recompiles.watch() as watched:
        for shift in (1.0, 2.0):
            equinox.filter_jit(lambda x: x + shift)(np.ones(3))  # noqa: B023
    miss = only(watched, "<lambda>").misses[1]
    assert miss.reason == "new function object" and [str(each) for each in miss.differences] == ["shift: 1.0 → 2.0"]
    assert miss.advice == ("`<lambda>` closes over shift (1.0, 2.0), and is new for each: jit one function, and pass "
                           "these as arguments",)  # fmt: skip


def test_modules_with_modes() -> None:
    nnx = pytest.importorskip("flax.nnx")
    model = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
    jitted = nnx.jit(step)
    with recompiles.watch() as watched:
        for mode in (model.train, model.eval):
            mode()
            jitted(model, {"x": np.ones(3)}, 0.1)
    miss = only(watched, "step").misses[1]
    assert [str(each) for each in miss.differences] == ["model.deterministic: False → True"]
    assert miss.advice == ("model.deterministic, which is static, has had 2 values (False, True): that is needed once "
                           "for each",)  # fmt: skip


def test_pmap() -> None:
    mapped = jax.pmap(lambda params, batch, decay: params["w"] * batch["x"] * decay, static_broadcasted_argnums=2)
    with recompiles.watch() as watched:
        for size, decay in ((3, 0.1), (4, 0.1), (4, 0.2)):
            mapped({"w": np.ones((1, 1))}, {"x": np.ones((1, size)), "y": np.ones(1)}, decay)
    function = only(watched, "<lambda>")
    assert differences(function)[1] == ["batch['x']: f32[1,3] → f32[1,4]"]
    assert function.compiles == 3
