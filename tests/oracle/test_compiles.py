"""What is compiled in a run, and why."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import Compile, Outcome, Tier
from jaxshrink.watch import watch

HEAD = "import functools, jax, numpy as np\nx = np.ones(3, np.float32)\n"

REASONS = {
    "static argument": "f = jax.jit(lambda x, n: x * n, static_argnums=1)\nf(x, 1)\nf(x, 2)",
    "input types": "f = jax.jit(lambda x: x)\nf(x)\nf(x[:2])",
    "weak type": "f = jax.jit(lambda x: x)\nf(x)\nf(1.0)\nf(np.float32(1))",
    "tree structure": "f = jax.jit(lambda x: 1)\nf((x,))\nf([x])",
    "config": "f = jax.jit(lambda x: x)\nf(x)\nwith jax.default_matmul_precision('float32'): f(x)",
    "new function object": "for i in range(2): jax.jit(lambda x: x + i)(x)",
    "sharding": "f = jax.jit(lambda x: x + 1)\nf(x)\nf(jax.device_put(x, jax.devices()[1]))",
}


@pytest.fixture(scope="module")
def counting() -> Iterator[Runner]:
    env = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    with Runner(Setting(sys.executable, env=env, timeout=20.0, compiles=True)) as runner:
        yield runner


def of_lambdas(outcome: Outcome) -> list[str]:
    return [each.reason for each in outcome.compiles if each.name == "<lambda>"]


@pytest.mark.parametrize("tier", [Tier.WARM, Tier.COLD])
@pytest.mark.parametrize("reason", REASONS)
def test_reasons(counting: Runner, tier: Tier, reason: str) -> None:
    (outcome,) = counting.run([HEAD + REASONS[reason]], tier)
    first, *_, last = of_lambdas(outcome)
    assert (first, last, outcome.stderr) == ("never seen function", reason, "")


def test_a_cache_of_compiled_code_hides_nothing(counting: Runner) -> None:
    text = HEAD + "for n in range(3): jax.jit(lambda x, n: x * n, static_argnums=1)(x, n)\n"
    once, again = (counting.run([text + end], Tier.WARM)[0].compiles for end in ("", "\n"))
    assert len(once) == 3 and once == again


def test_what_is_compiled_before_a_failure(counting: Runner) -> None:
    (outcome,) = counting.run(
        [HEAD + "jax.jit(np.negative)\njax.jit(lambda x: x)(x)\nimport os\nos.abort()"], Tier.WARM
    )
    assert outcome.compiles == (Compile("<lambda>", "never seen function"),)
    assert outcome.signal == 6


def test_the_log_is_as_the_program_wants_it(counting: Runner) -> None:
    """It hears nothing of what is logged for us."""
    text = "import logging\nlogging.basicConfig(level=logging.INFO, format='%(message)s')\n" + HEAD
    text += "jax.config.update('jax_log_compiles', {})\njax.jit(lambda x: x)(x)\n"
    quiet, loud = (counting.run([text.format(wanted)], Tier.WARM)[0].stderr for wanted in (False, True))
    assert "ompiling" not in quiet and "MISS" not in quiet
    assert "Compiling jit(<lambda>)" in loud and "MISS" not in loud


def test_the_first_run(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text(HEAD + "for i in range(3): jax.jit(lambda x: x + i)(x)\n")
    environment = Setting(sys.executable).environment()
    outcome = watch(sys.executable, tmp_path, "repro.py", (), environment, 60.0, compiles=True).outcome
    assert of_lambdas(outcome) == ["never seen function", "new function object", "new function object"]
    assert "MISS" not in outcome.stderr
