"""Functions by their names in place of look-ups."""

from __future__ import annotations

from jaxshrink.bundle import parse_with_origin
from jaxshrink.observation import Function, Span
from tests.passes.proposing import FILE, edits_of, written

HUBER = "def huber(x):\n    return x\n"


def function(source: str) -> Function:
    """What is observed of the function with which the source begins."""
    (definition, *_) = parse_with_origin(source, FILE).body
    return Function(Span(*definition.origin), "huber", "__main__", {}, (), {})  # type: ignore[attr-defined]


def registries(use: str, looked_up: str) -> list[str]:
    return edits_of("registries", HUBER + use, {looked_up: function(HUBER + use)})


def test_a_function_is_named() -> None:
    assert registries("LOSSES['huber'](1)", "LOSSES['huber']") == [written(HUBER + "huber(1)")]
    assert registries("getattr(self, 'f')(1)", "getattr(self, 'f')") == [written(HUBER + "huber(1)")]
    assert registries("def f(self):\n    self.loss(2)", "self.loss") == [written(HUBER + "def f(self):\n    huber(2)")]


def test_the_name_must_mean_it() -> None:
    assert registries("def f(huber):\n    LOSSES['huber'](1)", "LOSSES['huber']") == []
    assert edits_of("registries", HUBER + "LOSSES[0](1)", {"LOSSES[0]": 5}) == []
