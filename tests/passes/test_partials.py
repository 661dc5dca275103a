"""Partial functions, and decorators called where the function is read."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written

PARTIAL = "import functools\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("h(functools.partial(lambda a, b: g(b, a), x))", "h(lambda b: g(b, x))"),
        ("h(functools.partial(lambda a, b, *, c=1: g(a, b, c), c=x))", "h(lambda a, b: g(a, b, x))"),
        ("def f(a, b):\n    k()\n    return g(a, b)\nh(functools.partial(f, 1))",
         "def f(b):\n    k()\n    return g(1, b)\nh(f)"),
        ("def f(a, b):\n    k()\n    return a\ndef m(x):\n    return h(functools.partial(f, x))\nm(1)\nm(2)",
         "def m(x):\n    def f(b):\n        k()\n        return x\n    return h(f)\nm(1)\nm(2)"),
    ],
)  # fmt: skip
def test_partials(before: str, after: str) -> None:
    assert written(after) in edits_of("partials", PARTIAL + before)


@pytest.mark.parametrize(
    "source",
    [
        "def f(a, b): return a\nh(functools.partial(f, 1))\nf(1, 2)",
        "h(functools.partial(lambda a: a, *x))",
        "h(functools.partial(lambda a, **k: a, b=x))",
    ],
)
def test_what_is_called_otherwise_or_not_known_stays_partial(source: str) -> None:
    assert edits_of("partials", PARTIAL + source) == []


def test_called_decorators() -> None:
    before = "@functools.partial(jax.jit, static_argnames='k')\ndef f(k):\n    a()\n    return k\nfor i in x: f(i)"
    after = "def f(k):\n    a()\n    return k\nfor i in x: jax.jit(f, static_argnames='k')(i)"
    assert edits_of("called-decorators", PARTIAL + before) == [written(after)]
    assert edits_of("called-decorators", PARTIAL + before + "\nf(1)") == []
