"""What every kind of failure has: a way to see it in a run, and a signature that says what must stay the same."""

from __future__ import annotations

import dataclasses
from typing import Protocol, Self

from jaxshrink.failure import Failure
from jaxshrink.options import Options
from jaxshrink.outcome import Outcome, Tier


@dataclasses.dataclass(frozen=True)
class Needs:
    """What a kind of failure needs of the runs that look for it."""

    floor: Tier = Tier.WARM  # the cheapest that can show it
    cache: bool = True  # whether compiled code may come from another run
    finish: bool = False  # the interpreter must come to its own end
    compiles: bool = False  # compilations are counted
    shared: bool = False  # whether one process may run a program after another: only exceptions count
    sizes: bool = True  # whether it is worth many runs how small sizes get
    hang: float | None = None  # seconds of wall time after which a run counts as hung


class Signature(Protocol):
    """The part of a failure that a candidate must reproduce. A new kind of failure is one class of this form."""

    @property
    def failure(self) -> Failure:
        """The failure to keep."""

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        """The failure of this kind that a first run shows, if it does.

        `text` is that of the file in which it ended; of the whole program if it ran to its end.
        """

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        """The signature of a failure that was seen in the original text."""

    @property
    def needs(self) -> Needs:
        """What the runs must do for it."""

    @property
    def is_about_values(self) -> bool:
        """Whether it is a computed value that is wrong, so that what computes it is what must stay."""

    def matches(self, outcome: Outcome, text: str) -> bool:
        """Is this the same failure? `text` is the candidate's."""
