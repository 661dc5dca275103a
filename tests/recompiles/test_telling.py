"""What is told of compilations, and asserted."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import pytest

from jaxshrink import recompiles


@pytest.mark.parametrize("wanted", ["step", "function", "jitted"])
def test_what_is_asserted(wanted: str) -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    jitted = jax.jit(step)
    fn: dict[str, str | Callable[..., jax.Array]] = {"step": "step", "function": step, "jitted": jitted}
    with recompiles.assert_compiles(fn[wanted], 1):
        jitted(np.ones(3))
        jitted(np.ones(3))
    with recompiles.assert_compiles(fn[wanted], 2, at_most=True):
        jitted(np.ones(4))
    with pytest.raises(AssertionError, match=r"(?s)step was compiled 1 times, not 0.*called at.*first call"):
        with recompiles.assert_compiles(fn[wanted], 0):
            jitted(np.ones(5))
    with pytest.raises(AssertionError, match="step was compiled 0 times, not 1: it was not called, or each time as it"):
        with recompiles.assert_compiles(fn[wanted], 1):
            jitted(np.ones(5))


def test_a_table() -> None:
    def step(x: jax.Array, lr: float) -> jax.Array:
        return x * lr

    with recompiles.watch() as watched:
        for lr in (0.1, np.float32(0.1)):
            jax.jit(step)(np.ones(3), lr)
        jax.jit(lambda x: x)(1)
    told = recompiles.table(watched)
    assert "compiled twice" in told
    assert "lr: Python float → f32[]" in told
    assert "→ lr is a Python float first and a strong f32 now: pass jnp.float32(lr) each time (2)" in told
    assert "Compiled once\n  <lambda>" in told


def test_a_call_that_is_compiled_twice_is_not_among_those_compiled_once() -> None:
    with recompiles.watch() as watched:
        lowered = jax.jit(lambda x: x * 2).lower(np.ones(3))
        lowered.compile()
        lowered.compile(compiler_options={"xla_embed_ir_in_executable": True})
    assert recompiles.table(watched).startswith("<lambda>") and watched.count("<lambda>") == 2


def test_loops_outside_of_jit_are_told_what_to_do() -> None:
    with recompiles.watch() as watched:
        for _ in range(2):
            jax.lax.while_loop(lambda x: x < 3, lambda x: x + 1, 0)
    told = " ".join(recompiles.table(watched).split())
    assert "compiled twice: new function object (1)" in told
    assert "`while` is called outside of jit, with a function that is made anew each time" in told
