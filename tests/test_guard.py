"""What flows into the statement by which a program finds that its numbers are wrong."""

from __future__ import annotations

import dataclasses
import textwrap

import pytest

from jaxshrink.guard import Guard, Watched, feeds, into, reads_values
from jaxshrink.outcome import End, Frame, Outcome

HEAD = "import jax, numpy as np\nimport jax.numpy as jnp\n"


def flow(text: str) -> set[str]:
    """Into the last statement."""
    text = HEAD + textwrap.dedent(text)
    return set(into(text, text.count("\n") + 1))


def failed(text: str, line: int | None = None) -> Outcome:
    """A run that failed in a line, or the last one, by what it called there."""
    frames = (
        Frame("repro.py", "<module>", line or text.count("\n") + 1, user=True),
        Frame("numpy/testing/_private/utils.py", "assert_allclose", 9),
    )
    return Outcome(End.EXCEPTION, "AssertionError", "", frames)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("assert jnp.sum(3)", {"sum", "3"}),
        ("x = jnp.sum(3)\nassert x > 2", {"sum", "3", "operator Compare", "2"}),
        ("x = jnp.sum(3)\ny = jnp.exp(x)\nassert x", {"sum", "3"}),
        ("f = jax.grad(jnp.sin)\nassert f(1.5)", {"grad", "sin", "1.5"}),
        ("from jax import grad as slope\nassert slope(jnp.sin)(1.5)", {"grad", "sin", "1.5"}),
        (
            "def f(x): return x / 7\nassert f(jnp.ones(2))[0]",
            {"ones", "operator Div", "operator Subscript", "7", "2", "0"},
        ),
        ("def f(x):\n    y = -x\n    assert y\nf(jnp.cos(1))\nassert jnp.max(7)", {"max", "7"}),
        ("for x in jnp.arange(4): y = x\nassert y", {"arange", "4"}),
        ("a, (b, *c) = jnp.split(5)\nassert c", {"split", "5"}),
        ("assert [x for x in jnp.log(6)]", {"log", "6"}),
        ("assert (x := jnp.tan(8)) and x", {"tan", "8"}),
        ("with jax.debug_nans(9) as x: pass\nassert x", {"debug_nans", "9"}),
        ("x = jnp.ones(2)\nx += jnp.zeros(3)\nassert x", {"ones", "2", "operator Add", "zeros", "3"}),
        ("x = np.zeros(2)\nx[1:] = jnp.tan(3)\nassert x", {"zeros", "2", "tan", "3", "1", "operator Subscript"}),
        ("x = []\nx.append(jnp.log(4))\nassert x", {"log", "4"}),
        ("x = f()\nx.a.b += jnp.log(4)\nassert x", {"log", "4", "operator Add"}),
        ("assert len('abc') and print", set()),
        ("if jnp.isnan(1):\n    raise ValueError", {"isnan", "1"}),
        ("for i in jnp.arange(2):\n    while jnp.all(i):\n        raise ValueError", {"arange", "all", "2"}),
        ("class A:\n    def f(self): return jnp.tanh(3)\nassert A().f()", {"tanh", "3"}),
    ],
)  # fmt: skip
def test_into(text: str, expected: set[str]) -> None:
    assert flow(text) == expected


def test_a_parameter_is_what_is_passed() -> None:
    text = "def check(x, y):\n    assert x == y\ncheck(jnp.sort(1), y=np.sort(2))"
    assert into(HEAD + text, 4) == {"operator Compare": 1, "sort": 2, "1": 1, "2": 1}


CHECKED = HEAD + "def f(x):\n    return jnp.log(x) * 2\ng = jax.grad(f)(jnp.ones(3))\nnp.testing.assert_allclose(g, 1)"


@pytest.mark.parametrize(
    ("candidate", "controlled", "alone"),
    [
        (CHECKED, True, True),
        (CHECKED.replace("ones", "ones_like"), True, False),
        ("import jax, numpy as np\nnp.testing.assert_array_equal(jax.grad(len)(2), 1)", True, False),
        ("import jax, numpy as np\nnp.testing.assert_allclose(jax.vjp(len, 2), 1)", True, False),
        ("import jax, numpy as np\nnp.testing.assert_allclose(2, 1)", True, False),
        ("import jax, numpy as np\ng = jax.grad(len)\nnp.testing.assert_allclose(2, 1)", True, False),
        ("import jax, numpy as np\njax.grad(np.testing.assert_allclose)(2, 1)", True, False),
        ("import jax\nassert jax.grad(len)(2) == 1", False, False),
        ("assert 2 == 1", False, False),
    ],
)
def test_kept(candidate: str, controlled: bool, alone: bool) -> None:
    """Where a control watches over the numbers, the comparison stays; else all of it."""
    for guard, kept in (
        (Guard.of(failed(CHECKED), CHECKED, Watched.ALL), controlled),
        (Guard.of(failed(CHECKED), CHECKED, Watched.NOTHING), alone),
    ):
        assert guard.kept(failed(candidate), candidate) == kept


