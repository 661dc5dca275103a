"""Programs that do not fail, or not in the way that is asked for: what the user is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from jaxshrink import inputs, shrink
from jaxshrink.chance import TRIES
from jaxshrink.errors import InputError, JaxshrinkError, NotFailing, UsageError
from jaxshrink.first import failed_test, failure_to_keep
from jaxshrink.options import Options
from jaxshrink.outcome import Compile, End, Frame, Outcome, Tier

TESTS = "def test_a():\n    assert 0\n\n\nclass TestB:\n    def test_c(self):\n        assert 0\n"

WELL = Outcome(End.EXIT, code=0, seconds=0.24)
RAISED = Outcome(End.EXCEPTION, "KeyError", "0", (Frame("repro.py", "<module>", 1, user=True),), seconds=2)
COMPILED = Outcome(End.EXIT, code=0, compiles=(Compile("power"), Compile("power", "weak type"), Compile("cube")))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("outcome", "options", "told"),
    [
        (WELL, {}, "repro.py runs to its end without a failure"),
        (Outcome(End.EXIT, code=3), {}, "repro.py exits with code 3 and without an exception"),
        (Outcome(End.TIMEOUT), {"timeout": 7}, "repro.py did not end within 7 s: if it hangs, give --hang S"),
        (WELL, {"hang": 5}, "repro.py does not hang: after 0.2 s it runs to its end without a failure"),
        (RAISED, {"hang": 5}, "repro.py does not hang: after 2.0 s it raises KeyError"),
        (Outcome(End.SIGNAL, signal=11), {"hang": 5}, "repro.py does not hang: after 0.0 s it is killed by signal 11"),
        (Outcome(End.MEMORY), {"hang": 5}, "repro.py does not hang: after 0.0 s it takes too much memory"),
        (COMPILED, {"recompiles": "power:4"}, "power of repro.py is compiled 2 times, and 4 were asked for"),
        (COMPILED, {"recompiles": "exp:2"}, "exp of repro.py is compiled 0 times, and 2 were asked for"),
        (COMPILED, {"recompiles": 9}, "no function of repro.py is compiled 9 times, but one is 2 times"),
        (RAISED, {"recompiles": 9}, "no function of repro.py is compiled 9 times, but one is 0 times"),
        (WELL, {"match": "nan|inf"}, "repro.py runs to its end, and nothing that it writes matches 'nan|inf'"),
    ],
)
def test_not_failing(outcome: Outcome, options: dict[str, Any], told: str, folder: Path) -> None:
    (folder / "repro.py").write_text("x = 1\n")
    assert _told(outcome, **options) == told


def test_tests_that_nobody_runs(folder: Path) -> None:
    (folder / "repro.py").write_text(TESTS)
    assert _told(WELL) == "repro.py defines tests and runs none of them: name one, as in repro.py::test_a"


def _told(outcome: Outcome, **given: Any) -> str:
    options = Options.of("repro.py", given)  # type: ignore[arg-type]
    with pytest.raises(JaxshrinkError) as raised:
        failure_to_keep(options, inputs.read(options.path), outcome, None)
    assert isinstance(raised.value, NotFailing) and raised.value.exit_code == 3
    return raised.value.message


def test_what_fails_by_chance_is_tried_some_times(folder: Path) -> None:
    (folder / "repro.py").write_text("import random\n\nif random.Random().random() > 2:\n    {}[0]\n")
    for repeat, runs in ((None, TRIES), (2, 2)):
        with pytest.raises(NotFailing) as raised:
            shrink("repro.py", repeat=repeat)
        assert raised.value.result is not None
        assert raised.value.result.stats.runs_by_tier[Tier.COLD] == runs  # one abstract run may be beside the first


@pytest.mark.parametrize("options", [{"passes_with": {"A": "1"}}, {"passes_on": sys.executable}])
def test_a_control_that_is_none(options: dict[str, Any], folder: Path) -> None:
    (folder / "repro.py").write_text("x = [1]\nassert x == [2]\n")
    with pytest.raises(UsageError, match=r"with .* repro.py does not end well either"):
        shrink("repro.py", **options)
    assert not (folder / "repro.min.py").exists()


@pytest.mark.parametrize(
    ("selector", "told"), [("test_d", "test_a"), ("TestB", "name one of its tests, TestB::test_c")]
)
def test_no_such_test(selector: str, told: str, folder: Path) -> None:
    (folder / "repro.py").write_text(TESTS)
    with pytest.raises(InputError, match=told):
        shrink(f"repro.py::{selector}")


@pytest.mark.parametrize(
    ("stderr", "selector"),
    [
        ("FAIL: test_sum (__main__.SumTest.test_sum)\n----\nTraceback", ("SumTest", "test_sum")),
        ("ERROR: test_sum (__main__.SumTest)\n----\nTraceback", ("SumTest", "test_sum")),
        ("= short test summary info =\nFAILED repro.py::SumTest::test_sum - KeyError", ("SumTest", "test_sum")),
        ("FAILED repro.py::test_sum[1-x] - KeyError\nFAILED repro.py::test_b", ("test_sum[1-x]",)),
        ("a test FAILED", ()),
    ],
)
def test_a_test_that_a_runner_found_to_fail(stderr: str, selector: tuple[str, ...]) -> None:
    assert failed_test(Outcome(End.EXIT, code=1, stderr=stderr)) == selector
    assert failed_test(Outcome(End.EXIT, code=0, stderr=stderr)) == ()
