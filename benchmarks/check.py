"""Whether a program fails as its input does: the same type, a matching message, raised at the same place."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import probe
from benchmarks.inputs import Input

TIMES = 3
"""Cold runs of each result."""

_LIMIT = 120.0
"""Seconds that a cold run may take."""


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a cold run ended: the uncaught exception, if there was one, and where it was raised."""

    seconds: float
    code: int
    type: str = ""
    message: str = ""
    site: str = ""


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """That of this process, without what steers JAX in it, and with more: everything runs on the CPU."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    return {**kept, "JAX_PLATFORMS": "cpu", **more}


def ending(python: str, folder: Path, entry: str, args: Sequence[str], env: Mapping[str, str]) -> Ending:
    """Run a program in a fresh interpreter. It is killed where it takes too long, and has raised nothing then."""
    with tempfile.TemporaryDirectory() as own:
        report, start = Path(own, "report.json"), time.monotonic()
        process = subprocess.Popen(
            [python, probe.__file__, str(report), entry, *args],
            cwd=folder, env=environment({"JAX_TRACEBACK_FILTERING": "off", **env}), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(_LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        told = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
        return Ending(time.monotonic() - start, code, **told)


@dataclasses.dataclass(frozen=True)
class Reference:
    """The failure of an input, as its program itself shows it."""

    given: Input
    python: str
    site: str
    seconds: float

    @classmethod
    def of(cls, given: Input, python: str) -> Reference:
        """Run the input's program once. Raises ValueError where it does not fail as it should."""
        with tempfile.TemporaryDirectory() as own:
            folder = Path(own, "given")
            given.copy_to(folder)
            seen = ending(python, folder, given.entry, given.args, given.env)
        if why := _differs(seen, given):
            raise ValueError(f"{given.name} does not fail as it should: {why}")
        return cls(given, python, seen.site, seen.seconds)

    def holds(self, text: str, alone: bool) -> tuple[int, str]:
        """How often of `TIMES` the program fails in the same way, and how it differs where it does not.

        `alone` means: in an empty folder, without arguments and environment, which a result may have to carry itself;
        else with all that lies beside the input's program.
        """
        held, difference = 0, ""
        for _ in range(TIMES):
            why = self._differs(text, alone)
            held, difference = held + (not why), why or difference
        return held, difference

    def _differs(self, text: str, alone: bool) -> str:
        given = self.given
        with tempfile.TemporaryDirectory() as own:
            folder = Path(own, "given")
            if alone:
                folder.mkdir()
            else:
                given.copy_to(folder)
            (folder / given.entry).write_bytes(text.encode("utf-8", "surrogateescape"))
            args, env = ((), {}) if alone else (given.args, given.env)
            seen = ending(self.python, folder, given.entry, args, env)
            if why := _differs(seen, given):
                return why
            if seen.site != self.site and not given.any_site:
                return f"raised in {seen.site}, not in {self.site}"
            if lost := [words for words in given.keeps if not re.search(rf"\b(?:{words})\b", text)]:
                return f"has lost {lost[0]}"
            if given.control and ending(self.python, folder, given.entry, args, {**env, **given.control}).code != 0:
                return "fails where it must not: with " + ", ".join(f"{k}={v}" for k, v in given.control.items())
            return ""


def _differs(seen: Ending, given: Input) -> str:
    """How the exception is another than the input's; nothing where it is not."""
    if not seen.type:
        return f"raises nothing, exit code {seen.code}"
    if seen.type != given.exception:
        return f"{seen.type} instead of {given.exception}"
    if not re.search(given.message, seen.message, re.DOTALL):
        return f"another message: {seen.message[:200]}"
    return ""
