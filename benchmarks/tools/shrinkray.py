"""Shrink Ray, the best general reducer: https://github.com/DRMacIver/shrinkray."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.tools.tool import Job, Tool, installed, left_in_place

_GRAMMARS = "import tree_sitter_language_pack as pack; print(*pack.downloaded_languages())"


def version() -> str | None:
    """With the word that it lacks its grammar of Python: it downloads that when it is run for the first time, and goes
    without some of its passes where it cannot."""
    if (version := installed("shrinkray")) is None:
        return None
    grammars = subprocess.run([sys.executable, "-c", _GRAMMARS], stdout=subprocess.PIPE, text=True).stdout.split()
    return version if "python" in grammars else f"{version} without its grammar of Python"


def command(job: Job) -> list[str]:
    """With its defaults, but for three: no full-screen display; no language model, which would have to be downloaded
    first; and no limit of the address space, which XLA reserves much of."""
    options = ["--ui", "basic", "--parallelism", str(job.jobs), "--no-llm", "--memory-limit", "0"]
    return [sys.executable, "-m", "shrinkray", *options, str(job.script.path), job.given.entry]


TOOL = Tool("Shrink Ray", version, command, left_in_place)
