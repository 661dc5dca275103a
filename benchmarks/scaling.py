"""How the cost grows: with the length of the program, and how it falls with the number of jobs.

    python -m benchmarks.scaling [--seeds N] [--python PATH]

Writes the table into README.md, and what it was made of to `data/scaling/`.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from benchmarks.generate import generate
from benchmarks.machine import Machine
from benchmarks.report import put
from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import Tier

LENGTHS = (100, 1_000, 10_000)
SLEEP = 2.0
"""Seconds for which a candidate does nothing, whose run takes long."""
SLEEPERS = 8

HERE = Path(__file__).parent
BEGIN, END = "<!-- scaling -->", "<!-- end of scaling -->"


@dataclasses.dataclass(frozen=True)
class Job:
    """What one reduction of a generated program took.

    `cold` is the time of one run of the program, `own` the CPU seconds of jaxshrink's own process, `others` those of
    all that it started, `peak_bytes` the most memory that its own process had.
    """

    lines: int
    seed: int
    before: int
    tokens: int
    runs: int
    seconds: float
    cold: float
    own: float
    others: float
    peak_bytes: int

    @property
    def share(self) -> float:
        """Of the CPU seconds, the part that is jaxshrink's own."""
        return self.own / (self.own + self.others)


def reduced(lines: int, seed: int, python: str) -> Job:
    """Reduce one generated program. Raises CalledProcessError where that fails."""
    with tempfile.TemporaryDirectory() as folder:
        program, usage = Path(folder, "repro.py"), Path(folder, "usage.json")
        program.write_text(generate(lines, seed).text, encoding="utf-8")
        cold = _seconds([python, str(program)])
        command = [sys.executable, "-m", "benchmarks.own", str(usage), str(program)]
        command += ["--json", "--quiet", "--jobs", "2", "--python", python]
        began = time.monotonic()
        done = subprocess.run(command, cwd=HERE.parent, stdout=subprocess.PIPE, check=True)
        seconds = time.monotonic() - began
        told, used = json.loads(done.stdout), json.loads(usage.read_text(encoding="utf-8"))
        sizes = told["input"]["tokens"], told["output"]["tokens"]
        return Job(lines, seed, *sizes, told["runs"], seconds, cold, **used)


def sleeping(jobs: int, python: str) -> float:
    """Seconds for eight candidates that sleep, `jobs` at once."""
    texts = [f"import time\ntime.sleep({SLEEP})\nraise ValueError({i})\n" for i in range(SLEEPERS)]
    with Runner(Setting(python, jobs=jobs)) as runner:
        runner.target()
        began = time.monotonic()
        runner.run(texts, Tier.WARM)
        return time.monotonic() - began


def _seconds(command: Sequence[str]) -> float:
    began = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def table(jobs: Iterable[Job]) -> str:
    """A row a length: geometric means over the seeds, of the memory the most."""
    by_length: dict[int, list[Job]] = {}
    for job in jobs:
        by_length.setdefault(job.lines, []).append(job)
    rows = ["| lines | tokens | result | runs | time / cold run | own CPU | own memory |", "| --: " * 7 + "|"]
    for lines, these in by_length.items():
        each = [(job.before, job.tokens, job.runs, job.seconds / job.cold, job.share) for job in these]
        before, tokens, runs, ratio, share = map(statistics.geometric_mean, zip(*each, strict=True))
        peak = max(job.peak_bytes for job in these) / 2**20
        rows.append(
            f"| {lines:,} | {before:,.0f} | {tokens:.0f} | {runs:.0f} | {ratio:.2f} | {share:.0%} | {peak:.0f} MB |"
        )
    return "\n".join(rows)


@click.command()
@click.option("--seeds", default=3, help="Programs of each length; each seed has another failure.")
@click.option("--python", default=sys.executable, help="Interpreter with JAX that runs the programs.")
def main(seeds: int, python: str) -> None:
    """Measure both, write the table, and keep what was measured."""
    found: list[Job] = []
    for seed in range(seeds):
        for lines in LENGTHS:
            found.append(reduced(lines, seed, python))
            print(found[-1], file=sys.stderr, flush=True)
    alone, together = (sleeping(jobs, python) for jobs in (1, SLEEPERS))
    date, machine = time.strftime("%Y-%m-%d"), Machine.here(python)
    head = f"Measured {date} on {machine}. Geometric means over {seeds} programs of a length, with other failures."
    tail = f"{SLEEPERS} candidates sleeping for {SLEEP:g} s: {alone / together:.1f} times faster with {SLEEPERS} jobs."
    text = f"{head}\n\n{table(found)}\n\n{tail}"
    put(HERE / "README.md", BEGIN, text, END)
    print(text)
    folder = HERE / "data" / "scaling"
    folder.mkdir(parents=True, exist_ok=True)
    kept = {
        "date": date,
        "machine": dataclasses.asdict(machine),
        "jobs": [dataclasses.asdict(job) for job in found],
        "sleeping": {"1": alone, str(SLEEPERS): together},
    }
    (folder / "scaling.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
