"""Bytes that another release of JAX has made: as far as these can be made here, with options that it has or lacks."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import Inexpressible, dumps, equivalent, loads, wire
from tests.jaxprs.comparing import assert_same_results, flat
from tests.jaxprs.programs import PROGRAMS

CHOSEN = ("attention", "mlp", "rnn", "gradient of own_rules", "remat", "branches", "nested_loops", "table_lookup")
X = np.linspace(0.1, 0.9, 3, dtype=np.float32)


def elsewhere(jaxpr, change):
    """The bytes of a jaxpr as another release would have made them: with this change of name and options of each
    equation. Derivative rules are left alone."""
    document, arrays = wire.unpacked(dumps(jaxpr))
    document["jax"] = "0.0.1"
    for row in document["jaxprs"]:
        for eqn in row["eqns"]:
            _, name = document["primitives"][eqn[0]]
            made = change(name, eqn[1])
            if made != name:
                document["primitives"].append([f"jax.elsewhere.{made}_p", made])
                eqn[0] = len(document["primitives"]) - 1
    return wire.packed(document, bytes(arrays))


def less(name, options):
    """Without the options that say nothing: an older release need not have had them."""
    for option in [key for key, value in options.items() if value is None or value is False]:
        del options[option]
    return name


def more(name, options):
    """With one that is new and says nothing, and other names of primitives."""
    if "@custom" not in options:
        options["novel"] = ["tuple", [None, False]]
    return {"jit": "pjit", "pjit": "jit"}.get(name, name)


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("change", [less, more])
def test_programs_are_the_same(name, change):
    fun, args = PROGRAMS[name]
    jaxpr = jax.make_jaxpr(fun)(*args)
    kept = loads(elsewhere(jaxpr, change))
    assert equivalent(kept, jaxpr)
    assert_same_results((flat(jaxpr), flat(kept)), jax.tree.leaves(args))


def with_option(value, name, options):
    options["novel"] = value
    return name


def test_an_option_that_says_something_is_an_error():
    with pytest.raises(Inexpressible, match=r"primitive sin of JAX 0.0.1 has no option novel here, and it says 3"):
        loads(elsewhere(jax.make_jaxpr(jnp.sin)(X), functools.partial(with_option, 3)))


def test_so_is_a_value_that_is_not_there():
    def change(name, options):
        options["axis"] = ["member", "Novelty", "BEST"]
        return name

    with pytest.raises(Inexpressible, match=r"primitive cumsum of JAX 0.0.1 has .*Novelty.BEST"):
        loads(elsewhere(jax.make_jaxpr(lambda x: lax.cumsum(x))(X), change))


def test_a_primitive_that_is_not_there_is_an_error():
    with pytest.raises(Inexpressible, match=r"primitive sinus of JAX 0.0.1 is not there"):
        loads(elsewhere(jax.make_jaxpr(jnp.sin)(X), lambda name, options: "sinus"))


def test_unless_its_function_is():
    kept = loads(elsewhere(jax.make_jaxpr(jnp.sin)(X), lambda name, options: options.clear() or "sinc"))
    np.testing.assert_allclose(flat(kept)(X)[0], jnp.sinc(X), rtol=1e-6)


def test_nothing_in_the_bytes_is_executed():
    """Names and options of primitives are looked up and handed over, never part of a text that is run."""
    told = "__import__('sys').modules.pop('jax.numpy')"
    with pytest.raises(Inexpressible):
        loads(elsewhere(jax.make_jaxpr(jnp.sin)(X), functools.partial(with_option, told)))
    with pytest.raises(Inexpressible):
        loads(elsewhere(jax.make_jaxpr(jnp.sin)(X), lambda name, options: told))
    assert jax.numpy is jnp
