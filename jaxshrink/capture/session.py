"""The one recording session of the process: wrappers can be put in place only once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jaxshrink.inside.capture import recorder, surface


class Session(recorder.Session):  # type: ignore[misc]  # what runs inside is not typed
    """Counts by whom it is wanted; tells all listeners of errors.

    A listener is called with the scope of the outermost call, and the error that left it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.users = 0
        self.listeners: list[Callable[[Any, BaseException], None]] = []
        self.failed = self._failed

    def begin(self) -> None:
        """Record, until everyone who has begun has ended."""
        self.users += 1
        self.is_on = True

    def end(self) -> None:
        """The other half of `begin`."""
        self.users -= 1
        self.is_on = self.users > 0

    def _failed(self, scope: Any, error: BaseException) -> None:
        for listener in tuple(self.listeners):
            listener(scope, error)


@functools.cache
def session() -> Session:
    """The session; the first call puts JAX's functions under watch, now or when JAX is imported."""
    made = Session()
    surface.install(made)
    return made


def formatted(source: str) -> str:
    """The text of a program, laid out."""
    import black

    return black.format_str(source, mode=black.Mode(line_length=88))
