"""Crashes: death by a signal, or by the fatal exit of native code, which leaves a log line and no traceback."""

from __future__ import annotations

import dataclasses
import signal
from typing import Self

from jaxshrink.failure import Failure, is_called_back, place, site
from jaxshrink.faults import fatal_line
from jaxshrink.kinds.signature import Needs
from jaxshrink.messages import masked
from jaxshrink.options import Options
from jaxshrink.outcome import End, Outcome

NATIVE = "native"
"""The site of a crash in a thread that runs no Python."""

CALLED_BACK = "user, called back"
"""The site of a crash in the program's own function that JAX called from a computation: that call must stay."""

OVERFLOW = "deep in a recursion"
"""The site of a crash where the stack is at its end: it is at its end in ever other functions."""

_CUT_OFF = "\n  ...\n"
"""What faulthandler leaves out of a dump of a hundred frames."""

_EXIT = "exit"


@dataclasses.dataclass(frozen=True)
class Crashed:
    """The same signal, or exit code, and the same fatal line; where there is no line, the same place in Python.

    A thread of native code has no place in Python: then the signal is all there is.
    """

    failure: Failure

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        name, line = _name(outcome), fatal_line(outcome.stderr)
        if name is None or (name.startswith(_EXIT) and not line):
            return None
        return Failure("crash", name, line or _described(outcome), _site(outcome))

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        return cls(failure)

    @property
    def needs(self) -> Needs:
        """Code that comes from a cache is not compiled, so it does not do where the compiler crashes."""
        return Needs(cache=self.failure.site == NATIVE, finish=True)

    @property
    def is_about_values(self) -> bool:
        return False

    def matches(self, outcome: Outcome, text: str) -> bool:
        old = self.failure
        if _name(outcome) != old.type:
            return False
        line = fatal_line(outcome.stderr)
        if line or old.type.startswith(_EXIT) or old.message != _described(outcome):
            return masked(line) == masked(old.message)
        return place(_site(outcome)) == place(old.site)


def _name(outcome: Outcome) -> str | None:
    """The signal of the process, or of one that it started; else the exit code."""
    number = outcome.signal if outcome.end is End.SIGNAL else outcome.descendant_signal
    if number is not None and outcome.end is not End.TIMEOUT:
        return signal.Signals(number).name
    if outcome.end is End.EXIT and outcome.code:
        return f"{_EXIT} {outcome.code}"
    return None


def _described(outcome: Outcome) -> str:
    """What the system calls the signal."""
    number = outcome.descendant_signal if outcome.signal is None else outcome.signal
    return "" if number is None else signal.strsignal(number) or ""


def _site(outcome: Outcome) -> str:
    if outcome.native:
        return NATIVE
    if outcome.signal in (signal.SIGSEGV, signal.SIGBUS) and _CUT_OFF in outcome.stderr:
        return OVERFLOW
    found = site(outcome.stack)
    return CALLED_BACK if found == "user" and is_called_back(outcome.stack) else found
