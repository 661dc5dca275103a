"""Errors that leave a call of JAX, saved as programs as they come."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jaxshrink.capture.captured import save
from jaxshrink.capture.session import session
from jaxshrink.inside.capture import programs

_saved: list[Path] = []


def last_saved() -> Path | None:
    """The file that was saved last in this process."""
    return _saved[-1] if _saved else None


@contextlib.contextmanager
def recording(folder: str | os.PathLike[str]) -> Iterator[None]:
    """While this lasts, each error that leaves an outermost call of JAX is saved as a program in the folder.

    The program's own error is raised all the same. Where nothing can be written, a line on stderr says so.
    Raises OSError where the folder cannot be made.
    """
    recorder = session()
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)

    def listen(scope: Any, error: BaseException) -> None:
        try:
            save_new(place, error, lambda fill: programs.outermost(recorder, scope, fill))
        except Exception as problem:  # the program's own error is what counts
            print(f"jaxshrink: nothing was captured: {type(problem).__name__}: {problem}", file=sys.stderr)

    recorder.listeners.append(listen)
    recorder.begin()
    try:
        yield
    except Exception as error:
        recorder.raised(error)
        raise
    finally:
        recorder.end()
        recorder.listeners.remove(listen)


def save_new(folder: Path, error: BaseException | None, write: Callable[[str], programs.Text]) -> None:
    """Save a program as a new file of the folder, and tell so. Other threads and processes may do the same."""
    path = _new_path(folder, error)
    try:
        save(path, write)
    except BaseException:
        path.unlink()
        raise
    _saved.append(path)
    print(f"jaxshrink: saved {path}", file=sys.stderr)


def _new_path(folder: Path, error: BaseException | None) -> Path:
    """A file of the folder that was not there before."""
    stem = "repro" if error is None else "repro_" + re.sub(r"\W", "_", type(error).__name__)
    for number in itertools.count(1):
        path = folder / f"{stem}_{number}.py"
        with contextlib.suppress(FileExistsError):
            path.touch(exist_ok=False)
            return path
    raise AssertionError("there is no end of numbers")
