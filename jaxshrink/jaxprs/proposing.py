"""Rules that propose expressions for equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jaxshrink.jaxprs.texts import Call

Rule = Callable[[Any, dict[str, Any]], Iterator[str | Call | None]]
RULES: dict[str, Rule] = {}
"""Give expressions for an equation and its options, the nicest first."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Makes a function the rule for primitives of these names."""

    def add(propose: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, propose))
        return propose

    return add


def tuple_of(start: int, stop: int) -> str:
    """Operands from one on to another, as a tuple."""
    return "(" + "".join(f"_{i}, " for i in range(start, stop)) + ")"


def single(axes: Any) -> Any:
    """One axis as it is, others as they are."""
    return axes[0] if isinstance(axes, (tuple, list)) and len(axes) == 1 else axes
