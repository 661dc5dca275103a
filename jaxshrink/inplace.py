"""Waiting for a program that runs in place, where the user is: it ends by itself, or as the user interrupts it."""

from __future__ import annotations

import contextlib
import subprocess

_LAST_WORDS = 5.0
"""Seconds in which an interrupted program may come to its end, and tell where it was."""


def exit_code(process: subprocess.Popen[bytes], hang: float | None = None) -> int | None:
    """The exit code of a process, which has ended then; None where the user has interrupted it.

    Raises TimeoutExpired where it still runs after `hang` seconds.
    """
    try:
        return process.wait(hang)
    except KeyboardInterrupt:
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(_LAST_WORDS)  # a terminal has interrupted it, too
        return None
    finally:
        process.kill()
        process.wait()
