"""Programs as people write them, as source and as bytes: the same jaxpr and numbers, transformed too."""

import jax
import pytest

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.comparing import assert_same_numbers, assert_same_transformed, flat
from tests.jaxprs.programs import PROGRAMS, SMOOTH


def traced(name):
    fun, args = PROGRAMS[name]
    return jax.make_jaxpr(fun)(*args), jax.tree.leaves(args)


@pytest.mark.parametrize("name", PROGRAMS)
def test_source_and_bytes_give_the_same_jaxpr_and_numbers(name):
    jaxpr, leaves = traced(name)
    fun = from_source(to_source(jaxpr))
    kept = loads(dumps(jaxpr))
    assert equivalent(jax.make_jaxpr(fun)(*leaves), jaxpr)
    assert equivalent(kept, jaxpr)
    wanted = jax.jit(flat(jaxpr))(*leaves)
    assert_same_numbers(jax.jit(fun)(*leaves), wanted)
    assert_same_numbers(jax.jit(flat(kept))(*leaves), wanted)


@pytest.mark.parametrize("name", SMOOTH)
def test_source_and_bytes_can_be_transformed(name):
    jaxpr, leaves = traced(name)
    assert_same_transformed(from_source(to_source(jaxpr)), flat(jaxpr), leaves)
    assert_same_transformed(flat(loads(dumps(jaxpr))), flat(jaxpr), leaves)
