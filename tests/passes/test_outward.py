"""Statements before the function in which they stood."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def loss(p):\n    f = custom_vjp(g)\n    f.defvjp(h, lambda r, p: r)\n    return f(p)\ngrad(loss)(1)",
            "f = custom_vjp(g)\nf.defvjp(h, lambda r, p: r)\n\ndef loss(p):\n    return f(p)\ngrad(loss)(1)",
        ),
        (
            "def f(x):\n    def g(y):\n        return y\n    z = x\n    return g(z)\nf(1)",
            "def g(y):\n    return y\n\ndef f(x):\n    z = x\n    return g(z)\nf(1)",
        ),
    ],
)
def test_outward(before: str, after: str) -> None:
    assert written(after) in edits_of("outward", before)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    y = x\n    return y",
        "def f():\n    y = 1\n    return y\ny = 2\nf(y)",
        "def f():\n    y = 1\n    y += 1\n    return y",
        "def f():\n    return 1",
        "class C:\n    def f(self):\n        y = 1\n        return y",
    ],
)
def test_what_belongs_to_the_function_stays(source: str) -> None:
    assert edits_of("outward", source) == []
