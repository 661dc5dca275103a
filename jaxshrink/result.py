"""What a job has come to, and its report as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from jaxshrink.failure import Failure
from jaxshrink.outcome import Tier
from jaxshrink.tokens import count_bytes, count_lines, count_tokens

STATUSES = ("reduced", "unchanged", "interrupted", "not-failing", "unreliable", "error")


@dataclasses.dataclass(frozen=True)
class Size:
    """The size of a program, summed over its files."""

    tokens: int
    lines: int
    bytes: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Raises SyntaxError or tokenize.TokenError on text that is no Python."""
        texts = list(texts)
        return cls(*(sum(map(count, texts)) for count in (count_tokens, count_lines, count_bytes)))


@dataclasses.dataclass(frozen=True)
class PassStats:
    """What one pass has done: candidates run, times it made the program smaller, tokens removed, seconds spent."""

    name: str
    tried: int = 0
    kept: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Rejected:
    """Candidates that needed no run, by reason."""

    syntax: int = 0
    unbound: int = 0
    duplicate: int = 0


@dataclasses.dataclass(frozen=True)
class OtherFailure:
    """A failure that was met on the way and is not the one looked for: perhaps another bug."""

    type: str
    message: str
    count: int


@dataclasses.dataclass(frozen=True)
class Stats:
    """What the job has cost. `cold_seconds` is the first run of the whole program, None where it has not ended."""

    runs_by_tier: Mapping[Tier, int] = dataclasses.field(default_factory=dict)
    cached: int = 0
    rejected: Rejected = Rejected()
    seconds: float = 0.0
    cold_seconds: float | None = None
    jobs: int | None = None
    passes: tuple[PassStats, ...] = ()
    also_seen: tuple[OtherFailure, ...] = ()

    @property
    def runs(self) -> int:
        """All executions of programs, the first run and the verifications included."""
        return sum(self.runs_by_tier.values())


@dataclasses.dataclass(frozen=True)
class Result:
    """How a job ended. What is not known is None.

    `status` is one of `STATUSES`, `message` one sentence. `source` is the smallest program and `path` the file that
    it was written to; `failure` is that of the user's program at `input_path`, `shown` the same with the sizes and
    names that it has in the result. `lowered` are the modules in StableHLO that the smallest program
    gives to the compiler, where they are asked for; `also` says where they were written, if there are any. `controls`
    say how else it was run. `python`, `jax` and `jaxlib` are versions.
    """

    status: str
    message: str
    source: str | None = None
    path: Path | None = None
    lowered: tuple[str, ...] | None = None
    also: Mapping[str, Path | None] = dataclasses.field(default_factory=dict)
    input_path: Path | None = None
    input_size: Size | None = None
    failure: Failure | None = None
    shown: Failure | None = None
    controls: tuple[str, ...] = ()
    python: str | None = None
    jax: str | None = None
    jaxlib: str | None = None
    stats: Stats = Stats()

    @property
    def output_size(self) -> Size | None:
        """The size of the smallest program."""
        return None if self.source is None else Size.of([self.source])

    def to_json(self) -> dict[str, Any]:
        """The report that `--json` prints."""
        stats, failure = self.stats, self.failure
        return {
            "status": self.status,
            "message": self.message,
            "input": self.input_size and {"path": str(self.input_path), **dataclasses.asdict(self.input_size)},
            "output": self._output(),
            "also": {name: path and str(path) for name, path in self.also.items()},
            "failure": failure and {name: getattr(failure, name) for name in ("kind", "type", "message", "site")},
            "runs": stats.runs,
            "runs_by_tier": {tier.value: stats.runs_by_tier.get(tier, 0) for tier in Tier},
            "cached": stats.cached,
            "rejected": dataclasses.asdict(stats.rejected),
            "seconds": round(stats.seconds, 3),
            "cold_seconds": None if stats.cold_seconds is None else round(stats.cold_seconds, 3),
            "jobs": stats.jobs,
            "python": self.python,
            "jax": self.jax,
            "passes": [{**dataclasses.asdict(each), "seconds": round(each.seconds, 3)} for each in stats.passes],
            "also_seen": [dataclasses.asdict(each) for each in stats.also_seen],
        }

    def _output(self) -> dict[str, Any] | None:
        if self.output_size is None:
            return None
        path = None if self.path is None else str(self.path)
        return {"path": path, **dataclasses.asdict(self.output_size), "source": self.source}


def brief(failure: Failure) -> str:
    """The failure in one line: its type, and the first line of its message."""
    message = next(iter(failure.message.strip().splitlines()), "")
    return f"{failure.type}: {message}" if message else failure.type
