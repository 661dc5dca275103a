"""Programs as people write them, as source and as bytes: the same jaxpr and numbers, transformed too."""

import functools

import jax
import pytest

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.comparing import assert_same_results, assert_same_transformed, flat
from tests.jaxprs.programs import PROGRAMS, SMOOTH


@functools.cache
def forms(name):
    """The jaxpr of a program, what its source and its bytes give back, and the program's arguments."""
    fun, args = PROGRAMS[name]
    jaxpr = jax.make_jaxpr(fun)(*args)
    return jaxpr, from_source(to_source(jaxpr)), loads(dumps(jaxpr)), jax.tree.leaves(args)


@pytest.mark.parametrize("name", PROGRAMS)
def test_source_and_bytes_give_the_same_jaxpr_and_numbers(name):
    jaxpr, fun, kept, leaves = forms(name)
    assert equivalent(jax.make_jaxpr(fun)(*leaves), jaxpr)
    assert equivalent(kept, jaxpr)
    assert_same_results((flat(jaxpr), fun, flat(kept)), leaves)


@pytest.mark.parametrize("name", SMOOTH)
def test_source_and_bytes_can_be_transformed(name):
    jaxpr, fun, kept, leaves = forms(name)
    assert_same_transformed((flat(jaxpr), fun, flat(kept)), leaves)