NOT_A_NUMBER = HEAD + "g = jax.grad(jnp.sqrt)(0.0)\nassert not jnp.isnan(g), 'NaN'"


@pytest.mark.parametrize(
    ("candidate", "possible"),
    [
        (NOT_A_NUMBER, True),
        (HEAD + "def f(x):\n    assert jnp.isfinite(jnp.sqrt(x))\nassert f", True),
        (NOT_A_NUMBER.replace("assert ", ""), False),
        (NOT_A_NUMBER.replace("jnp.isnan(g)", "g"), False),
        (HEAD + "if jnp.isnan(jnp.sqrt(2)):\n    raise AssertionError", False),
    ],
)
def test_what_can_be_told_without_a_run(candidate: str, possible: bool) -> None:
    guard = Guard.of(failed(NOT_A_NUMBER), NOT_A_NUMBER, Watched.ALL)
    assert guard.is_possible(candidate) == possible


def test_what_a_library_finds_wrong_may_be_found_anywhere() -> None:
    guard = Guard.of(failed(CHECKED), CHECKED, Watched.ALL)
    assert guard.is_possible("from numpy.testing import assert_equal as check\ncheck(1)\nlog")
    assert not guard.is_possible(CHECKED.replace("assert_allclose", "allow"))


def test_more_may_flow_into_it() -> None:
    text = HEAD + "assert jnp.sum(2) == 3"
    guard = Guard.of(failed(text), text, Watched.NOTHING)
    more = HEAD + "x = jnp.exp(2)\nassert jnp.sum(x) == 3"
    assert guard.kept(failed(more), more)
    assert not guard.kept(failed(more, 3), more), "another statement"


SHAPE = HEAD + "def check(x):\n    if x.shape != (3,) and len(x) < 2:\n        raise ValueError\ncheck(jnp.ones(1))"


@pytest.mark.parametrize(
    ("candidate", "kept"),
    [
        (SHAPE.replace("(3,)", "(4, 5)"), True),
        (SHAPE.replace(".shape", ".dtype"), False),
        (SHAPE.replace("len(x) < 2", "len(x) == 1"), False),
        (SHAPE.replace("x.shape != (3,)", "True"), False),
    ],
)
def test_where_values_do_not_matter_the_test_stays(candidate: str, kept: bool) -> None:
    guard = Guard.of(failed(SHAPE, 5), SHAPE, Watched.VALUES)
    assert guard.kept(failed(candidate, 5), candidate) == kept


def test_values_that_an_abstract_run_does_not_know() -> None:
    """Read where they do not flow into what fails, they do no harm."""
    text = HEAD + "x = jnp.ones(3)\nprint(float(x[0]))\nn = int(x[0])\nassert n == 2"
    outcome = failed(text)
    assert not reads_values(dataclasses.replace(outcome, reads=(4,)), text)
    assert reads_values(dataclasses.replace(outcome, reads=(5,)), text)


def test_what_another_run_fails_in_flows_into_the_guard() -> None:
    text = HEAD + "x = jnp.log(-1.0)\ny = jnp.log(-2.0)\nassert x == x"
    assert feeds(failed(text, 3), failed(text), text)
    assert not feeds(failed(text, 4), failed(text), text)


@pytest.mark.parametrize(
    ("statement", "flows"),
    [
        ("x = jnp.where(x > 0, x, 1)", True),
        ("jnp.where(x > 0, x, 1)", False),
        ("jax.debug.where(x)", True),
        ("x", False),
    ],
)
def test_what_is_computed_and_dropped_flows_nowhere(statement: str, flows: bool) -> None:
    found = flow(f"""\
        def f(x):
            {statement}
            return jnp.exp(x)
        assert f(1) == 2""")
    assert "exp" in found and ("where" in found) == flows
