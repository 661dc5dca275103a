"""Hangs: a run that has not ended when the time is up which the user gave, and sits where the original sat."""

from __future__ import annotations

import dataclasses
import re
from typing import Self

from jaxshrink.failure import Failure, is_called_back, place, site
from jaxshrink.kinds.signature import Needs
from jaxshrink.options import Options
from jaxshrink.outcome import End, Outcome

TRACING = "tracing"
"""The site of a run in which JAX traces, transforms or lowers: it is found in ever other functions, JAX's or called."""

_WAITS = re.compile(
    r"jax/_src/(api|array|callback|compilation_cache|compiler|debugging|dispatch|distributed|interpreters/pxla"
    r"|runtime_tokens|xla_bridge)\.py|(asyncio|concurrent|multiprocessing|queue|selectors|socket|subprocess|threading)\b"
)
"""Where Python waits for something else: for the compiler, a computation, a lock, a process."""

_TRACEBACK = "Traceback (most recent call last)"


@dataclasses.dataclass(frozen=True)
class Hung:
    """Still running after `seconds` of wall time, in the same function of the library, or outside of all libraries.

    A hang in what JAX calls back stays one; where no exception was shown before, none is.
    """

    failure: Failure
    seconds: float

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        if outcome.end is not End.TIMEOUT or options.hang is None:
            return None
        return Failure("hang", "hang", f"still running after {options.hang:g} s", _site(outcome))

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        assert options.hang is not None
        return cls(failure, options.hang)

    @property
    def needs(self) -> Needs:
        """What comes from a cache is not compiled, so it does not do where compiling takes for ever."""
        return Needs(cache="compil" not in self.failure.site, hang=self.seconds)

    @property
    def is_about_values(self) -> bool:
        return False

    def matches(self, outcome: Outcome, text: str) -> bool:
        return outcome.end is End.TIMEOUT and place(_site(outcome)) == place(self.failure.site)


def _site(outcome: Outcome) -> str:
    """Where it stands, and what else can be told from a program that hangs for another reason."""
    in_jax = [frame.file for frame in outcome.stack if frame.file.startswith(("jax/", "jaxlib/"))]
    ends = *in_jax[-1:], *(frame.file for frame in outcome.stack[-1:])
    where = TRACING if in_jax and not any(map(_WAITS.match, ends)) else site(outcome.stack)
    called_back = ", called back" if is_called_back(outcome.stack) else ""
    raised = ", after an exception" if _TRACEBACK in outcome.stderr else ""  # in another thread or process
    return where + called_back + raised
