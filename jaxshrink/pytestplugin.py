"""The fixture of pytest: `assert_compiles`. Nothing else is imported before a test asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from jaxshrink.recompiles.counting import Assertion


class AssertCompiles(Protocol):
    """What the fixture gives."""

    def __call__(self, fn: str | Callable[..., Any], times: int, *, at_most: bool = False) -> Assertion: ...


@pytest.fixture
def assert_compiles(request: pytest.FixtureRequest) -> Iterator[AssertCompiles]:
    """Assert how often JAX compiles a function: `assert_compiles(fn, times)`.

    In a `with` statement it counts in the block, else from there to the end of the test. See
    `jaxshrink.recompiles.assert_compiles`, which is the same without the latter.
    """
    from jaxshrink.recompiles.counting import Assertion

    __tracebackhide__ = True
    made: list[Assertion] = []

    def asserting(fn: str | Callable[..., Any], times: int, *, at_most: bool = False) -> Assertion:
        made.append(Assertion(fn, times, at_most))
        return made[-1]

    failed = request.session.testsfailed
    yield asserting
    for each in reversed(made):
        each.close(is_checked=request.session.testsfailed == failed)
