"""Sizes of programs, and how they fall over time."""

from __future__ import annotations

import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from jaxshrink import order
from jaxshrink.tokens import count_tokens


class Point(NamedTuple):
    """After so many seconds the smallest program had so many tokens."""

    seconds: float
    tokens: int


def text_of(path: Path) -> str:
    """A program's text, whatever a tool has written there."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def tokens_of(text: str) -> int:
    """Number of tokens, also of text that the interpreter of the candidates reads and this one does not."""
    try:
        return count_tokens(text)
    except (SyntaxError, tokenize.TokenError, ValueError):
        return order.tokens(text)


def improvements(points: Iterable[Point]) -> list[Point]:
    """The points, in order of time, that are lower than all before."""
    best: list[Point] = []
    for point in sorted(points):
        if not best or point.tokens < best[-1].tokens:
            best.append(point)
    return best


def not_below(points: Iterable[Point], tokens: int) -> list[Point]:
    """The improvements as far as they count for a final program of so many tokens.

    A tool may pass through programs of fewer tokens than the one that it gives back, because it counts something else.
    """
    return improvements(Point(each.seconds, max(each.tokens, tokens)) for each in points)


def reached(points: Iterable[Point], tokens: int) -> float | None:
    """After how many seconds there was a program of at most so many tokens."""
    return min((each.seconds for each in points if each.tokens <= tokens), default=None)
