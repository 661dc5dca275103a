"""The big cuts, asked of an interest that is made up."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from jaxshrink.bundle import parse_with_origin
from jaxshrink.cuts import RECURRING, Cuts, Unreproducible
from jaxshrink.interest import Interest
from jaxshrink.outcome import Tier
from tests.observing import observe


class Asked:
    """Finds nothing interesting, and keeps what it is asked."""

    floor = tier = Tier.WARM
    hang, sizes, is_about_values = None, True, False
    runner = SimpleNamespace(setting=SimpleNamespace(jobs=1))

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.rounds: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> list[bool]:
        self.texts += texts
        self.rounds.append([*texts])
        return [False] * len(texts)


def test_of_a_recursion_both_ends_are_lifted(tmp_path: Path) -> None:
    text = "def f(n, size):\n    return f(n - 1, size) if n else [0][n + size]\ndef start():\n    f(100, 7)\nstart()\n"
    observation, asked = observe(tmp_path, text), Asked()
    assert len(observation.frames) == 103
    cuts = Cuts(parse_with_origin(text, "repro.py"), observation, cast("Interest", asked), ())
    with pytest.raises(Unreproducible):
        cuts.run()
    called = {n for n in range(101) if any(f"f({n}, 7)" in each for each in asked.texts)}
    assert {0, 100} <= called and len(called) <= 2 * RECURRING + 1


def test_long_programs_wait_for_the_answer_on_short_ones() -> None:
    """They run long, and a short one may do."""
    texts = ["f(1)", "f(22)", "\n".join(["f()"] * 600), "\n".join(["f()"] * 700)]
    asked = Asked()
    cuts = Cuts(parse_with_origin("f()", "repro.py"), None, cast("Interest", asked), ())
    assert cuts.first([ast.parse(text) for text in texts], Tier.WARM) is None
    assert asked.rounds == [texts[:2], texts[2:]]
