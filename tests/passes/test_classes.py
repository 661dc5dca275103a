"""Classes to functions and plain values."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written

MODEL = (
    "class M:\n    def __init__(self, w):\n        self.w = w\n    def apply(self, x):\n        return f(self.w, x)\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            MODEL + "m = M(a)\nm.apply(b)",
            MODEL.split("    def apply")[0] + "def apply(self, x):\n    return f(self.w, x)\nm = M(a)\napply(m, b)",
        ),
        ("class C:\n    @staticmethod\n    def g(x): return f(x)\nC.g(a)", "def g(x): return f(x)\ng(a)"),
    ],
)
def test_methods(before: str, after: str) -> None:
    assert written(after) in edits_of("methods", before)


def test_a_method_that_is_not_only_called_stays() -> None:
    assert edits_of("methods", MODEL + "h(M(a).apply)") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class C: x = 1\nf(C(a, b))", "class C: x = 1\nf(C())"),
        ("class C: x = 1\nf(C(a, b))", "class C: x = 1\nf(C)"),
        ("class C: x = 1\nc = object.__new__(C)\nf(c)", "class C: x = 1\nc = C()\nf(c)"),
    ],
)
def test_instances(before: str, after: str) -> None:
    assert written(after) in edits_of("instances", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [("class C:\n    x = f()\nC", "class C: pass\nC"), ("class C:\n    x = f()\n    g(x)", "x = f()\ng(x)")],
)
def test_class_bodies(before: str, after: str) -> None:
    assert written(after) in edits_of("class-bodies", before)
