"""A jaxpr in a file, as `jaxshrink.jaxprs.dumps` writes it, as the program that calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from jaxshrink.errors import InputError

SUFFIX = ".jaxpr"


def script(path: Path) -> str:
    """The program: the jaxpr as functions, and a call on arrays of ones. Raises InputError.

    This process does not import JAX, so another does it; it runs nothing of the file.
    """
    root = str(Path(__file__).parents[1])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "jaxshrink.jaxprs", "--call", str(path)]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().rpartition("error: ")[2] or "it cannot be read"
        raise InputError(f"{path} is no jaxpr that can be run: {reason.splitlines()[-1]}")
    return done.stdout
