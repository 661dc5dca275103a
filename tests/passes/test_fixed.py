"""Parameters that get the same everywhere."""

from __future__ import annotations

import pytest

from tests.passes.proposing import array, edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("b = g()\ndef f(a, x): return a @ x\nh(f(b, 1), jax.jit(f)(b, 2))",
         "b = g()\ndef f(x): return b @ x\nh(f(1), jax.jit(f)(2))"),
        ("def f(a, x=3): return a @ x\nh(f(1), f(2))", "def f(a): return a @ 3\nh(f(1), f(2))"),
        ("@jax.jit\ndef f(a, x): return a @ x\nf(1, 2)\nf(3, 2)", "@jax.jit\ndef f(a): return a @ 2\nf(1)\nf(3)"),
        ("@partial(jax.jit, static_argnums=(0, 1))\ndef f(a, x): return a @ x\nf(1, 2)\nf(1, 3)",
         "@partial(jax.jit, static_argnums=(0,))\ndef f(x): return 1 @ x\nf(2)\nf(3)"),
        ("def f(a, x): return a @ x\ng = jax.vmap(f, in_axes=(None, 0))\ng(1, x)\ng(1, y)",
         "def f(x): return 1 @ x\ng = jax.vmap(f, in_axes=(0,))\ng(x)\ng(y)"),
    ],
)  # fmt: skip
def test_what_all_calls_pass_is_read_in_the_place_of_the_parameter(before: str, after: str) -> None:
    assert written(after) in edits_of("fixed", before)


@pytest.mark.parametrize(
    "source",
    [
        "def f(a): return a\nf(1)\nf(2)",
        "def f(a): return a\njax.jit(f)(1)",  # of what is traced, `arguments` thinks
        "def f(a): return a\nf(1)\nh(f)",
        "def f(a): return a\ndef g(b): return f(b)\ng(1)\ng(2)",  # `b` means nothing in `f`
        "def f(a): return a\njax.lax.scan(f, 1)",
    ],
)
def test_parameters_that_differ_or_are_passed_elsewhere_stay(source: str) -> None:
    assert edits_of("fixed", source) == []


def test_a_parameter_goes_everywhere_and_leaves_what_was_observed() -> None:
    before = "def f(a, x): return g(a, x)\nh(f(1, 2), jax.jit(f)(3, 4))"
    after = "def f(x): return g(1.0, x)\nh(f(2), jax.jit(f)(4))"
    assert written(after) in edits_of("fixed", before, {"a": array(2)})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b, *, c): return a\nf(1, c=2, b=3)", "def f(a, b, *, c): return a\nf(1, 3, c=2)"),
        ("jax.jit(lambda a, b: a, static_argnames='b')(x, b=1)", "jax.jit(lambda a, b: a, static_argnames='b')(x, 1)"),
    ],
)
def test_positional(before: str, after: str) -> None:
    assert edits_of("positional", before) == [written(after)]


def test_keywords_out_of_reach_stay() -> None:
    assert edits_of("positional", "def f(a, b=1, c=2): return a\nf(1, c=2)\ng(a=1)") == []
