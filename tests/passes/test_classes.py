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
        ("class C: x = 1\nf(C(a, b).x)", "class C: x = 1\nf(C.x)"),
        ("class C: x = 1\nf(C(a), C(b))", "f(object(), object())"),
        ("class C: x = 1\nc = object.__new__(C)\nf(c)", "class C: x = 1\nc = C()\nf(c)"),
    ],
)
def test_instances(before: str, after: str) -> None:
    assert written(after) in edits_of("instances", before)


STATE = "class State(NamedTuple):\n    step: int\n    value: float = 0.0\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s = State(a, value=b)\nf(s.value, State(c))", "s = (a, b)\nf(s[1], (c, 0.0))"),
        ("f(lambda s: s._replace(value=a), State(b))", "f(lambda s: (s[0], a), (b, 0.0))"),
        ("f(lambda s: State(s.step + 1, s.value), State(a))", "f(lambda s: (s[0] + 1, s[1]), (a, 0.0))"),
    ],
)
def test_records(before: str, after: str) -> None:
    assert edits_of("records", STATE + before) == [written(after)]


@pytest.mark.parametrize("fields", ["'a b'", "'a, b'", "['a', 'b']"])
def test_named_tuples_made_by_a_call_are_records(fields: str) -> None:
    before = f"import collections\nS = collections.namedtuple('S', {fields})\ns = S(x, b=y)\nf(s.b)"
    assert edits_of("records", before) == [written("s = (x, y)\nf(s[1])")]


def test_a_record_that_is_asked_for_its_class_stays() -> None:
    assert edits_of("records", STATE + "isinstance(State(a), State)") == []


def test_a_class_in_place_of_its_instance_would_puzzle() -> None:
    program = "class C: pass\nf(C(a))"
    assert written("class C: pass\nf(C)") not in edits_of("hoist", program) + edits_of("instances", program)


@pytest.mark.parametrize(
    ("before", "after"),
    [("class C:\n    x = f()\nC", "class C: pass\nC"), ("class C:\n    x = f()\n    g(x)", "x = f()\ng(x)")],
)
def test_class_bodies(before: str, after: str) -> None:
    assert written(after) in edits_of("class-bodies", before)
