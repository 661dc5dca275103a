"""What is looked up of a new instance."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written

LAYER = """
class Layer:
    def __init__(self, w, n=2):
        self.w = g(w, n)
    def apply(self, x):
        return self.w @ x
"""
WITHOUT_APPLY = LAYER.split("    def apply")[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LAYER + "f(Layer(a).w)", LAYER + "f(g(a, 2))"),
        (LAYER + "f(Layer(a).apply)", WITHOUT_APPLY + "f(lambda x: Layer(a).w @ x)"),
        (LAYER + "f(object.__new__(Layer).apply)", WITHOUT_APPLY + "f(lambda x: object.__new__(Layer).w @ x)"),
    ],
)
def test_members(before: str, after: str) -> None:
    assert edits_of("members", before) == [written(after)]


def test_a_method_with_more_than_a_result_stays() -> None:
    longer = LAYER.replace("return self", "x = x + 1\n        return self")
    assert edits_of("members", longer + "f(Layer(a).apply)") == []
