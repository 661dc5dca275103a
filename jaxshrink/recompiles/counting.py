"""Assertions on how often a function is compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from jaxshrink.recompiles.report import Report
from jaxshrink.recompiles.table import table
from jaxshrink.recompiles.watching import watch


@contextlib.contextmanager
def assert_compiles(fn: str | Callable[..., Any], times: int, *, at_most: bool = False) -> Iterator[Report]:
    """The block compiles this function so many times, or at most so many.

    `fn` is a function, jitted or not, or a name. All functions from one `def` or `lambda` count together, so that one
    which is made anew for each call is found out. What was compiled before the block does not count. Raises
    AssertionError, which says why each compilation was needed, and what to do about it.
    """
    with watch() as watched:
        yield watched
    check(watched, fn, times, at_most)


def check(watched: Report, fn: str | Callable[..., Any], times: int, at_most: bool) -> None:
    """Raise AssertionError if what was watched is not so."""
    __tracebackhide__ = True
    count = watched.count(fn)
    if count == times or (at_most and count < times):
        return
    name = fn if isinstance(fn, str) else getattr(fn, "__name__", repr(fn))
    wanted = f"{'at most ' if at_most else ''}{times}"
    told = table(watched, watched.named(fn), is_brief=False)
    raise AssertionError(f"{name} was compiled {count} times, not {wanted}\n{told}".rstrip())
