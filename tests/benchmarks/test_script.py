"""The interestingness script: its verdicts, what it gives a candidate, and its log."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.inputs import Input
from benchmarks.judge import fails_alike
from benchmarks.script import Script
from benchmarks.sizes import Point

TEXT = "raise ValueError('shapes 12')"
GIVEN = Input("given", "ValueError", r"shapes \d+", args=("7",), env={"SIZE": "3"}, text=TEXT)

TRACEBACK = 'Traceback (most recent call last):\n  File "repro.py", line 1, in <module>\n    f(x)\n'


@pytest.mark.parametrize(
    ("stderr", "same"),
    [
        (TRACEBACK + "ValueError: shapes 12", True),
        ("a warning\n" + TRACEBACK + "ValueError: bad\nshapes 12\nand more\n", True),
        (TRACEBACK + "ValueError: shapes of 12", False),
        (TRACEBACK + "TypeError: ValueError: shapes 12", False),
        (TRACEBACK + "lib.ValueError: shapes 12", False),
        (TRACEBACK + "ValueError", False),
        (TRACEBACK + "ValueError: shapes 1\n\nIt was the cause of:\n\n" + TRACEBACK + "KeyError: 1", False),
        (TRACEBACK + "KeyError: 1\n\nAnother occurred:\n\n" + TRACEBACK + "ValueError: shapes 1", True),
        ("ValueError: shapes 12", False),
        ("", False),
    ],
)
def test_type_and_message_of_the_last_traceback(stderr: str, same: bool) -> None:
    assert fails_alike(stderr, "ValueError", r"shapes \d+") == same


def test_a_type_without_a_message() -> None:
    assert fails_alike(TRACEBACK + "AssertionError\n", "AssertionError", "")


@pytest.fixture
def script(tmp_path: Path) -> Script:
    beside = tmp_path / "beside"
    GIVEN.copy_to(beside)
    (beside / "data.txt").write_text("shapes 5")
    (beside / "package").mkdir()
    (beside / "package" / "__init__.py").write_text("size = 8")
    return Script.write(tmp_path / "notes", GIVEN, beside, sys.executable, timeout=10.0)


def ask(script: Script, folder: Path, text: str) -> bool:
    candidate = folder / "candidate" / "repro.py"
    candidate.parent.mkdir(exist_ok=True)
    candidate.write_text(text)
    done = subprocess.run([script.path], cwd=candidate.parent, stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.stdout == ("interesting\n" if done.returncode == 0 else "not\n")
    return done.returncode == 0


def test_the_candidate_has_what_lies_beside_the_program(script: Script, tmp_path: Path) -> None:
    assert ask(script, tmp_path, "raise ValueError('shapes 3')")
    assert ask(script, tmp_path, "raise ValueError(open('data.txt').read())")
    assert ask(script, tmp_path, "import package; raise ValueError(f'shapes {package.size}')")
    assert ask(script, tmp_path, "import sys; raise ValueError('shapes ' + sys.argv[1])")
    assert ask(script, tmp_path, "import os; raise ValueError('shapes ' + os.environ['SIZE'])")
    assert not ask(script, tmp_path, "raise ValueError('other')")
    assert not ask(script, tmp_path, "raise ValueError('shapes 3'")
    assert not ask(script, tmp_path, "")


def test_a_candidate_that_does_not_end(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    GIVEN.copy_to(beside)
    script = Script.write(tmp_path / "notes", GIVEN, beside, sys.executable, timeout=0.5)
    assert not ask(script, tmp_path, "import time; time.sleep(60)")


def test_the_log_tells_runs_and_the_smallest_over_time(script: Script, tmp_path: Path) -> None:
    start = time.monotonic()
    for text in ("a = 1\nraise ValueError('shapes 3')", "b", "a = b = 1\nraise ValueError('shapes 3')",
                 "raise ValueError('shapes 3')", "raise ValueError('shapes 4')"):  # fmt: skip
        ask(script, tmp_path, text)
    assert script.runs() == 5
    assert [point.tokens for point in script.series(start)] == [8, 5]
    assert all(0 < point.seconds < time.monotonic() - start for point in script.series(start))
    assert script.smallest() == "raise ValueError('shapes 3')"


def test_a_log_without_anything(script: Script) -> None:
    assert (script.runs(), script.smallest(), script.series(0.0)) == (0, None, list[Point]())
