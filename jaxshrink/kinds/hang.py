"""Hangs: a run that has not ended when the time is up which the user gave, and sits where the original sat."""

from __future__ import annotations

import dataclasses
from typing import Self

from jaxshrink.failure import Failure, site
from jaxshrink.kinds.signature import Needs
from jaxshrink.options import Options
from jaxshrink.outcome import End, Outcome


@dataclasses.dataclass(frozen=True)
class Hung:
    """Still running after `seconds` of wall time, in the same function of the library, or outside of all libraries."""

    failure: Failure
    seconds: float

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        if outcome.end is not End.TIMEOUT or options.hang is None:
            return None
        return Failure("hang", "hang", f"still running after {options.hang:g} s", site(outcome.stack))

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
        return outcome.end is End.TIMEOUT and _place(site(outcome.stack)) == _place(self.failure.site)


def _place(site: str) -> str:
    """Module and function: what waits in a loop is found now at one line, now at another."""
    return site.rpartition(":")[0] or site
