"""Watches the process that it is in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from jaxshrink.errors import TargetError
from jaxshrink.inside.recompiles.hooks import MissingHook
from jaxshrink.inside.recompiles.watcher import Watcher
from jaxshrink.recompiles.report import Report


@contextlib.contextmanager
def watch() -> Iterator[Report]:
    """While this lasts, note what JAX traces and compiles, in all threads.

    Functions that were jitted, or compiled, before count from here on. Calls that JAX has in its caches are not
    slowed down. Raises TargetError where the version of JAX is not known.
    """
    watcher = Watcher()
    try:
        watcher.begin()
    except MissingHook as missing:
        raise TargetError(str(missing)) from None
    try:
        yield Report(watcher.notes)
    finally:
        watcher.end()
