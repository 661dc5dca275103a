"""Watches a program in an interpreter of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from jaxshrink import inputs
from jaxshrink.errors import TargetError
from jaxshrink.options import Options
from jaxshrink.recompiles.report import Report
from jaxshrink.scratch import Scratch

_SCRIPT = Path(__file__).parents[1] / "inside" / "recompilesrun.py"


def watched_run(options: Options) -> tuple[Report, int]:
    """Run a program to its end, in place. What was watched, and its exit code, negative for a signal.

    What it writes to stdout goes to stderr. Raises InputError where it cannot be read, TargetError where it cannot be
    run, dies before it has told anything, or has a JAX that is not known.
    """
    program = inputs.read(options.path, options.python, options.selector)
    with Scratch() as scratch:
        spec, out = scratch / "spec.json", scratch / "notes.json"
        given = {"program": str(options.path), "argv": list(options.args), "out": str(out)}
        spec.write_text(json.dumps({**given, "text": program.entry.text if program.is_made else None}))
        command, environment = [options.python, _SCRIPT, spec], {**os.environ, **options.env}
        try:
            done = subprocess.run(command, env=environment, stdout=sys.stderr.fileno(), check=False)
        except OSError as error:
            raise TargetError(f"cannot run {options.python}: {error.strerror}") from None
        if not out.exists():
            raise TargetError(f"{options.path} ended without telling anything, with exit code {done.returncode}")
        told = json.loads(out.read_text(encoding="utf-8"))
    if told["problem"]:
        raise TargetError(told["problem"])
    return Report(told["notes"]), done.returncode
