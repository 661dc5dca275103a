"""Containers at both ends."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(lambda c: (g(c), h(c)), (a, b))", "f(lambda c: g(c), a)"),
        ("f(lambda c: (g(c), h(c), 1), (a, b, c))", "f(lambda c: (g(c), 1), (a, c))"),
        (
            "def step(c):\n    x, y = c\n    return g(x), h(y)\nf(step, (a, b))",
            "def step(c):\n    x = c\n    return g(x)\nf(step, a)",
        ),
    ],
)
def test_tuples(before: str, after: str) -> None:
    assert written(after) in edits_of("tuples", before)


def test_appended() -> None:
    assert written("a = [x]\nf(a)") in edits_of("appended", "a = []\na.append(x)\nf(a)")
    assert written("a = [1, x]") in edits_of("appended", "a = [1]\na.append(x)")
    assert edits_of("appended", "a = f()\na.append(x)") == []


def test_one_for_all() -> None:
    before = (
        "def body(state):\n    low, high, middle = state\n    low, high = f(middle), high\n"
        "    return low, high, 0.5 * (low + high)\n"
        "while_loop(lambda s: s[1] - s[0] > 0, body, (a, b, c))[2]"
    )
    after = (
        "def body(state):\n    middle = state\n    middle, middle = f(middle), middle\n"
        "    return 0.5 * (middle + middle)\n"
        "while_loop(lambda s: s - s > 0, body, c)"
    )
    assert written(after) in edits_of("one-for-all", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f({'w': a, 'b': c}, {'w': d, 'b': e})", "f({'w': a}, {'w': d})"),
        ("f({'w': a, 'b': c}, dict(w=d, b=e))", "f({'b': c}, dict(b=e))"),
    ],
)
def test_keys(before: str, after: str) -> None:
    assert written(after) in edits_of("keys", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("p = {'w': a, 'b': c}\nf(p['w'])", "p = a\nf(p)"),
        ("p = (a, b)\nf(p[1])", "p = b\nf(p)"),
        ("p = C(w=a)\nf(p.w, p.w)", "p = a\nf(p, p)"),
        ("p = [a, b]\nf(p['x'])", None),
    ],
)
def test_unkeyed(before: str, after: str | None) -> None:
    texts = edits_of("unkeyed", before)
    assert texts == [] if after is None else written(after) in texts


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x):\n    return C(g(x), x)\nh(f(a).u)", "def f(x):\n    return g(x)\nh(f(a))"),
        ("def f(x):\n    return g(x), x\nh(f(a)[0])\nk(f(b)[0])", "def f(x):\n    return g(x)\nh(f(a))\nk(f(b))"),
        ("def f(x):\n    return {'u': g(x)}\nh(f(a)['u'])", "def f(x):\n    return g(x)\nh(f(a))"),
    ],
)
def test_projections(before: str, after: str) -> None:
    assert written(after) in edits_of("projections", before)


def test_a_result_that_is_used_as_a_whole_stays() -> None:
    assert edits_of("projections", "def f(x):\n    return g(x), x\nh(f(a)[0], f(b))") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("p = (a, b)\nf(p[1], p[0], p[1])", "f(b, a, b)"),
        ("p = {'w': a, 'b': c}\nf(p['w'] @ p['b'])", "f(a @ c)"),
        ("f((a, b)[1])", "f(b)"),
        ("(a,) = (b,)\nf(a)", "a = b\nf(a)"),
    ],
)
def test_unpacked(before: str, after: str) -> None:
    assert edits_of("unpacked", before) == [written(after)]


@pytest.mark.parametrize(
    "source", ["p = (a, b)\nf(p[1], p)", "p = [a]\np[0] = b", "p = g()\nf(p[0])", "p = (a,)\nf(p[i])"]
)
def test_what_is_read_otherwise_stays_packed(source: str) -> None:
    assert edits_of("unpacked", source) == []
