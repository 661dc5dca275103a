"""Records in, what they come to out: medians over the repetitions, and the tools as ratios to jaxshrink."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import median
from typing import Self

from benchmarks.measurement import Measurement, Settings
from benchmarks.tools import OURS, TOOLS


@dataclasses.dataclass(frozen=True)
class Summary:
    """All repetitions of one tool on one input: medians, and what holds for any of them."""

    repetitions: tuple[Measurement, ...]

    def _median(self, value: Callable[[Measurement], float]) -> float:
        return median(map(value, self.repetitions))

    @property
    def tokens(self) -> float:
        """Tokens of the final program."""
        return self._median(lambda each: each.final)

    @property
    def seconds(self) -> float:
        """Seconds that the tool took."""
        return self._median(lambda each: each.lasted)

    @property
    def reached(self) -> float:
        """Seconds until the final program was found."""
        return self._median(lambda each: each.reached)

    @property
    def runs(self) -> float:
        """Programs that were run to judge them."""
        return self._median(lambda each: each.runs)

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all processes."""
        return self._median(lambda each: each.cpu_seconds)

    @property
    def peak_bytes(self) -> float:
        """Most memory that all processes took at once."""
        return self._median(lambda each: each.peak_bytes)

    @property
    def cut(self) -> bool:
        """Whether the budget ended it."""
        return any(each.cut for each in self.repetitions)

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return any(each.failed for each in self.repetitions)

    @property
    def gave_none(self) -> bool:
        """Whether it gave no program at all."""
        return any(each.tokens is None for each in self.repetitions)

    @property
    def held(self) -> tuple[int, int]:
        """Cold runs of the results that failed in the same way, of how many."""
        return sum(each.holds for each in self.repetitions), sum(each.checks for each in self.repetitions)

    @property
    def holds(self) -> bool:
        """Whether all of them did."""
        return self.held[0] == self.held[1]

    def reaches(self, tokens: float) -> float:
        """Seconds until it was as small as that; infinite where it mostly never was."""
        times = (each.reaches(math.floor(tokens)) for each in self.repetitions)
        return median(math.inf if time is None else time for time in times)


@dataclasses.dataclass(frozen=True)
class Pair:
    """A peer beside jaxshrink, on one input."""

    ours: Summary
    peer: Summary

    @property
    def tokens(self) -> float:
        """How many times as large the peer's program is."""
        return self.peer.tokens / self.ours.tokens

    @property
    def seconds(self) -> float:
        """How many times as long the peer took, or was allowed to take, to its end."""
        return self.peer.seconds / self.ours.seconds

    @property
    def as_small_after(self) -> float:
        """Seconds until jaxshrink's program was as small as the peer's best; infinite where it never was."""
        return self.ours.reaches(self.peer.tokens)

    @property
    def faster(self) -> float:
        """How many times as long the peer took to its best as jaxshrink to one as small; 0 where it never was."""
        return self.peer.reached / max(self.as_small_after, 0.01)

    @property
    def runs(self) -> float:
        """How many times as many runs."""
        return self.peer.runs / max(self.ours.runs, 1)

    @property
    def cpu_seconds(self) -> float:
        """How many times as many CPU seconds."""
        return self.peer.cpu_seconds / max(self.ours.cpu_seconds, 0.01)

    @property
    def peak_bytes(self) -> float:
        """How many times as much memory."""
        return self.peer.peak_bytes / max(self.ours.peak_bytes, 1)


@dataclasses.dataclass(frozen=True)
class Summaries:
    """All that was measured with the same settings: for each input, the tools that have been run on it."""

    settings: Settings
    rows: Mapping[str, Mapping[str, Summary]]

    @classmethod
    def of(cls, records: Iterable[Measurement]) -> Self | None:
        """Of the records those with the settings of the newest; of each tool those of one version."""
        records = sorted(records, key=lambda each: each.date)
        if not records:
            return None
        settings = records[-1].settings
        versions = {each.tool: each.version for each in records if each.settings == settings}
        rows: dict[str, dict[str, list[Measurement]]] = {}
        for each in sorted(records, key=lambda each: (_natural(each.input), each.repetition)):
            if each.settings == settings and each.version == versions[each.tool]:
                rows.setdefault(each.input, {}).setdefault(each.tool, []).append(each)
        return cls(settings, {
            given: {tool: Summary(tuple(group)) for tool, group in tools.items()} for given, tools in rows.items()
        })  # fmt: skip

    @property
    def records(self) -> Iterator[Measurement]:
        """All of them."""
        return (each for row in self.rows.values() for summary in row.values() for each in summary.repetitions)

    @property
    def tools(self) -> list[str]:
        """The tools that have been run, in their order."""
        measured = {each.tool for each in self.records}
        return [tool.name for tool in TOOLS if tool.name in measured]

    @property
    def peers(self) -> list[str]:
        """Those but jaxshrink."""
        return [name for name in self.tools if name != OURS.name]

    def pair(self, given: str, peer: str) -> Pair | None:
        """The peer beside jaxshrink, where both have been run on the input."""
        row = self.rows[given]
        return Pair(row[OURS.name], row[peer]) if {OURS.name, peer} <= row.keys() else None

    def pairs(self, peer: str) -> list[Pair]:
        """All pairs of a peer."""
        return [pair for given in self.rows if (pair := self.pair(given, peer)) is not None]


def geometric_mean(values: Iterable[float]) -> float | None:
    """Of positive numbers; None where there are none. Those that are 0 or infinite say nothing about a ratio."""
    logs = [math.log(value) for value in values if 0 < value < math.inf]
    return math.exp(sum(logs) / len(logs)) if logs else None


def _natural(name: str) -> tuple[str, int, str]:
    """Order in which `generated/100_lines` comes before `generated/1000_lines`."""
    group, _, rest = name.partition("/")
    number = rest.partition("_")[0]
    return group, int(number) if number.isdecimal() else 0, rest
