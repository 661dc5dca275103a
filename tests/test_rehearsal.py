"""The search begins with an abstract first run, and what it finds counts only if the real one fails in the same way."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from jaxshrink import NotFailing, Result, shrink
from jaxshrink.delivery import deliver
from jaxshrink.failure import Failure
from jaxshrink.options import Options
from jaxshrink.outcome import Tier
from jaxshrink.progress import Progress

pytestmark = pytest.mark.newest

HEAD = "import time\nimport jax\nimport jax.numpy as jnp\n\n"
MISMATCH = "def loss(w, x):\n    return (x @ w).sum()\n\njax.grad(loss)(jnp.ones((3, 4)), jnp.ones((5, 6)))\n"
SLOW = "if int(jnp.arange(3).sum()) == 3: time.sleep({})\n"
"""The numbers are not known to an abstract run, so it does not sleep."""


class Events(Progress):
    """The events of a job in their order, and when they came."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []

    def failing(self, failure: Failure, seconds: float) -> None:
        self.told.append(("failing", time.monotonic()))

    def improved(self, tokens: int) -> None:
        self.told.append(("improved", time.monotonic()))

    def verified(self, times: int) -> None:
        self.told.append(("verified", time.monotonic()))


@pytest.fixture
def repro(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "repro.py"


def code(result: Result) -> str:
    assert result.source is not None
    return "".join(line for line in result.source.splitlines(keepends=True) if not line.startswith("#")).strip()


CHECKS = """\
import numpy as np

def check(x):
    if float(x.sum()) != 3:
        raise ValueError("the sum is wrong")

x = jnp.arange(3)
assert float(x[2]) == 2
np.testing.assert_allclose(x, [0, 1, 2])
check(x)
"""


@pytest.mark.parametrize("before", ["", CHECKS])
def test_the_search_is_over_when_the_first_run_is(before: str, repro: Path) -> None:
    """Nothing is told before it is known that the program does fail in this way; and its checks of numbers may fail."""
    repro.write_text(HEAD + before + SLOW.format(12) + MISMATCH)
    events = Events()
    result = deliver(Options.of("repro.py", {}), events)
    assert [name for name, _ in events.told] == ["failing", "improved", "verified"]
    times = dict(events.told)
    assert times["verified"] - times["failing"] < 1
    assert result.failure is not None and "dot_general" in result.failure.message
    assert result.stats.cold_seconds is not None and result.stats.cold_seconds > 12


def test_the_result_does_not_depend_on_how_long_the_first_run_takes(repro: Path) -> None:
    repro.write_text(HEAD + MISMATCH)
    at_once = shrink("repro.py")
    repro.write_text(HEAD + SLOW.format(5) + MISMATCH)
    assert code(shrink("repro.py", force=True)) == code(at_once) != ""


@pytest.mark.parametrize(
    ("text", "exception", "kept"),
    [
        ("if jnp.arange(3).sum() > 2: {}['real']\n" + MISMATCH, "KeyError", "real"),
        ("x = jnp.ones(3) * 0\nif x[0] == 1: jnp.dot(x, jnp.ones(4))\njnp.zeros(3).reshape(2)", "TypeError", "reshape"),
        ("def f(n): return n and f(n - 1)\nf(int(jnp.arange(100).sum()))", "RecursionError", "f"),
    ],
)
def test_a_real_run_that_fails_otherwise_counts(text: str, exception: str, kept: str, repro: Path) -> None:
    """An abstract one computes no numbers: here it fails in another place, or in none."""
    repro.write_text(HEAD + text)
    result = shrink("repro.py")
    assert result.failure is not None and result.failure.type == exception
    assert result.source is not None and kept in result.source


def test_a_failure_in_the_rehearsal_alone_is_none(repro: Path) -> None:
    repro.write_text(HEAD + "x = jnp.arange(3)\nif x[0] == 1: jnp.dot(x, jnp.ones(4))\nprint(x)\n")
    with pytest.raises(NotFailing, match="runs to its end"):
        shrink("repro.py")


def test_time_may_be_up_before_the_first_run_is_over(repro: Path) -> None:
    """That is waited for in any case, and the search goes on meanwhile."""
    repro.write_text(HEAD + SLOW.format(5) + MISMATCH)
    result = shrink("repro.py", time_limit=0.5)
    assert result.failure is not None and "dot_general" in result.failure.message
    assert result.stats.seconds > 5


def test_the_real_run_is_the_only_one(repro: Path) -> None:
    repro.write_text(HEAD + MISMATCH)
    result = shrink("repro.py")
    assert result.stats.runs_by_tier[Tier.COLD] == 4  # and three to verify the result
