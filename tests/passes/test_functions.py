"""Functions, their parameters and their calls."""

from __future__ import annotations

import pytest

from tests.passes.proposing import array, edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b): g(b)\nf(1, 2)", "def f(b): g(b)\nf(2)"),
        ("def f(a, b): g(a, b)\nf(1, 2)", "def f(b): g(1, b)\nf(2)"),
        ("def f(a, *, k=3): g(a)\nf(1, k=2)", "def f(a): g(a)\nf(1)"),
        ("def f(a, b=2): g(a)\nf(1)\nf(3, 4)", "def f(a): g(a)\nf(1)\nf(3)"),
        ("def f(a, *b, **c): g(a)\nf(1)", "def f(a, **c): g(a)\nf(1)"),
        ("f = lambda a, b: g(b)\nf(1, 2)", "f = lambda b: g(b)\nf(2)"),
        ("(lambda a, b: g(b))(1, 2)", "(lambda b: g(b))(2)"),
        ("def f(a, b): g(b)\nh(f)", "def f(b): g(b)\nh(f)"),
    ],
)
def test_parameters_go_at_both_ends(before: str, after: str) -> None:
    assert written(after) in edits_of("parameters", before)


def test_a_function_keeps_the_parameters_that_its_transformation_passes() -> None:
    assert edits_of("parameters", "jax.jit(lambda x: g(1))(2)") == []
    assert edits_of("parameters", "def f(x): g(1)\njax.vmap(f, in_axes=0)(a)") == []


def test_a_transformed_function_loses_the_parameters_that_nothing_is_passed_for() -> None:
    assert written("jax.jit(lambda x: g(1))(2)") in edits_of("parameters", "jax.jit(lambda x, y: g(1))(2)")
    before = "jax.jit(lambda *, k, rate: g(1), static_argnames='k')(k=[])"
    assert edits_of("parameters", before) == [written("jax.jit(lambda *, k: g(1), static_argnames='k')(k=[])")]


def test_a_parameter_leaves_what_was_observed() -> None:
    before = "def f(a, b): g(a, b)\nh(f)"
    assert written("def f(b): g(jnp.ones(2), b)\nh(f)") in edits_of("parameters", before, {"a": array(2)})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x): return g(x)\njax.vmap(f)(a)", "jax.vmap(lambda x: g(x))(a)"),
        ("def f(x):\n    g(x)\nh(f)", "h(lambda x: g(x))"),
        ("def f(): pass\nh(f)", "h(lambda: None)"),
    ],
)
def test_lambdas(before: str, after: str) -> None:
    assert written(after) in edits_of("lambdas", before)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return x\nf(1)\nf(2)",
        "def f(n): return f(n - 1)",
        "@d\ndef f(x): return x\nf(1)",
        "def f(x):\n    a()\n    b()\nf(1)",
        "def f(x):\n    yield x\nf(1)",
    ],
)
def test_no_lambda_for_what_is_read_twice_recursive_decorated_long_or_yields(source: str) -> None:
    assert edits_of("lambdas", source) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@jax.jit\ndef f(x): return x\nf(1)", "jax.jit(lambda x: x)(1)"),
        ("@a\n@b(2)\ndef f(x): return x\nf(1)", "a(b(2)(lambda x: x))(1)"),
        ("@jax.jit(static=1)\ndef f(x): return x", "jax.jit(static=1)(lambda x: x)"),
        ("@jax.jit(static=1)\ndef f(x):\n    a()\n    b()", "jax.jit(static=1)"),
    ],
)
def test_decorated(before: str, after: str) -> None:
    assert written(after) in edits_of("decorated", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("g(lambda x: f(x))", "g(f)"),
        ("(lambda x, y: f(y, x))(a, b)", "f(b, a)"),
        ("(lambda x: f(x, x))(a)", "f(a, a)"),
        ("(lambda x, y=2: f(x, y))(a)", "f(a, 2)"),
        ("import functools\nfunctools.partial(f, a, k=b)(c)", "f(a, c, k=b)"),
    ],
)
def test_eta(before: str, after: str) -> None:
    assert written(after) in edits_of("eta", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x, y): return g(y, x)\nh(f(a, b))", "h(g(b, a))"),
        ("def f(x, *, k=2): return g(x, k)\nh(f(a))", "h(g(a, 2))"),
        ("f = lambda x: g(x)\nh(f(a))", "h(g(a))"),
        ("f = lambda x: g(x)\nh(f(a))\ni(f(b))", "h(g(a))\ni(f(b))"),
    ],
)
def test_inline_calls(before: str, after: str) -> None:
    assert written(after) in edits_of("inline-calls", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x):\n    y = g(x)\n    return h(y)\nz = f(a)\nk(z)", "x = a\ny = g(x)\nz = h(y)\nk(z)"),
        ("def f(x):\n    g(x)\nf(a)", "x = a\ng(x)"),
        ("def main():\n    g()\n    return 1\nmain()", "g()\n1"),
        (
            "def f(x):\n    g(x)\n    return x\ndef h(x):\n    return k(f(x))\nh(a)",
            "def h(x):\n    g(x)\n    return k(x)\nh(a)",
        ),
        ("def f(x, y=2):\n    g(x)\n    h(y)\nf(a)", "x = a\ny = 2\ng(x)\nh(y)"),
        ("def f(x):\n    g(x)\n    return h(x)\nfor y in f(a):\n    k(y)", "x = a\ng(x)\nfor y in h(x):\n    k(y)"),
        ("def f():\n    g()\n    return h()\nassert f(), 'm'", "g()\nassert h(), 'm'"),
        ("def f(x, *y):\n    g(x)\n    h(*y)\nf(a, b, c)", "x = a\ny = (b, c)\ng(x)\nh(*y)"),
        ("def f(x):\n    g(x)\n    h(x)\nx = a\nf(x + 1)\nk(x)", "x = a\ng(x + 1)\nh(x + 1)\nk(x)"),
    ],
)
def test_splice(before: str, after: str) -> None:
    assert written(after) in edits_of("splice", before)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    if x:\n        return 1\n    return 2\nf(a)",
        "def f():\n    yield 1\nf()",
        "def f():\n    a()\n    return b()\nwhile f(): g()",
        "def f(**x):\n    g(x)\nf(a=a)",
        "def f(n):\n    f(n)",
    ],
)
def test_what_cannot_be_spliced(source: str) -> None:
    assert edits_of("splice", source) == []


def test_module_guard() -> None:
    before = "import sys\nif __name__ == '__main__':\n    sys.exit(main())"
    assert edits_of("module-guard", before) == [written("import sys\nsys.exit(main())")]
