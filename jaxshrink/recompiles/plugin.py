"""The fixture of pytest: `assert_compiles`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest

from jaxshrink.recompiles.counting import check
from jaxshrink.recompiles.report import Report
from jaxshrink.recompiles.watching import watch


class Assertion(contextlib.AbstractContextManager[Report]):
    """That a function is compiled so many times: in a block, or where there is none until the test ends."""

    def __init__(self, fn: str | Callable[..., Any], times: int, at_most: bool) -> None:
        self._wanted = fn, times, at_most
        self._open = contextlib.ExitStack()
        self._watched: Report | None = self._open.enter_context(watch())

    def __enter__(self) -> Report:
        assert self._watched is not None, "one assertion is good for one block"
        return self._watched

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        __tracebackhide__ = True
        watched, self._watched = self._watched, None
        self._open.close()
        if kind is None and watched is not None:
            check(watched, *self._wanted)

    def end(self, is_checked: bool) -> None:
        """The test is over."""
        __tracebackhide__ = True
        if is_checked:
            self.__exit__(None)
        self._open.close()


class AssertCompiles(Protocol):
    """What the fixture gives."""

    def __call__(self, fn: str | Callable[..., Any], times: int, *, at_most: bool = False) -> Assertion: ...


@pytest.fixture
def assert_compiles(request: pytest.FixtureRequest) -> Iterator[AssertCompiles]:
    """Assert how often JAX compiles a function: `assert_compiles(fn, times)`, in a block or until the test ends.

    See `jaxshrink.recompiles.assert_compiles`.
    """
    __tracebackhide__ = True
    made: list[Assertion] = []

    def asserting(fn: str | Callable[..., Any], times: int, *, at_most: bool = False) -> Assertion:
        made.append(Assertion(fn, times, at_most))
        return made[-1]

    failed = request.session.testsfailed
    yield asserting
    for each in reversed(made):
        each.end(request.session.testsfailed == failed)
