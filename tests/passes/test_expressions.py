"""Smaller expressions."""

from __future__ import annotations

import pytest

from tests.passes.proposing import array, edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a + b)", "f(a)"),
        ("f(a, k=b)", "b"),
        ("a.b(c)", "a"),
        ("f(*a)", "a"),
        ("x = [f(v) for v in a]", "x = a"),
        ("x = {'k': a}", "x = a"),
        ("a[b]", "b"),
        ("a if b else c", "c"),
        ("a and b", "b"),
        ("x = f'{a} text'", "x = a"),
        ("lambda: a", "a"),
        ("f((a, *b))", "f(b)"),
        ("not a", "a"),
        ("a < b", "b"),
        ("{**a}", "a"),
    ],
)
def test_hoist_puts_a_part_in_place_of_the_whole(before: str, after: str) -> None:
    assert written(after) in edits_of("hoist", before)


def test_hoist_takes_what_an_object_was_made_of() -> None:
    assert written("y = b") in edits_of("hoist", "y = C(a, b).field")
    assert written("y = b") in edits_of("hoist", "y = f(a, k=b)[0]")


def test_hoist_deep() -> None:
    assert written("y = b") in edits_of("hoist-deep", "y = f(g(h(b)))")
    assert written("if isnan(h(b)): c") in edits_of("hoist-deep", "if isnan(f(g(h(b)))): c")


def test_sums() -> None:
    assert edits_of("sums", "def f(x, y):\n    return sin(x, 1, f)") == [written("def f(x, y):\n    return x + x")]
    assert edits_of("sums", "import m\nm.f(m)") == []


def test_hoist_leaves_names_of_modules_and_targets_alone() -> None:
    texts = edits_of("hoist", "import m\nm.f = m.g(1)[2]")
    assert written("import m\nm.f = 1") not in edits_of("hoist", "import m\nm.f[1] = 2")
    assert written("import m\nm.f = 2") in texts


@pytest.mark.parametrize(
    ("before", "after"),
    [("x = f(g(a + b))", "x = b"), ("return_ = [f(a.b(c))]", "return_ = a.b"), ("f(g(h(i)))", "h(i)")],
)
def test_hoist_deep_reaches_any_expression_below(before: str, after: str) -> None:
    assert written(after) in edits_of("hoist-deep", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a.b, c)", "f(0, c)"),
        ("f(a.b, c)", "f(None, c)"),
        ("x = a()", "x = 0"),
        ("a() + b", "1.0 + b"),
        ("f(k=a())", "f(k=None)"),
        ("np.ones((n, 2))", "np.ones((1, 2))"),
        ("np.ones((n, 2))", "np.ones(())"),
        ("f(lambda x: g(x), h)", "f(lambda x: (0, 0), h)"),
    ],
)
def test_constants(before: str, after: str) -> None:
    assert written(after) in edits_of("constants", before)


def test_what_is_called_or_looked_into_gets_no_constant() -> None:
    assert written("0()") not in edits_of("constants", "a.b()")
    assert written("0[1]") not in edits_of("constants", "a.b[1]")


def test_a_constant_is_like_the_value_that_was_observed() -> None:
    assert written("f('k')") in edits_of("constants", "f(a.b)", {"a.b": "k"})
    assert written("f(1)") in edits_of("constants", "f(a.b)", {"a.b": array(3, dtype="int32")})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a, *b, c=d)", "f(a, c=d)"),
        ("f(a, c=d, **e)", "f(a, **e)"),
        ("x = [a, b]", "x = [b]"),
        ("x = {a: b, **c}", "x = {**c}"),
        ("a and b", "a"),
        ("x = f'{a}{b}'", "x = f'{b}'"),
        ("x = f'{a:>{w}}'", "x = f'{a}'"),
        ("@d\n@e\ndef f(): pass\nf()", "@e\ndef f(): pass\nf()"),
        ("class C(A, B, metaclass=M): a()\nC", "class C(A, B): a()\nC"),
        ("def f(a=1, b=2): a\nf()", "def f(a, b=2): a\nf()"),
        ("def f(*, a, b=2): a\nf()", "def f(*, a, b): a\nf()"),
        ("x = [v for v in a if b]", "x = [v for v in a]"),
        ("import a.b, c\na, c", "import c\na, c"),
        ("with a, b: c", "with b: c"),
        ("try: a\nexcept B: b\nexcept C: c", "try: a\nexcept C: c"),
        ("match a:\n    case 1: b\n    case _: c", "match a:\n    case 1: b"),
        ("x[1:a]", "x[1:]"),
        ("raise A from b", "raise A"),
    ],
)
def test_elements(before: str, after: str) -> None:
    assert written(after) in edits_of("elements", before)


def test_elements_of_targets_stay() -> None:
    assert edits_of("elements", "a, b = c") == []


@pytest.mark.parametrize(
    ("before", "observed", "after"),
    [
        ("x = f(a.b)", {"a.b": 3}, "x = f(3)"),
        (
            "x = f(g(a + b * c), d(e), h(i, j))",
            {"f(g(a + b * c), d(e), h(i, j))": array(2, 3, dtype="int32")},
            "x = jnp.ones((2, 3), int)",
        ),
        ("x = f(next(g()))", {"next(g())": array(2)}, "x = f(jnp.ones(2))"),
        ("x = f(a.b)", {"a.b": array(4, lib="numpy", dtype="float64")}, "x = f(np.ones(4))"),
    ],
)
def test_materialise(before: str, observed: dict[str, object], after: str) -> None:
    assert written(after) in edits_of("materialise", before, observed)


def test_names_are_not_worth_their_values() -> None:
    assert edits_of("materialise", "f(a)", {"a": 3}) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x):\n    a()\n    return b\nf(1)", "def f(x): pass\nf(1)"),
        ("g(lambda x, y: a(x))", "g(lambda x, y: y)"),
    ],
)
def test_empty_functions(before: str, after: str) -> None:
    assert written(after) in edits_of("empty-functions", before)
