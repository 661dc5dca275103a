"""jaxshrink itself, with its defaults."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from benchmarks.inputs import ROOT
from benchmarks.measure import Measured
from benchmarks.sizes import Point, improvements, text_of
from benchmarks.tools.tool import Job, Outcome, Tool

_STEP = re.compile(r"jaxshrink: (\d+) tokens after (\d+) runs, ")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def version() -> str:
    """The last commit that has changed it, with a plus where it has been changed since."""
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "jaxshrink")
    return _git("log", "-1", "--format=%h", "--", "jaxshrink") + ("+" if changed else "")


def command(job: Job) -> list[str]:
    """As a user calls it."""
    own = ["-o", _output(job), "--json", "-v", "--jobs", str(job.jobs), "--python", job.python]
    env = [part for name, value in job.given.env.items() for part in ("--env", f"{name}={value}")]
    return [sys.executable, "-m", "jaxshrink", job.given.entry, *own, *env, "--", *job.given.args]


def outcome(job: Job, measured: Measured) -> Outcome:
    """What it has written, and told with `-v` on the way."""
    steps = [(line.seconds, match) for line in measured.stderr if (match := _STEP.match(line.text))]
    series = improvements(Point(seconds, int(match[1])) for seconds, match in steps)
    told = json.loads(measured.stdout or "{}").get("runs", steps[-1][1][2] if steps else 0)
    written = job.folder / _output(job)
    return Outcome(text_of(written) if written.exists() else None, int(told), series)


def _output(job: Job) -> str:
    return f"{job.given.entry}.reduced"


TOOL = Tool("jaxshrink", version, command, outcome, environment={"PYTHONPATH": str(ROOT)}, alone=True)
