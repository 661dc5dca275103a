"""C-Vise, made for C, with the passes that any text can take: https://github.com/marxin/cvise."""

from __future__ import annotations

import math
import shutil
import subprocess

from benchmarks.tools.tool import Job, Tool, left_in_place


def version() -> str | None:
    """As it tells."""
    if (found := shutil.which("cvise")) is None:
        return None
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    return told.split()[1]


def command(job: Job) -> list[str]:
    """Its time limit for a candidate is a little longer than that of the script, which therefore decides."""
    options = ["--not-c", "--n", str(job.jobs), "--timeout", str(math.ceil(job.timeout) + 10)]
    return ["cvise", *options, str(job.script.path), job.given.entry]


TOOL = Tool("C-Vise", version, command, left_in_place)
