"""Second ways of running, found for programs whose numbers are wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jaxshrink.controls import CHECKS, SETTINGS, Control, Origin, find, given
from jaxshrink.errors import TargetError
from jaxshrink.options import Options
from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import End, Frame, Outcome, Tier


class Kept(Runner):
    """A runner that serves several searches for a control."""

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def runner() -> Iterator[Callable[[Control], Runner]]:
    """The runner under a control; one for each."""
    made: dict[str, Kept] = {}

    def runner(control: Control) -> Runner:
        env = {"JAX_PLATFORMS": "cpu", **control.env}
        return made.setdefault(str(control), Kept(Setting(sys.executable, env, timeout=20.0)))

    yield runner
    for each in made.values():
        Runner.close(each)


HEAD = "import jax\nimport jax.numpy as jnp\n"
PURE = HEAD + "calls = []\n@jax.jit\ndef f(x):\n    calls.append(x)\n    return x\nf(1)\nf(1)\nassert len(calls) == 2"
DOUBLE = HEAD + "assert jnp.asarray(1.0) + 1e-9 > 1"
BACKWARD = HEAD + "def norm(x):\n    return jnp.sqrt(x * x)\nassert not jnp.isnan(jax.grad(norm)(0.0))"
FORWARD = HEAD + "assert not jnp.isnan(jnp.log(-1.0))"
INFINITE = HEAD + "assert jnp.exp(jnp.float32(100)) < 9"
WRONG = "assert len('abc') == 2"


@pytest.mark.parametrize(("text", "control"), [(PURE, "JAX_DISABLE_JIT=1"), (DOUBLE, "JAX_ENABLE_X64=1")])
def test_a_setting_in_which_it_ends_well(text: str, control: str, runner: Callable[[Control], Runner]) -> None:
    (found,) = find(text, runner)
    assert (str(found), found.origin, found.described()) == (control, None, f"with {control} it does not fail")


def test_the_operation_that_a_number_comes_from(runner: Callable[[Control], Runner]) -> None:
    nans = Control(CHECKS[0], origin=Origin("invalid value (nan) encountered in log", ("log",), False))
    assert find(FORWARD, runner) == (nans,)
    assert "fails in the same operation (invalid value (nan) encountered in log)" in nans.described()


@pytest.fixture(scope="module")
def origins(runner: Callable[[Control], Runner]) -> tuple[Control, ...]:
    return find(BACKWARD, runner)


def test_the_rule_of_a_derivative(origins: tuple[Control, ...]) -> None:
    backward, forward = origins
    assert backward.origin is not None and forward.origin is not None
    assert backward.origin.message == "invalid value (nan) encountered in mul"
    assert (backward.origin.backward, backward.origin.operations[-1]) == (True, "mul")
    assert forward.origin.message == "invalid value (inf) encountered in div"
    assert (forward.origin.backward, forward.origin.operations[-1]) == (False, "div")
    assert "operation of a backward pass" in backward.described()


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        (BACKWARD, True),
        (BACKWARD.replace("x * x", "x * 0"), False),
        (BACKWARD.replace("jnp.sqrt(x * x)", "jnp.log(-x * x)"), False),
        (FORWARD, False),
        (INFINITE, False),
        (WRONG, False),
        (HEAD, False),
        (HEAD + "missing", False),
    ],
)
def test_only_the_same_operation_counts(
    text: str, allowed: bool, origins: tuple[Control, ...], runner: Callable[[Control], Runner]
) -> None:
    assert all(each.allows(runner(each).run([text], Tier.WARM)[0]) for each in origins) == allowed


def test_none(runner: Callable[[Control], Runner]) -> None:
    """Numbers that are finite, and wrong in all settings."""
    assert find(WRONG, runner) == ()


def test_all_are_ended_where_one_cannot_start() -> None:
    made: dict[str, Runner] = {}

    def broken(control: Control) -> Runner:
        return made.setdefault(str(control), Runner(Setting("/bin/true")))

    with pytest.raises(TargetError):
        find(WRONG, broken, lambda control: made[str(control)].close())
    assert len(made) == 2 and all(each.closed for each in made.values())


def test_what_is_found_goes_on_and_all_else_is_left(runner: Callable[[Control], Runner]) -> None:
    """Where what is not finite comes of single operations, it is not asked how many of them are compiled."""
    asked, left = [], []

    def noted(control: Control) -> Runner:
        asked.append(control)
        return runner(control)

    (found,) = find(FORWARD, noted, left.append)
    assert [each.env for each in asked] == [*SETTINGS[:2], *CHECKS]
    assert found.env == CHECKS[0] and [each.env for each in left] == [*SETTINGS[:2], CHECKS[1]]


# -- made-up outcomes


def test_an_ending_that_is_well() -> None:
    control = Control(SETTINGS[0])
    assert control.allows(Outcome(End.EXIT, code=0))
    ends = [Outcome(End.EXIT, code=1), *(Outcome(end) for end in End if end is not End.EXIT)]
    assert not any(control.allows(each) for each in ends)


def test_an_origin_is_told_by_the_innermost_library() -> None:
    """What lies outside of the program's innermost function is no part of it."""
    files = ["jax/_src/lax/lax.py:sub", None, "jax/_src/api.py:grad", "jax/_src/lax/lax.py:mul"]
    frames = tuple(Frame(*each.split(":"), 1) if each else Frame("repro.py", "f", 1, user=True) for each in files)
    outcome = Outcome(End.EXCEPTION, "FloatingPointError", "invalid value (nan) in mul. Turn it off.", frames)
    assert Origin.of(outcome) == Origin("invalid value (nan) in mul", ("mul",), False)
    assert Origin.of(Outcome(End.EXCEPTION, "ZeroDivisionError", "", frames)) is None
    assert Origin.of(Outcome(End.EXIT, code=0)) is None


@pytest.mark.parametrize(("operation", "is_origin"), [("exp", True), ("convert_element_type", False)])
def test_an_infinity_that_the_program_names_has_no_origin(operation: str, is_origin: bool) -> None:
    """The -inf of a mask goes through operations that made none."""
    outcome = Outcome(End.EXCEPTION, "FloatingPointError", f"invalid value (inf) encountered in {operation}. Stop.")
    assert (Origin.of(outcome) is not None) == is_origin


def test_the_control_counts_and_not_what_the_program_sets() -> None:
    text = "import os\nos.environ['JAX_ENABLE_X64'] = '1'\nos.environ['A'] = '2'\nimport jax\n"
    applied = Control({"JAX_ENABLE_X64": "0"}).applied(text)
    assert applied == "import os\npass\nos.environ['A'] = '2'\nimport jax\n"
    assert Control({"B": "0"}).applied(text) == text


def test_those_that_the_user_names() -> None:
    options = Options.of("repro.py", {"passes_with": {"A": "1", "B": "x=y"}, "passes_on": sys.executable})
    assert given(options) == (Control({"A": "1", "B": "x=y"}), Control({}, Path(sys.executable)))
    assert [str(each) for each in given(options)] == ["A=1, B=x=y", sys.executable]
    assert given(Options.of("repro.py", {})) == ()
