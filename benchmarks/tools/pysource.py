"""pysource-minimize, made for Python, one candidate at a time: https://github.com/15r10nk/pysource-minimize."""

from __future__ import annotations

import sys

from benchmarks.judge import INTERESTING
from benchmarks.tools.tool import Job, Tool, installed, left_at_the_end


def command(job: Job) -> list[str]:
    """It looks for a string in the output of a command; the script prints one of what is interesting."""
    options = ["--file", job.given.entry, "--track", INTERESTING, "--write"]
    return [sys.executable, "-m", "pysource_minimize", *options, "--", str(job.script.path)]


TOOL = Tool("pysource-minimize", lambda: installed("pysource-minimize"), command, left_at_the_end)
