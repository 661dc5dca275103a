"""One function, captured: all its calls of JAX, as a program."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxshrink.capture.session import Session, formatted, session
from jaxshrink.failure import Failure, site
from jaxshrink.inside.capture import programs
from jaxshrink.inside.capture.calls import Scope
from jaxshrink.outcome import Frame


@dataclasses.dataclass(frozen=True)
class Captured:
    """A program of JAX calls, and how what it was captured of has failed (None where it ended well).

    `write` gives the program for one of the ways to fill large arrays: ones, integers or exact.
    """

    failure: Failure | None
    write: Callable[[str], programs.Text] = dataclasses.field(repr=False)
    error: BaseException | None = dataclasses.field(default=None, repr=False)
    value: Any = dataclasses.field(default=None, repr=False)

    @functools.cached_property
    def source(self) -> str:
        """The program, large arrays filled with ones."""
        return formatted(self.write("ones").source)

    @functools.cached_property
    def notes(self) -> tuple[str, ...]:
        """What of the original the program does not express."""
        return tuple(self.write("ones").notes)

    def save(self, path: str | os.PathLike[str], data: str = "ones") -> Path:
        """Write the program to a file. With `data="exact"` large arrays go to an .npz file beside it.

        Raises ValueError for other data than ones, integers and exact, and OSError.
        """
        return save(Path(path), self.write, data)


def save(path: Path, write: Callable[[str], programs.Text], data: str = "ones") -> Path:
    """Write a program, and beside it the arrays that it reads."""
    if data not in ("ones", "integers", "exact"):
        raise ValueError(f"data must be ones, integers or exact, not {data!r}")
    text = write(data)
    if text.data:
        import numpy

        numpy.savez(path.with_suffix(".npz"), **text.data)
    notes = "".join(f"# not expressed: {note}\n" for note in text.notes)
    path.write_text(notes + formatted(text.source), encoding="utf-8")
    return path


def captured(fun: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Captured:
    """Call a function, and capture every call of JAX that it makes."""
    recorder = session()
    error: Exception | None = None
    value = None
    with _everything(recorder) as scope:
        try:
            value = recorder.call_function(fun, args, kwargs)
        except Exception as raised:
            error = scope.error = raised
    return Captured(failure_of(error), lambda fill: programs.everything(recorder, scope, fill), error, value)


@contextlib.contextmanager
def _everything(recorder: Session) -> Iterator[Scope]:
    """All calls of this thread are kept, also those outside of all others."""
    before, recorder.thread.scope = recorder.thread.scope, Scope()
    recorder.begin()
    try:
        yield recorder.thread.scope
    finally:
        recorder.end()
        recorder.thread.scope = before


def failure_of(error: BaseException | None) -> Failure | None:
    """An exception, as the main job tells of failures."""
    if error is None:
        return None
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return Failure("exception", name, str(error), site(list(_frames(error))))


def _frames(error: BaseException) -> Iterator[Frame]:
    entry = error.__traceback__
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        _, library, below = file.rpartition("site-packages" + os.sep)
        yield Frame(below, entry.tb_frame.f_code.co_name, entry.tb_lineno, user=not library)
        entry = entry.tb_next
