"""Plain ddmin over lines: what any tool must beat."""

from __future__ import annotations

import sys

from benchmarks import ddmin
from benchmarks.tools.tool import Job, Tool, left_in_place


def command(job: Job) -> list[str]:
    """Our own, see `ddmin.py`."""
    return [sys.executable, ddmin.__file__, str(job.script.path), job.given.entry, "--jobs", str(job.jobs)]


TOOL = Tool("ddmin", lambda: "lines", command, left_in_place)
