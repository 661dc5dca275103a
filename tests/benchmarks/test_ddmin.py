"""Plain ddmin: what it keeps, in which order it asks, and how it runs a test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from benchmarks import ddmin
from benchmarks.ddmin import Lines


def first_of(interesting: Callable[[Lines], bool], asked: list[Lines]) -> Callable[[Iterable[Lines]], Lines | None]:
    def first(candidates: Iterable[Lines]) -> Lines | None:
        for lines in candidates:
            asked.append(lines)
            if interesting(lines):
                return lines
        return None

    return first


@pytest.mark.parametrize("needed", ["a", "h", "ah", "cde", "abcdefgh"])
def test_keeps_what_is_needed(needed: str) -> None:
    asked: list[Lines] = []
    found = ddmin.ddmin(tuple("abcdefgh"), first_of(lambda lines: set(needed) <= set(lines), asked))
    assert found == tuple(needed)


def test_no_single_line_can_be_taken_from_the_result() -> None:
    def interesting(lines: Lines) -> bool:  # what one needs is not independent
        return "a" in lines and (len(lines) % 3 != 2)

    found = ddmin.ddmin(tuple("abcdefghij"), first_of(interesting, []))
    assert interesting(found)
    assert not any(interesting(found[:index] + found[index + 1 :]) for index in range(len(found)))


def test_chunks_come_before_their_complements() -> None:
    asked: list[Lines] = []
    ddmin.ddmin(tuple("abcd"), first_of(lambda lines: False, asked))
    assert ["".join(lines) for lines in asked] == ["ab", "cd", "a", "b", "c", "d", "bcd", "acd", "abd", "abc"]


def test_the_first_interesting_one_wins_whatever_the_jobs(tmp_path: Path) -> None:
    for jobs in (1, 2, 4):
        asking = ddmin.Asking(script(tmp_path, "grep -q b"), tmp_path / "repro.py", jobs)
        assert asking.first([("a\n",), ("b\n",), ("bb\n",), ("bbb\n",)]) == ("b\n",)
        assert asking.first([("b\n",)]) is None  # known
        assert (tmp_path / "repro.py").read_text() == "b\n"


def test_from_the_command_line(tmp_path: Path) -> None:
    repro = tmp_path / "repro.py"
    repro.write_text("".join(f"line {number}\n" for number in range(12)))
    command = [sys.executable, ddmin.__file__, script(tmp_path, "grep -q 'line 7'"), repro, "--jobs", "2"]
    subprocess.run(command, check=True, timeout=60)
    assert repro.read_text() == "line 7\n"


def test_what_is_not_interesting_to_begin_with(tmp_path: Path) -> None:
    repro = tmp_path / "repro.py"
    repro.write_text("line\n")
    command = [sys.executable, ddmin.__file__, script(tmp_path, "false"), repro]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "not interesting to begin with" in done.stderr
    assert repro.read_text() == "line\n"


def script(folder: Path, line: str) -> Path:
    path = folder / "test.sh"
    path.write_text(f"#!/bin/sh\n{line} repro.py\n")
    path.chmod(0o755)
    return path
