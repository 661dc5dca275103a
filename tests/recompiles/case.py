"""What a test of a cause consists of."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    """A program, and what is to be told of its function of this name.

    `compiles` and `traces` are how often it is compiled and traced, `reason` why it was so the last time, `difference`
    the first thing that differs there, `advice` a part of the sentence on what to do.
    """

    program: str
    function: str
    compiles: int
    reason: str
    difference: str
    advice: str
    traces: int | None = None
    devices: int = 1
