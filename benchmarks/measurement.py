"""What one tool did with one input, once: the record that is kept in a file of its own."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from benchmarks.inputs import slug
from benchmarks.machine import Machine
from benchmarks.sizes import Point, not_below, reached


@dataclasses.dataclass(frozen=True)
class Settings:
    """What measurements must share to be compared: seconds for a tool, candidates at once, and the machine."""

    budget: float
    jobs: int
    machine: Machine


@dataclasses.dataclass(frozen=True)
class Measurement:
    """One run of a tool.

    `date` is the day, `load` the load average at the start. `original` and `tokens` are sizes, the latter None where
    the tool gave no program; `text` is its result. `seconds` is how long the tool ran, `cut` says that the budget ended
    it, `code` is its exit code, None where it had to be killed. `holds` is how many of `checks` cold runs of the result
    failed in the same way, `difference` how another one ended. `series` are the smallest programs over time.
    """

    input: str
    tool: str
    version: str
    repetition: int
    settings: Settings
    date: str
    load: float
    original: int
    tokens: int | None
    text: str | None
    seconds: float
    cut: bool
    code: int | None
    runs: int
    cpu_seconds: float
    peak_bytes: int
    holds: int
    checks: int
    difference: str
    series: tuple[Point, ...]

    @property
    def final(self) -> int:
        """Tokens of what the user has at the end: the program as it was, if the tool gave none."""
        return self.original if self.tokens is None else self.tokens

    @property
    def failed(self) -> bool:
        """Whether the tool ended with an error, before its budget did."""
        return not self.cut and self.code != 0

    @property
    def lasted(self) -> float:
        """Seconds that the tool took; of those after the budget none."""
        return min(self.seconds, self.settings.budget)

    @property
    def curve(self) -> list[Point]:
        """The sizes over time, from the whole program to the final one."""
        return not_below([Point(0.0, self.original), *self.series, Point(self.lasted, self.final)], self.final)

    @property
    def reached(self) -> float:
        """Seconds until the final size was reached first."""
        return self.curve[-1].seconds

    def reaches(self, tokens: int) -> float | None:
        """Seconds until it was as small as that; None where it never was."""
        return reached(self.curve, tokens)

    @classmethod
    def load_from(cls, path: Path) -> Self:
        """Read a record."""
        told = json.loads(path.read_text(encoding="utf-8"))
        settings = told.pop("settings")
        series = tuple(Point(*each) for each in told.pop("series"))
        return cls(**told, settings=Settings(**{**settings, "machine": Machine(**settings["machine"])}), series=series)

    def save(self, folder: Path) -> None:
        """Write the record, whole or not at all."""
        path = place(folder, self.input, self.tool, self.repetition)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n", encoding="utf-8")
        os.replace(new, path)


def place(folder: Path, given: str, tool: str, repetition: int) -> Path:
    """The file of a record."""
    return folder / f"{slug(given)}.{slug(tool)}.{repetition}.json"


def load_all(folder: Path) -> Iterator[Measurement]:
    """All records, in order of their names."""
    return map(Measurement.load_from, sorted(folder.glob("*.json")))
