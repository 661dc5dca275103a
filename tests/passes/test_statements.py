"""Fewer statements."""

from __future__ import annotations

import pytest

from tests.passes.proposing import array, edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a()\nb()", "b()"),
        ("x = a()\nb()\nc(x)", "b()"),
        ("x = a()\ny = b(x)\nz = c(y)\nd()", "d()"),
        ("def f(): return 1\nx = f()\ng(h=f)\ni()", "i()"),
        ("if a:\n    b()\n    c()", "if a:\n    c()"),
        ("for x in a():\n    b(x)", ""),
        ("x, y = a()\nb(x)\nc(y)\nd()", "d()"),
        ("x = a()\nx = b(x)\nc(x)", "x = a()\nc(x)"),
        ("def f():\n    x = a()\n    return x\nf()", "def f():\n    pass\nf()"),
        ("import m\nm.f()\ng()", "g()"),
        ("if a:\n    pass\n    b()", "if a:\n    b()"),
    ],
)
def test_statements_go_with_what_reads_them(before: str, after: str) -> None:
    assert written(after) in edits_of("statements", before)


def test_what_loads_a_module_that_is_read_stays() -> None:
    read = "import jax.export\njax.f(jax.export.g())"
    assert written("jax.f(jax.export.g())") not in edits_of("statements", read)


def test_a_lone_pass_stays() -> None:
    assert edits_of("statements", "if a():\n    pass") == [""]


@pytest.mark.parametrize(
    ("before", "observed", "after"),
    [
        ("x = a()\nf(x)", {"x": 3}, "f(3)"),
        ("x = a()\nf(x, x)", {"x": array(2)}, "f(1.0, 1.0)"),
        ("x = a()\nf(x)", {"x": array(2)}, "f(jnp.ones(2))"),
        ("x, y = a()\nf(x)\ng(y)", {"x": 1, "y": "k"}, "f(1)\ng('k')"),
        ("x = a()\nf(x)", {}, "f(1.0)"),
    ],
)
def test_definitions_leave_values(before: str, observed: dict[str, object], after: str) -> None:
    assert written(after) in edits_of("definitions", before, observed)


def chain(first: int, last: int) -> str:
    return "".join(f"x{i} = a(x{i - 1})\n" for i in range(first, last))


def test_all_but_the_last_statements_of_a_long_block_go_at_once() -> None:
    before = f"x0 = a()\n{chain(1, 40)}b(x39)"
    found = edits_of("beginnings", before, {"x38": array(2), "x36": array(3)})
    assert written("b(1.0)") in found
    assert written(f"{chain(37, 40).replace('x36', 'jnp.ones(3)')}b(x39)") in found
    assert written(f"{chain(25, 40).replace('x24', '1.0')}b(x39)") in found
    assert len(found) < 20
    assert not edits_of("beginnings", f"x0 = a()\n{chain(1, 20)}b(x19)")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a:\n    b()\n    c()\nelse:\n    d()", "b()\nc()"),
        ("if a:\n    b()\nelse:\n    d()", "d()"),
        ("if a():\n    b()", "a()"),
        ("if a:\n    b()\nelif c:\n    d()", "if c:\n    d()"),
        ("while a():\n    b()\n    break", "b()"),
        ("while a():\n    b()", "a()"),
        ("for i in a():\n    if b:\n        continue\n    c()", "if b:\n    pass\nc()"),
        ("for i in a():\n    for j in c:\n        break\n    break", "for j in c:\n    break"),
        ("for i in a():\n    b()", "a()"),
        ("with a() as x, b():\n    c(x)", "x = a()\nc(x)"),
        ("with a():\n    c()", "c()"),
        ("try:\n    a()\nexcept E:\n    b()\nfinally:\n    c()", "a()"),
        ("try:\n    a()\nexcept E:\n    b()\nfinally:\n    c()", "b()"),
        ("try:\n    a()\nexcept E:\n    b()\nfinally:\n    c()", "c()"),
        ("match a:\n    case 1:\n        b()\n    case _:\n        c()", "c()"),
        ("async def f():\n    async with a() as x:\n        b(x)\nf()", "async def f():\n    x = a()\n    b(x)\nf()"),
    ],
)
def test_blocks_stand_in_place_of_what_surrounds_them(before: str, after: str) -> None:
    assert written(after) in edits_of("blocks", before)


def test_the_variable_of_a_loop_gets_its_value() -> None:
    assert written("f(2)") in edits_of("blocks", "for i in a():\n    f(i)", {"i": 2})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f():\n    x = a()\n    y = b(x)\n    return y\nf()", "def f():\n    return a()\nf()"),
        ("def f():\n    a()\n    b()\nf()", "def f():\n    return a()\nf()"),
        (
            "def f(x):\n    if x:\n        x += a()\n        b()\n    c()\nf(1)",
            "def f(x):\n    if x:\n        return a()\n    c()\nf(1)",
        ),
    ],
)
def test_truncated_functions_return_early(before: str, after: str) -> None:
    assert written(after) in edits_of("truncated", before)


def test_modules_and_last_statements_are_not_truncated() -> None:
    assert edits_of("truncated", "x = a()\nb()\ndef f():\n    c()\nf()") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a()", "a()"),
        ("x = y = a()\nf(y)", "y = a()\nf(y)"),
        ("x, y = a()\nf(x)", "x, = a()\nf(x)"),
        ("x, y = a()\nf(x)", "x = a()\nf(x)"),
        ("x, y = a(), b()\nf(x)", "x, = a(),\nf(x)"),
        ("x += a()", "a()"),
        ("x += a()\nf(x)", "x = a()\nf(x)"),
        ("x: T = a()\nf(x)", "x = a()\nf(x)"),
        ("def f():\n    return a()\nf()", "def f():\n    a()\nf()"),
        ("def f():\n    return a()\nf()", "def f():\n    return\nf()"),
    ],
)
def test_targets(before: str, after: str) -> None:
    assert written(after) in edits_of("targets", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x: int): return x\nf(1)", "def f(x): return x\nf(1)"),
        ("def f() -> int: return 1\nf()", "def f(): return 1\nf()"),
        ("def f():\n    'doc'\n    a()\nf()", "def f():\n    a()\nf()"),
        ("async def f(): a()\nf()", "def f(): a()\nf()"),
    ],
)
def test_annotations(before: str, after: str) -> None:
    assert written(after) in edits_of("annotations", before)
