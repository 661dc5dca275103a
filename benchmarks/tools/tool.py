"""What a tool is to the benchmark: how it is started on an input, and how its result is found."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.inputs import Input
from benchmarks.measure import Measured
from benchmarks.script import Script
from benchmarks.sizes import Point, text_of


@dataclasses.dataclass(frozen=True)
class Job:
    """One tool on one input.

    It runs in `folder`, a copy of the input's; `python` is the interpreter of the programs, `jobs` how many candidates
    may run at once, `timeout` the seconds that one may take. `script` judges candidates of tools that need one.
    """

    given: Input
    folder: Path
    python: str
    jobs: int
    timeout: float
    script: Script

    @property
    def entry(self) -> Path:
        """The program to reduce."""
        return self.folder / self.given.entry


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a tool has come to: the program, None where it has given none; runs; and its smallest programs over time."""

    text: str | None
    runs: int
    series: list[Point]


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool.

    `version` is None where it is not installed; `environment` is added to that in which `command` runs. `alone` says
    that its result is promised to fail without the input's other files, arguments and environment.
    """

    name: str
    version: Callable[[], str | None]
    command: Callable[[Job], list[str]]
    outcome: Callable[[Job, Measured], Outcome]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    alone: bool = False


def installed(package: str) -> str | None:
    """The version of a package beside this one."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def left_in_place(job: Job, measured: Measured) -> Outcome:
    """The outcome of a tool that keeps the best program so far in the file that it reduces."""
    return Outcome(text_of(job.entry), job.script.runs(), job.script.series(measured.start))


def left_at_the_end(job: Job, measured: Measured) -> Outcome:
    """The outcome of a tool that writes candidates to the file, and the result when it is done.

    Where it was not, its best is the smallest program that has been found interesting.
    """
    done = not measured.cut and measured.code == 0
    text = text_of(job.entry) if done else job.script.smallest()
    return Outcome(text, job.script.runs(), job.script.series(measured.start))
