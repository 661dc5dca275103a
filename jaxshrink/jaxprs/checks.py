"""Checks of what bytes say. All raise CorruptJaxpr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxshrink.jaxprs.errors import CorruptJaxpr


def of_kind(kind: type, value: Any) -> Any:
    """The value, if it is of exactly this class."""
    if type(value) is not kind:
        raise CorruptJaxpr(f"there is a {type(value).__name__} where a {kind.__name__} should be")
    return value


def row_at(rows: Sequence[Any], index: Any) -> Any:
    """One of several rows."""
    if type(index) is not int or not 0 <= index < len(rows):
        raise CorruptJaxpr("something is referred to that is not there")
    return rows[index]


def size(value: Any) -> int:
    """A number that may be a size or a place."""
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise CorruptJaxpr("a size is no such number")
    return value
