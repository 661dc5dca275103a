"""Runs the tools in turn on each input, and keeps a record of each run as soon as it is over."""

from __future__ import annotations

import dataclasses
import datetime
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.check import TIMES, Reference, environment
from benchmarks.inputs import Input
from benchmarks.measure import measure
from benchmarks.measurement import Measurement, Settings, place
from benchmarks.script import Script
from benchmarks.sizes import text_of, tokens_of
from benchmarks.tools import Job, Tool

Say = Callable[[str], None]

_TOLD = 5
"""Lines that are shown of what a tool wrote to stderr before it ended with an error."""


@dataclasses.dataclass(frozen=True)
class Campaign:
    """What is to be measured, and where the records go. `again` does so also where there is such a record already."""

    settings: Settings
    repetitions: int
    python: str
    data: Path
    again: bool

    def run(self, inputs: Sequence[Input], tools: Sequence[Tool], say: Say) -> None:
        """Measure all that is not there yet."""
        self.data.mkdir(parents=True, exist_ok=True)
        versions = {tool.name: version for tool in tools if (version := tool.version()) is not None}
        there = [tool for tool in tools if tool.name in versions]
        for tool in tools:
            if tool not in there:
                say(f"{tool.name} is not installed")
        for given in inputs:
            missing = list(self._missing(given, there, versions))
            try:
                reference = Reference.of(given, self.python) if missing else None
            except ValueError as error:
                say(f"left out: {error}")
                continue
            for repetition, tool in missing:
                assert reference is not None
                measurement = self._measure(reference, tool, versions[tool.name], repetition, say)
                measurement.save(self.data)
                say(_line(measurement))

    def _missing(
        self, given: Input, tools: Sequence[Tool], versions: Mapping[str, str]
    ) -> Iterator[tuple[int, Tool]]:
        """Each tool once, then each a second time, …: what disturbs the machine for a while disturbs all alike."""
        for repetition in range(1, self.repetitions + 1):
            for tool in tools:
                path = place(self.data, given.name, tool.name, repetition)
                known = Measurement.load_from(path) if path.exists() and not self.again else None
                if not known or (known.settings, known.version) != (self.settings, versions[tool.name]):
                    yield repetition, tool

    def _measure(self, reference: Reference, tool: Tool, version: str, repetition: int, say: Say) -> Measurement:
        given, settings = reference.given, self.settings
        load, date = os.getloadavg()[0], datetime.date.today().isoformat()
        with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as own:
            top = Path(own)
            for name in ("beside", "work"):
                given.copy_to(top / name)
            (top / "tmp").mkdir()
            timeout = max(20.0, 5 * reference.seconds)
            script = Script.write(top / "notes", given, top / "beside", self.python, timeout)
            job = Job(given, top / "work", self.python, settings.jobs, timeout, script)
            original = tokens_of(text_of(job.entry))
            env = environment({"TMPDIR": str(top / "tmp"), **tool.environment})
            measured = measure(tool.command(job), job.folder, env, settings.budget)
            outcome = tool.outcome(job, measured)
        if measured.code != 0 and not measured.cut:
            say("\n".join(f"    {line.text}" for line in measured.stderr[-_TOLD:]))
        if outcome.text is None:
            holds, difference = 0, "no result"
        else:
            holds, difference = reference.holds(outcome.text, tool.alone)
        return Measurement(
            given.name, tool.name, version, repetition, settings, date, round(load, 2), original,
            tokens=None if outcome.text is None else tokens_of(outcome.text),
            text=None if outcome.text is None else outcome.text.encode("utf-8", "replace").decode(),
            seconds=round(measured.seconds, 2),
            cut=measured.cut,
            code=measured.code,
            runs=outcome.runs,
            cpu_seconds=round(measured.cpu_seconds, 2),
            peak_bytes=measured.peak_bytes,
            holds=holds,
            checks=TIMES,
            difference=difference,
            series=tuple(each._replace(seconds=round(each.seconds, 2)) for each in outcome.series),
        )  # fmt: skip


def _line(done: Measurement) -> str:
    size = "no result" if done.tokens is None else f"{done.original} → {done.tokens} tokens"
    time = f"{done.seconds:.1f} s{' (cut)' if done.cut else f' (exit code {done.code})' if done.failed else ''}"
    rest = f"{done.runs} runs, {done.cpu_seconds:.0f} CPU s, {done.peak_bytes >> 20} MiB"
    holds = f"holds {done.holds}/{done.checks}" + (f" ({done.difference})" if done.difference else "")
    return f"{done.input} {done.tool} #{done.repetition}: {size}, {time}, {rest}, {holds}"
