"""Programs for bug reports, saved by the program that fails.

Import this before JAX, and set JAX_REPRO_DIR to a folder: whenever an error leaves an outermost call of JAX, a program
of the calls that led to it is saved there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaxshrink.capture.captured import captured
from jaxshrink.capture.recording import last_saved, recording, save_new
from jaxshrink.errors import UsageError

VARIABLE = "JAX_REPRO_DIR"


def save_repro(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function, save what it asks of JAX as a program whether it fails or not, and return its result.

    Raises UsageError without JAX_REPRO_DIR, and what the function raises.
    """
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise UsageError(f"{VARIABLE} is not set: it names the folder to which programs are saved")
    Path(folder).mkdir(parents=True, exist_ok=True)
    found = captured(fun, args, kwargs)
    save_new(Path(folder), found.error, found.write)
    if found.error is not None:
        raise found.error
    return found.value


def last_repro() -> tuple[Path, str] | None:
    """The file that was saved last by this process, and what it holds; None if there is none."""
    path = last_saved()
    return None if path is None else (path, path.read_text(encoding="utf-8"))


if os.environ.get(VARIABLE):
    _recording = recording(os.environ[VARIABLE])
    _recording.__enter__()  # until the process ends
