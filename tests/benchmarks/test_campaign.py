"""The whole benchmark with the smallest of the tools, on a program without JAX."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("psutil")

from benchmarks.campaign import Campaign
from benchmarks.inputs import Input
from benchmarks.machine import Machine
from benchmarks.measurement import Settings, load_all
from benchmarks.sizes import tokens_of
from benchmarks.tools import TOOLS, Tool

pytestmark = pytest.mark.slow  # and the same on each Python

TEXT = "import math\n\na = 1\nb = 2\nprint(a)\nmath.sqrt(-b)\n"
GIVEN = Input("corpus/root", "ValueError", "math domain error|nonnegative", text=TEXT)
MACHINE = Machine("a CPU", 2, 8, "Linux 6.1", "3.12.1", "3.11.7", "0.10.2", "0.10.2")
DDMIN = TOOLS[-1]


def run(folder: Path, *tools: Tool, repetitions: int = 1, again: bool = False, given: Input = GIVEN) -> list[str]:
    said: list[str] = []
    settings = Settings(60.0, 2, MACHINE)
    Campaign(settings, repetitions, sys.executable, folder, again).run([given], tools, said.append)
    return said


def test_from_a_program_to_a_record(tmp_path: Path) -> None:
    (said,) = run(tmp_path, DDMIN)
    (done,) = load_all(tmp_path)
    assert done.text == "import math\nb = 2\nmath.sqrt(-b)\n"
    assert (done.original, done.tokens) == (tokens_of(TEXT), tokens_of(done.text))
    assert (done.holds, done.checks, done.difference, done.cut) == (3, 3, "", False)
    assert done.runs > 5
    assert done.series[0].tokens == done.original
    assert done.curve[-1].tokens == done.tokens
    assert 0 < done.reached <= done.seconds
    assert done.cpu_seconds > 0 < done.peak_bytes
    assert said.startswith(f"corpus/root ddmin #1: {done.original} → {done.tokens} tokens")


def test_what_is_known_is_not_measured_again(tmp_path: Path) -> None:
    assert len(run(tmp_path, DDMIN)) == 1
    assert run(tmp_path, DDMIN) == []
    assert len(run(tmp_path, DDMIN, repetitions=2)) == 1
    assert len(run(tmp_path, DDMIN, again=True)) == 1


def test_tools_take_turns_and_one_is_not_there(tmp_path: Path) -> None:
    def other(name: str, version: str | None) -> Tool:
        return Tool(name, lambda: version, DDMIN.command, DDMIN.outcome)

    said = run(tmp_path, other("A", "1"), other("B", "1"), other("C", None), repetitions=2)
    assert said[0] == "C is not installed"
    turns = [line.partition(":")[0].removeprefix("corpus/root ") for line in said[1:]]
    assert turns == ["A #1", "B #1", "A #2", "B #2"]


def test_a_tool_that_fails(tmp_path: Path) -> None:
    broken = Tool("A", lambda: "1", lambda job: ["ls", "no-such-file"], DDMIN.outcome)
    why, said = run(tmp_path, broken)
    (done,) = load_all(tmp_path)
    assert (done.tokens, done.runs, done.failed) == (done.original, 0, True)
    assert "no-such-file" in why
    assert "(exit code 2)" in said


def test_an_input_that_does_not_fail(tmp_path: Path) -> None:
    (said,) = run(tmp_path, DDMIN, given=Input("corpus/good", "ValueError", "", text="1"))
    assert said == "left out: corpus/good does not fail as it should: raises nothing, exit code 0"
