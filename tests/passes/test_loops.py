"""Loops over less."""

from __future__ import annotations

import pytest

from jaxshrink.observation import Collection
from tests.passes.proposing import array, edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for i, x in enumerate(a): f(x)", "for x in a: f(x)"),
        ("for i, x in enumerate(jnp.ones(30)): f(i)", "for i in range(30): f(i)"),
        ("for i, x in enumerate(a): f()", "for i in range(4): f()"),
        ("for x, y in zip(a, b): f(y)", "for y in b: f(y)"),
        ("for x, y, z in zip(a, b, c): f(x, z)", "for x, z in zip(a, c): f(x, z)"),
        ("for k, v in d.items(): f(k)", "for k in d: f(k)"),
        ("for k, v in d.items(): f(v)", "for v in d.values(): f(v)"),
        ("for x in (u, v): f(x)", "for x in range(2): f(x)"),
        ("y = [f(x) for i, x in enumerate(a)]", "y = [f(x) for x in a]"),
    ],
)
def test_loops(before: str, after: str) -> None:
    assert written(after) in edits_of("loops", before, {"a": array(4)})


def test_loops_that_read_all_or_are_of_unknown_length() -> None:
    assert edits_of("loops", "for i, x in enumerate(b): f(i, x)\nfor x in b: f(x)\nfor i in range(3): f(i)") == []


def test_what_is_looped_over_is_of_different_sizes() -> None:
    after = written("for x in range(2): f(jnp.ones(x))")
    assert after in edits_of("loops", "for x in a: f(x)", {"a": Collection("list", (0, 0)), "x": array(2)})
    assert after not in edits_of("loops", "for x in a: f(x)", {"a": Collection("list", (0, 0)), "x": 1})
