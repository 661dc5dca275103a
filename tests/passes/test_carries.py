"""What loops carry, at all places together."""

from __future__ import annotations

import pytest

from tests.passes.proposing import array, edits_of, written

STEP = "def step(carry, x):\n    "


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lax.scan(lambda c, x: ((f(c[0]), g(c[1])), x), (a, b), z)", "lax.scan(lambda c, x: (g(c), x), b, z)"),
        (
            "lax.scan(lambda c, x: (({}, (h(c[1][0]), 0)), 0), ({}, (a, 0)), length=1)",
            "lax.scan(lambda c, x: ((h(c[0]), 0), 0), (a, 0), length=1)",
        ),
        (
            "lax.scan(lambda c, x: (({}, (h(c[1][0]), 0)), 0), ({}, (a, 0)), length=1)",
            "lax.scan(lambda c, x: (({}, h(c[1])), 0), ({}, a), length=1)",
        ),
        (
            "lax.scan(lambda c, x: ((c[0], f(), c[2]), x), (a, b, d), z)[0][2]",
            "lax.scan(lambda c, x: ((c[0], c[1]), x), (a, d), z)[0][1]",
        ),
        ("lax.scan(lambda c, x: (f(c, x['u']), 0), a, {'u': b, 'v': d})", "lax.scan(lambda c, x: (f(c, x), 0), a, b)"),
        (
            "c, (y, z) = lax.scan(lambda c, x: (c, (f(c), x)), a, b)\nz + c",
            "c, z = lax.scan(lambda c, x: (c, x), a, b)\nz + c",
        ),
        (
            STEP + "(u, v), n = carry\n    return ((f(u), v), n + 1), None\nlax.scan(step, ((a, b), 0), z)",
            STEP + "u, n = carry\n    return (f(u), n + 1), None\nlax.scan(step, (a, 0), z)",
        ),
        (
            STEP + "(u, v), n = carry\n    return ((f(u), v), n + 1), None\nlax.scan(step, ((a, b), 0), z)",
            STEP + "u, v = carry\n    return (f(u), v), None\nlax.scan(step, (a, b), z)",
        ),
        (
            "lax.while_loop(lambda s: s[0] < 9, lambda s: (s[0], f(s[1])), (a, b))[1]",
            "lax.while_loop(lambda s: s < 9, lambda s: s, a)",
        ),
        (
            "lax.fori_loop(0, 3, lambda i, s: {'u': s['v'], 'v': s['u']}, {'u': a, 'v': b})",
            "lax.fori_loop(0, 3, lambda i, s: s, a)",
        ),
        ("lax.map(lambda x: f(x[1]), (a, b))", "lax.map(lambda x: f(x), b)"),
        (
            "lax.associative_scan(lambda p, q: (p[0] * q[0], q[1]), (a, b))",
            "lax.associative_scan(lambda p, q: p * q, a)",
        ),
        ("lax.cond(p, lambda s: f(s[0]), lambda s: g(s[0]), (a, b))", "lax.cond(p, lambda s: f(s), lambda s: g(s), a)"),
        ("lax.cond(p, lambda s: (f(s), 1), lambda s: (s, 2), a)", "lax.cond(p, lambda s: f(s), lambda s: s, a)"),
        ("lax.switch(i, [lambda s: s['a'], f], {'a': x})", "lax.switch(i, [lambda s: s, f], x)"),
        ("jax.jit(lambda p: f(p['w'][0]))({'w': [a, b], 'v': c})", "jax.jit(lambda p: f(p['w']))({'w': a, 'v': c})"),
    ],
)
def test_carries(before: str, after: str) -> None:
    assert written(after) in edits_of("carries", before)


def test_what_is_dropped_but_read_is_its_first_value_or_what_was_observed() -> None:
    before = "lax.scan(lambda c, x: ((f(c[1]), g(c[0])), x), (a, b), z)"
    texts = edits_of("carries", before, {"c[1]": array(3)})
    assert written("lax.scan(lambda c, x: ((f(b),), x), (a,), z)") in texts
    assert written("lax.scan(lambda c, x: ((f(1.0),), x), (a,), z)") in texts


def test_variables_that_hold_each_other_are_followed_once() -> None:
    before = "def h():\n    {}\n    u = v\n    w = u\n    u = w\n"
    assert edits_of("carries", before.format("v = lax.map(f, u)")) == []
    before = "v = lax.scan(f, (a, b), d)[0]\ndef h():\n    global x, y\n    x = y\n    y = x\n"
    assert written(before.replace("(a, b)", "a")) in edits_of("carries", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lax.cond(p, lambda x, y: f(x), lambda x, y: g(x), a, b)", "lax.cond(p, lambda x: f(x), lambda x: g(x), a)"),
        ("lax.switch(i, (lambda x: 1, lambda x: 2), a)", "lax.switch(i, (lambda: 1, lambda: 2))"),
    ],
)
def test_operands(before: str, after: str) -> None:
    assert written(after) in edits_of("operands", before)
