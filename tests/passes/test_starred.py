"""Starred arguments, and what functions collect of them."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a, *(b, c), d)", "f(a, b, c, d)"),
        ("f(*[])", "f()"),
        ("x = [a, *(b, c)]", "x = [a, b, c]"),
        ("f(**{'a': 1, 'b': c})", "f(a=1, b=c)"),
        ("f(**dict(a=1))", "f(a=1)"),
    ],
)
def test_starred(before: str, after: str) -> None:
    assert written(after) in edits_of("starred", before)


def test_only_names_are_keywords() -> None:
    assert edits_of("starred", "f(**{'a b': 1})\n*a, b = c\ng(*a)") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(g, *a): h(g, *a)\nf(k, 1, 2)\nf(k)", "def f(g): h(g)\nf(k)\nf(k)"),
        ("def f(*a): h(a)\nf(1, 2)", "def f(): h(())\nf()"),
    ],
)
def test_collected(before: str, after: str) -> None:
    assert written(after) in edits_of("collected", before)
