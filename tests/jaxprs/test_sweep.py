"""Every public function of JAX that can be called with plain arrays, and many with options, in both forms.

Each in a few processes' time: see `calls`.
"""

import jax
import pytest

from jaxshrink.jaxprs import Inexpressible, dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.calls import OPTIONS, plain_calls

EXPECTED = 400
PARTS = 8
CALLBACKS = ("callback", "eig", "schur")


def fails(fun, args):
    """What is wrong with a call in one of the forms; None where nothing is."""
    jaxpr = jax.make_jaxpr(fun)(*args)
    again = jax.make_jaxpr(from_source(to_source(jaxpr)))(*jax.tree.leaves(args))
    if not equivalent(again, jaxpr):
        return "another jaxpr from its source"
    return None if equivalent(loads(dumps(jaxpr)), jaxpr) else "another jaxpr from its bytes"


def problem(fun, args):
    try:
        return fails(fun, args)
    except (Inexpressible, TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", OPTIONS)
def test_calls_with_options(name):
    fun, args = OPTIONS[name]
    assert problem(fun, args) is None


@pytest.mark.slow
def test_every_public_function():
    calls = list(plain_calls())
    assert len(calls) > EXPECTED
    found = {name: what for name, fun, args in calls if (what := problem(fun, args))}
    assert len(found) <= 10, found
