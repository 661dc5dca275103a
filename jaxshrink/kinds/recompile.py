"""Recompilation: a function that is compiled again and again, each time for the same kind of reason."""

from __future__ import annotations

import collections
import dataclasses
from typing import Self

from jaxshrink.failure import Failure
from jaxshrink.kinds.signature import Needs
from jaxshrink.options import Options
from jaxshrink.outcome import Outcome, Tier

_OF_TRACING = ("static argument", "input types", "weak type", "tree structure", "new function object")
"""How reasons begin for which a function is traced again; for others only compiled code is none the same."""


@dataclasses.dataclass(frozen=True)
class Recompiled:
    """A function is compiled so many times or more, mostly for the same kind of reason, and the run ends alike."""

    failure: Failure
    name: str
    count: int

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        if options.recompiles is None:
            return None
        wanted, count = options.recompiles
        names = collections.Counter(each.name for each in outcome.compiles)
        explained = {each.name for each in outcome.compiles if each.reason}
        enough = [name for name, times in names.most_common() if times >= count and wanted in ("", name)]
        if not enough:
            return None
        name = max(enough, key=explained.__contains__)  # rather none of JAX's own, which come without a reason
        told = f"compiled {names[name]} times: {_reason(outcome, name)}"
        return Failure("recompile", name, told, outcome.end.value)

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        assert options.recompiles is not None
        return cls(failure, failure.type, options.recompiles[1])

    @property
    def needs(self) -> Needs:
        """What it takes for tracing is the same where nothing is compiled after it."""
        floor = Tier.ABSTRACT if self._kept_reason.startswith(_OF_TRACING) else Tier.WARM
        return Needs(floor, compiles=True)

    @property
    def is_about_values(self) -> bool:
        return False

    def matches(self, outcome: Outcome, text: str) -> bool:
        if sum(each.name == self.name for each in outcome.compiles) < self.count:
            return False
        alike = _reason(outcome, self.name) == self._kept_reason
        return alike and outcome.end.value == self.failure.site and not outcome.code

    @property
    def _kept_reason(self) -> str:
        return self.failure.message.partition(": ")[2]


def _reason(outcome: Outcome, name: str) -> str:
    """The most frequent reason but for the first time."""
    reasons = [each.reason for each in outcome.compiles if each.name == name]
    reason = collections.Counter(reasons[1:] or reasons).most_common(1)[0][0]
    return reason or "a function of JAX's own"
