"""Public functions of JAX: all that can be called with plain arrays (see `calls`), and many with options."""

import jax
import pytest

from jaxshrink.jaxprs import JaxprError, dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.calls import OPTIONS, plain_calls

EXPECTED = 400
LOST = "JAX cannot trace its derivative rule any more either: it closes over an argument"
KNOWN = {f"jax.scipy.special.{name}": LOST for name in ("exp1", "expi", "expn")}
"""Functions that have no form as bytes, and why."""


def problem(fun, args):
    """What is wrong with a call in one of the forms; None where nothing is."""
    jaxpr = jax.make_jaxpr(fun)(*args)
    try:
        again = jax.make_jaxpr(from_source(to_source(jaxpr)))(*jax.tree.leaves(args))
        if not equivalent(again, jaxpr):
            return "another jaxpr from its source"
        return None if equivalent(loads(dumps(jaxpr)), jaxpr) else "another jaxpr from its bytes"
    except (JaxprError, TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", OPTIONS)
def test_calls_with_options(name):
    fun, args = OPTIONS[name]
    try:
        jax.eval_shape(fun, *args)
    except AttributeError as error:
        pytest.skip(f"this JAX has no such function: {error}")
    assert problem(fun, args) is None


@pytest.mark.slow
def test_every_public_function():
    calls = list(plain_calls())
    assert len(calls) > EXPECTED
    found = {name: what for name, fun, args in calls if (what := problem(fun, args))}
    assert found.keys() <= KNOWN.keys(), found
    assert all("cannot be kept" in what for what in found.values()), found
