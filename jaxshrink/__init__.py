"""Reduces a failing JAX program to the smallest that fails in the same way.

    from jaxshrink import shrink

    result = shrink("repro.py")
    print(result.source)

`capture` makes a JAX-only program of a live one; see `jaxshrink.capture`. `jaxshrink.recompiles` tells which functions
JAX compiles again, and why.

Errors, all of them JaxshrinkError: UsageError, InputError, TargetError and OutputError for what the
caller can mend; NotFailing and Unreliable for programs that cannot be reduced; InternalError;
Interrupted. See `jaxshrink.errors`.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

from jaxshrink.errors import (
    InputError,
    InternalError,
    Interrupted,
    JaxshrinkError,
    NotFailing,
    OutputError,
    TargetError,
    Unreliable,
    UsageError,
)

if TYPE_CHECKING:
    from typing import Unpack

    from jaxshrink.failure import Failure
    from jaxshrink.options import Given
    from jaxshrink.outcome import Frame, Outcome
    from jaxshrink.result import Result

__version__ = "0.1.0"

__all__ = [
    "Failure",
    "Frame",
    "InputError",
    "InternalError",
    "Interrupted",
    "JaxshrinkError",
    "NotFailing",
    "Outcome",
    "OutputError",
    "Result",
    "TargetError",
    "Unreliable",
    "UsageError",
    "capture",
    "shrink",
]


def shrink(
    path: str | PathLike[str], predicate: Callable[[Outcome], bool] | None = None, **options: Unpack[Given]
) -> Result:
    """Reduce a failing program and write the smallest that fails in the same way.

    Arguments:
        path: the Python file or the notebook that fails, or `file.py::test` for one test of a file.
        predicate: decides in place of the failure's signature whether the outcome of a run is interesting.
        options: those of the command line, with underscores: `output`, `args`, `python`, `env` (a mapping),
            `same`, `match`, `hang`, `recompiles`, `repeat`, `test`, `passes_with` (a mapping), `passes_on`,
            `no_control`, `keep_frameworks`, `jobs`, `timeout`, `memory`, `time_limit`, `tier`, `also`, `force`,
            `only_pass`, `skip_pass` (names), `resume`.

    Ctrl-C ends the job with the best program so far. Raises JaxshrinkError.
    """
    from jaxshrink.delivery import deliver
    from jaxshrink.options import Options
    from jaxshrink.progress import Progress

    return deliver(Options.of(path, options), Progress(), predicate)


_LAZY = {"Failure": "failure", "Frame": "outcome", "Outcome": "outcome", "Result": "result"}


def __getattr__(name: str) -> Any:
    """Import the data types when they are first asked for: `import jaxshrink` stays quick."""
    import importlib

    if name == "capture":
        return importlib.import_module("jaxshrink.capture")
    if name in _LAZY:
        return getattr(importlib.import_module(f"jaxshrink.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
