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
    """The block compiles this function so many times, or at most so many: `with assert_compiles(step, 1): ...`.

    `fn` is a function, jitted or not, or a name. All functions from one `def` or `lambda` count together, so that one
    which is made anew for each call is found out. What was compiled before the block does not count. Raises
    AssertionError, which says why each compilation was needed, and what to do about it.
    """
    __tracebackhide__ = True
    with Assertion(fn, times, at_most) as watched:
        yield watched


class Assertion(contextlib.AbstractContextManager[Report]):
    """That a function is compiled so many times, from here to the end of a block, or else until `close`."""

    def __init__(self, fn: str | Callable[..., Any], times: int, at_most: bool) -> None:
        self._fn, self._times, self._at_most = fn, times, at_most
        self._end = contextlib.ExitStack()
        self._watched = self._end.enter_context(watch())
        self._is_open = True

    def __enter__(self) -> Report:
        return self._watched

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        __tracebackhide__ = True
        self.close(is_checked=kind is None)

    def close(self, *, is_checked: bool) -> None:
        """Count no more, and raise AssertionError if the number is another one. The second time nothing happens."""
        __tracebackhide__ = True
        was_open, self._is_open = self._is_open, False
        self._end.close()
        count = self._watched.count(self._fn)
        is_right = count == self._times or (self._at_most and count < self._times)
        if was_open and is_checked and not is_right:
            raise AssertionError(self._wrong(count))

    def _wrong(self, count: int) -> str:
        name = self._fn if isinstance(self._fn, str) else getattr(self._fn, "__name__", repr(self._fn))
        wanted = f"{'at most ' if self._at_most else ''}{self._times}"
        named = self._watched.named(self._fn)
        if not named:
            return f"{name} was compiled 0 times, not {wanted}: it was not called, or each time as it was before"
        told = table(self._watched, named, is_brief=False)
        return f"{name} was compiled {count} times, not {wanted}\n{told}".rstrip()
