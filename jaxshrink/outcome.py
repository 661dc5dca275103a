"""How one run of a candidate ended, as told by the process that ran it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Tier(enum.Enum):
    """What a run costs and how near it is to the truth, cheapest first."""

    ABSTRACT = "abstract"  # a fork of the zygote that traces the program's array work, computing none
    WARM = "warm"  # a fork of the zygote
    COLD = "cold"  # a fresh interpreter


class End(enum.Enum):
    """The way in which a run ended."""

    EXCEPTION = "exception"  # an uncaught exception, SystemExit excepted
    EXIT = "exit"  # ran to its end, or SystemExit / os._exit: see `code`
    SIGNAL = "signal"  # killed by a signal that we did not send
    TIMEOUT = "timeout"
    MEMORY = "memory"  # killed by us, above the memory limit
    SYNTAX = "syntax"  # the target interpreter cannot compile the text; nothing was run
    UNKNOWN = "unknown"  # this tier cannot tell (abstract runs only): ask the next one


@dataclasses.dataclass(frozen=True)
class Frame:
    """One entry of a traceback, outermost first in `Outcome.frames`.

    `file` is the program's own file name for `user` frames; for library code it is
    the path below site-packages or the standard library (`jax/_src/pjit.py`).
    Lines start at 1, columns are UTF-8 byte offsets as in `ast`; -1 where unknown.
    """

    file: str
    function: str
    line: int
    end_line: int = -1
    column: int = -1
    end_column: int = -1
    user: bool = False


@dataclasses.dataclass(frozen=True)
class Compile:
    """One compilation of a jitted function; `reason` is the kind of cache miss, empty for JAX's own."""

    name: str
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended.

    `type` is module-qualified (`jax.errors.X`; builtins bare: `KeyError`). `stack` is where the Python code stood,
    outermost first, when a signal ended the process or its time was up;
    that of the main thread where a `native` one failed, which ran no Python. `descendant_signal` is that of which a
    process died that the program had started.
    """

    end: End
    type: str | None = None
    message: str | None = None
    frames: tuple[Frame, ...] = ()
    code: int | None = None
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    stack: tuple[Frame, ...] = ()
    native: bool = False
    descendant_signal: int | None = None
    compiles: tuple[Compile, ...] = ()  # where they are counted
    reads: Sequence[int] = ()  # lines on which an abstract run gave plain values in place of those of arrays
    starved: bool = False  # a time-out that a busy machine may explain: neither CPU time nor idleness was too much
    source: str = ""  # the text that was run, where a predicate is asked

    @classmethod
    def of_status(cls, status: int, **rest: Any) -> Outcome:
        """The outcome of a process that ended by itself, from its status as `subprocess` has it."""
        if status < 0:
            return cls(End.SIGNAL, signal=-status, **rest)
        return cls(End.EXIT, code=status, **rest)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """The outcome in the form in which `jaxshrink/inside` writes it (same names; records are lists)."""
        known = {field.name for field in dataclasses.fields(cls)} & data.keys()
        return cls(**{name: _READERS[name](data[name]) if name in _READERS else data[name] for name in known})


def _frames(data: Sequence[Sequence[Any]]) -> tuple[Frame, ...]:
    return tuple(Frame(*frame) for frame in data)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "end": End,
    "frames": _frames,
    "stack": _frames,
    "compiles": lambda data: tuple(Compile(*each) for each in data),
}
