"""Generators."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


def test_a_generator_is_written_in_the_loop_over_it() -> None:
    before = "def f(n, d=2):\n    k()\n    for i in range(n):\n        yield i, d\nfor a, b in f(3):\n    g(a)"
    after = "n = 3\nd = 2\nk()\nfor i in range(n):\n    a, b = (i, d)\n    g(a)"
    assert edits_of("generators", before) == [written(after)]


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    yield 1\n    yield 2\nfor x in f(): g(x)",
        "def f():\n    x = yield 1\nfor x in f(): g(x)",
        "def f():\n    if a(): return\n    yield 1\nfor x in f(): g(x)",
        "def f():\n    yield 1\nfor x in f(): g(x)\nfor x in f(): h(x)",
        "def f():\n    def k(): yield 1\n    return k\nfor x in f(): g(x)",
    ],
)
def test_what_yields_in_other_ways_is_left(source: str) -> None:
    assert edits_of("generators", source) == []
