"""`jax.checkpoint` in both forms: derivatives compute again what they did before, and keep what they did."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.ad_checkpoint import checkpoint_name

from jaxshrink.jaxprs import Inexpressible, dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.comparing import assert_same_results, flat

W = np.linspace(0.1, 1, 9, dtype=np.float32).reshape(3, 3)
X = np.ones((2, 3), np.float32)

policies = jax.checkpoint_policies
POLICIES = {
    "none": None,
    "products": policies.dots_saveable,
    "names": policies.save_only_these_names("kept", "other"),
    "other names": policies.save_any_names_but_these("other"),
    "all but names": policies.save_anything_except_these_names("kept"),
    "two": policies.save_from_both_policies(policies.dots_saveable, policies.save_only_these_names("kept")),
    "offloaded": policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["kept"], names_which_can_be_offloaded=[], offload_src="device",
        offload_dst="pinned_host",
    ),
}  # fmt: skip


def layers(policy):
    def layer(w, x):
        return jnp.sin(checkpoint_name(jnp.sin(x @ w), "kept"))

    remat = jax.checkpoint(layer, policy=policy)
    return lambda w, x: remat(w, remat(w, x)).sum()


@pytest.mark.parametrize("name", POLICIES)
def test_gradients_compute_the_same_again(name):
    fun = layers(POLICIES[name])
    jaxpr = jax.make_jaxpr(fun)(W, X)
    forms = [from_source(to_source(jaxpr)), lambda *args: flat(loads(dumps(jaxpr)))(*args)[0]]
    wanted = jax.make_jaxpr(jax.grad(fun))(W, X)
    for form in forms:
        assert equivalent(jax.make_jaxpr(jax.grad(form))(W, X), wanted)
    assert_same_results([jax.grad(one) for one in (fun, *forms)], (W, X))


@pytest.mark.parametrize("name", ["none", "names"])
def test_gradients_themselves(name):
    gradient = jax.grad(layers(POLICIES[name]))
    jaxpr = jax.make_jaxpr(gradient)(W, X)
    source = to_source(jaxpr)
    made, kept = from_source(source), loads(dumps(jaxpr))
    assert source.count("differentiated=True") == 2
    assert equivalent(jax.make_jaxpr(made)(W, X), jaxpr)
    assert equivalent(kept, jaxpr)
    tangents = [lambda w, x, fun=fun: jax.jvp(fun, (w, x), (w, x)) for fun in (gradient, made, flat(kept))]
    results = [jax.tree.leaves(fun(W, X)) for fun in tangents]
    for other in results[1:]:
        jax.tree.map(lambda one, two: np.testing.assert_allclose(one, two, rtol=1e-5), other, results[0])


def test_a_policy_of_the_users_own_is_told():
    jaxpr = jax.make_jaxpr(layers(lambda *args, **options: True))(W, X)
    for write in (to_source, dumps):
        with pytest.raises(Inexpressible, match=r"policy.*<lambda>"):
            write(jaxpr)
