"""Runs a command under a time budget and measures what it costs, everything included that it starts."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import warden

GRACE = 10.0
"""Seconds that a tool has, after its budget, to write down what it has found so far."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line that was written to stderr so many seconds after the start."""

    seconds: float
    text: str


@dataclasses.dataclass(frozen=True)
class Measured:
    """What a command has cost, and written.

    `start` is in terms of `time.monotonic()`, `code` the exit code, None where it had to be killed. `cut` says that it
    was stopped at the end of its budget. CPU seconds and memory are those of the whole tree of processes; `peak_bytes`
    is the largest sum of proportional set sizes that was seen.
    """

    start: float
    seconds: float
    code: int | None
    cut: bool
    cpu_seconds: float
    peak_bytes: int
    stdout: str
    stderr: tuple[Line, ...]


def measure(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], budget: float, grace: float = GRACE
) -> Measured:
    """Run the command in the folder. After `budget` seconds it gets SIGINT, after `grace` more it is killed."""
    with tempfile.TemporaryDirectory() as own, open(Path(own, "stdout"), "w+b") as stdout:
        report = Path(own, "report.json")
        process = subprocess.Popen(
            [sys.executable, warden.__file__, str(budget), str(grace), str(report), *command],
            cwd=folder, env=dict(environment), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            lines = _lines(process)
        finally:
            process.terminate()  # where it still runs: it ends what it has started
            process.wait()
        if not report.exists():
            raise RuntimeError("\n".join(text for _, text in lines) or f"cannot run {command[0]}")
        told = json.loads(report.read_text(encoding="utf-8"))
        stdout.seek(0)
        return Measured(
            **told,
            stdout=stdout.read().decode(errors="replace"),
            stderr=tuple(Line(moment - told["start"], text) for moment, text in lines),
        )


def _lines(process: subprocess.Popen[bytes]) -> list[tuple[float, str]]:
    """The lines of stderr, each with the moment at which it came, until nobody can write any more."""
    assert process.stderr is not None
    with process.stderr as stream:
        return [(time.monotonic(), line.decode(errors="replace").rstrip("\n")) for line in stream]
