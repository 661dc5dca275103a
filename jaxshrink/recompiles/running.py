"""Watches a program in an interpreter of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxshrink import inputs, testfile
from jaxshrink.errors import TargetError, UsageError
from jaxshrink.inplace import exit_code
from jaxshrink.options import Options
from jaxshrink.recompiles.origin import lines, origins, told
from jaxshrink.recompiles.report import Report
from jaxshrink.scratch import Scratch

_SCRIPT = Path(__file__).parents[1] / "inside" / "recompilesrun.py"


def watched_run(options: Options) -> tuple[Report, int | None]:
    """Run a program to its end, in place. What was watched, and its exit code, negative for a signal.

    The code is None where the user has interrupted it. What it writes to stdout goes to stderr. Raises InputError where
    it cannot be read, UsageError where it runs none of its tests, TargetError where it cannot be run, or has a JAX that
    is not known.
    """
    program = inputs.read(options.path, options.python, options.selector)
    with Scratch() as scratch:
        spec, out = scratch / "spec.json", scratch / "notes.json"
        given = {"program": str(options.path), "argv": list(options.args), "out": str(out)}
        spec.write_text(json.dumps({**given, "text": program.entry.text if program.is_made else None}))
        command, environment = [options.python, _SCRIPT, spec], {**os.environ, **options.env}
        try:
            process = subprocess.Popen(command, env=environment, stdout=sys.stderr.fileno())
        except OSError as error:
            raise TargetError(f"cannot run {options.python}: {error.strerror}") from None
        with _termination_for(process):
            code = exit_code(process)
        if not out.exists():
            raise TargetError(f"{options.python} ended before {options.path} began, with exit code {code}")
        notes = _notes(out)
    if program.is_made:
        where = origins(program.entry.text, lines(options.path.name, options.path.read_bytes()))
        notes = told(notes, os.path.abspath(options.path), where)
    report = Report(notes)
    tests = [] if program.is_made or report.functions else testfile.tests_in(program.entry.text)
    if tests and code == 0:
        path = options.path
        raise UsageError(f"{path} defines tests and runs none of them: name one, as in {path}::{tests[0]}")
    return report, code


@contextlib.contextmanager
def _termination_for(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Hand on SIGTERM to a process: when that has ended, there is still to be told what it did."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _notes(path: Path) -> list[dict[str, Any]]:
    """What was told of each call last. The end may be missing, of a process that was killed."""
    notes: dict[int, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        said = json.loads(line) if line.endswith("\n") else None
        if isinstance(said, dict):
            raise TargetError(said["problem"])
        if said is not None:
            notes[said[0]] = said[1]
    return [notes[number] for number in sorted(notes)]
