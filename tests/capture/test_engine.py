"""Programs as people write them, for each part of JAX's API: what is captured does the same."""

from __future__ import annotations

import itertools

import battery
import pytest

FILES = ("transforms", "derivatives", "control", "rules", "shardings", "arrays", "settings", "library")
NAMED = [(f"{file}-{i}", batch) for file in FILES for i, batch in enumerate(battery.batches(file))]
MARKS = itertools.cycle((pytest.mark.slow, pytest.mark.newest))
BATCHES = [pytest.param(batch, id=name, marks=next(MARKS)) for name, batch in NAMED]

LIMITS = {
    "fails key reuse": "what an eager call has done to a key before is not known of the key",
    "passes sparse": "a sparse array is a tuple of arrays, to which the rules for sparse arrays do not apply",
    "passes sparsify": "the same",
    "fails sparsify": "the same",
}
"""What is not captured, and why."""


@pytest.mark.parametrize("batch", BATCHES)
def test_what_is_captured_does_the_same(runner: battery.Runner, batch: list[battery.Program]) -> None:
    found = {one.program.name: list(battery.problems(one)) for one in runner.results(batch)}
    wrong = {name: problems for name, problems in found.items() if problems and name not in LIMITS}
    assert not wrong, "\n\n".join(f"{name}:\n" + "\n".join(problems) for name, problems in wrong.items())
    assert not [name for name, problems in found.items() if name in LIMITS and not problems], "no limit any more"
