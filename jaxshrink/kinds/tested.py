"""What a command of the user's finds interesting: `--test`."""

from __future__ import annotations

import dataclasses
from typing import Self

from jaxshrink.failure import Failure
from jaxshrink.kinds.signature import Needs
from jaxshrink.options import Options
from jaxshrink.oracle.command import accepts
from jaxshrink.outcome import Outcome, Tier


@dataclasses.dataclass(frozen=True)
class Tested:
    """The command exits with code 0. Outcomes are those of the command here, and not of the program."""

    failure: Failure

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        if options.test is None or not accepts(outcome):
            return None
        return Failure("test", "test", options.test, "user")

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        return cls(failure)

    @property
    def needs(self) -> Needs:
        return Needs(floor=Tier.COLD)

    @property
    def is_about_values(self) -> bool:
        return False

    def matches(self, outcome: Outcome, text: str) -> bool:
        return accepts(outcome)
