"""Names without their numbers."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def f_1(x_2):\n    y_1 = g(x_2)\n    return f_1(y_1)\nf_1(1)",
            "def f(x):\n    y = g(x)\n    return f(y)\nf(1)",
        ),
        ("g(lambda x_1: x_1, lambda x_1, x_2: x_2)", "g(lambda x: x, lambda x, x_2: x_2)"),
        ("x_1 = a.x_2\nx_1.y()", "x = a.x_2\nx.y()"),
    ],
)
def test_unnumbered(before: str, after: str) -> None:
    assert edits_of("unnumbered", before) == [written(after)]


@pytest.mark.parametrize(
    "source",
    [
        "x = x_1 = 1",
        "def f(x_1): pass\nf(x_1=1)",
        "def f(max_1): pass",
        "def f(in_1): pass",
        "from jax import lax\nlax_1 = 0",
        "x_1 = 0\nglobals()['x_1']",
        "x_1 = 0\nf(f.x)",
        "class x:\n    pass\nx_1 = x()",
        "def f():\n    global x_1\n    x_1 = 1",
        "_1 = 0\nx1 = 0",
    ],
)
def test_names_that_stay(source: str) -> None:
    assert not edits_of("unnumbered", source)
