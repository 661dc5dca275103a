"""What can go wrong, as one tree of exceptions. Each says what is wrong and what to do, in a sentence or two.

    JaxshrinkError
    ├── UsageError        2    an option that makes no sense
    ├── InputError        2    the program cannot be read or parsed
    ├── TargetError       2    the interpreter that is to run it is missing, has no JAX, or is too old
    ├── OutputError       2    the result cannot be written where it should be
    ├── NotFailing        3    the program does not fail
    ├── Unreliable        4    it fails, but not always, or not apart from its surroundings
    ├── InternalError     5    a mistake of jaxshrink's own
    └── Interrupted     130    stopped before there was any result

The numbers are the exit codes of the command.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from jaxshrink.result import Result


class JaxshrinkError(Exception):
    """Base of all errors. `result` holds what is known all the same, for the JSON report."""

    exit_code: ClassVar[int] = 5
    status: ClassVar[str] = "error"

    def __init__(self, message: str, result: Result | None = None):
        super().__init__(message)
        self.message = message
        self.result = result


class UsageError(JaxshrinkError):
    """An option or argument that makes no sense."""

    exit_code = 2


class InputError(JaxshrinkError):
    """The program cannot be read or parsed."""

    exit_code = 2


class TargetError(JaxshrinkError):
    """The interpreter that is to run the program is missing, has no JAX, or is too old."""

    exit_code = 2


class OutputError(JaxshrinkError):
    """The result cannot be written where it should be."""

    exit_code = 2


class NotFailing(JaxshrinkError):
    """The program runs to its end."""

    exit_code = 3
    status = "not-failing"


class Unreliable(JaxshrinkError):
    """The program fails, but not each time in the same way, or not apart from its surroundings."""

    exit_code = 4
    status = "unreliable"


class InternalError(JaxshrinkError):
    """A mistake of jaxshrink's own. `best` is the file with the smallest program found before it, if any."""

    exit_code = 5

    def __init__(self, message: str, result: Result | None = None, best: Path | None = None):
        super().__init__(message, result)
        self.best = best


class Interrupted(JaxshrinkError):
    """Stopped before there was any result."""

    exit_code = 130
    status = "interrupted"
