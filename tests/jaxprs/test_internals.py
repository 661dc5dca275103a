"""What is taken from JAX's internals is there, and does what it is used for: the first to fail with a new release."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import Inexpressible, internals, keeping, kinds, private, restoring, rules

X = np.ones(3, np.float32)
OPTIONAL = ("check_vma", "flattree", "literals", "use_abstract_mesh")


def only(fun, *args):
    """The one equation of a function."""
    (eqn,) = internals.opened(jax.make_jaxpr(fun)(*args)).eqns
    return eqn


def test_every_module_and_class_is_there():
    assert {name for name, value in vars(private).items() if value is None} <= set(OPTIONAL)


def test_classes_of_plain_data():
    used = ("GatherDimensionNumbers", "ScatterDimensionNumbers", "ConvDimensionNumbers", "GatherScatterMode", "FftType",
            "Precision", "_LinearSolveTuple", "UnspecifiedValue", "RandomAlgorithm")  # fmt: skip
    newer = ("RaggedDotDimensionNumbers", "ArrayCopySemantics", "AxisType") if hasattr(jax, "new_ref") else ()
    assert {*used, *newer} <= set(kinds.classes())


@pytest.mark.parametrize("value", [
    lax.Precision.HIGHEST, lax.GatherScatterMode.CLIP, kinds.classes()["FftType"].RFFT,
])  # fmt: skip
def test_members_are_found_again(value):
    assert kinds.member_of(*kinds.member(value)) == value


def test_plain_data_is_made_again():
    value = lax.GatherDimensionNumbers((0,), (1,), (2,))
    assert kinds.made(type(value), kinds.fields(value)) == value
    assert kinds.made(type(value), {**kinds.fields(value), "new": ()}) == value
    with pytest.raises(Inexpressible, match="GatherDimensionNumbers has no new in JAX"):
        kinds.made(type(value), {**kinds.fields(value), "new": 1})


def test_parts_and_names():
    def loss(params, x):
        return {"value": params["w"] * x}

    jaxpr = jax.make_jaxpr(loss)({"w": X}, 2.0)
    assert internals.names(jaxpr) == (["params['w']", "x"], ["result['value']"])
    assert internals.function_name(jaxpr) == "loss" and keeping.function_info(jaxpr).startswith("loss at ")
    parts = internals.opened(jax.make_jaxpr(lambda x: x + jnp.asarray(X))(X))
    assert len(parts.constvars) == len(parts.consts) == len(parts.invars) == len(parts.outvars) == 1
    assert len(internals.hoisted(jax.make_jaxpr(lambda x: x + jnp.asarray(X))(X)).invars) == 2


def test_a_jaxpr_is_a_function():
    np.testing.assert_array_equal(internals.function(jax.make_jaxpr(jnp.negative)(X))(X), [-X])


def test_places_and_scopes():
    def scaled(x):
        with jax.named_scope("outer"), jax.named_scope("inner"):
            return x * 2

    eqn = only(scaled, X)
    file, line, function = internals.frame(eqn)
    assert (file, line) == (__file__, scaled.__code__.co_firstlineno + 2) and function.endswith("scaled")
    assert internals.scopes(eqn) == ("outer", "inner")
    stack = restoring.name_stack(["one", "two"])
    again = eqn.replace(source_info=restoring.source(restoring.frame("a.py", 7, "fun"), stack))
    assert internals.scopes(again) == ("one", "two") and internals.frame(again) == ("a.py", 7, "fun")


def test_tracing_for_exactly_these_types():
    weak = internals.type_of(1.0)
    traced = internals.opened(internals.traced(lambda x: [x * 2], [weak], ["x"]))
    assert traced.invars[0].aval == weak and weak.weak_type


def test_settings_of_an_equation():
    with jax.threefry_partitionable(False):
        eqn = only(lambda k: jax.random.bits(k, (3,)), jax.random.key(0))
    assert keeping.settings(eqn)["threefry_partitionable"] is False
    assert restoring.context({"threefry_partitionable": False}).threefry_partitionable is False
    with internals.within(eqn, [("batch", 2)]):
        assert not jax.config.jax_threefry_partitionable
        assert internals.opened(internals.traced(lambda: [lax.axis_index("batch")], [])).eqns


def test_primitives_are_found_by_name():
    assert internals.primitive_name(only(jnp.sin, X).primitive) == "jax.lax.sin_p"
    assert internals.primitive_source(lax.cholesky_p if hasattr(lax, "cholesky_p") else lax.linalg.cholesky_p) in (
        "lax.cholesky_p", "lax.linalg.cholesky_p"
    )  # fmt: skip
    assert restoring.primitive("jax.lax.sin_p") is lax.sin_p


def test_rules_of_custom_functions():
    ruled = jax.custom_jvp(jnp.sin)
    ruled.defjvp(lambda primals, tangents: (ruled(*primals), tangents[0] * 2))
    (rule,) = rules.jvp_rules(only(ruled, X).params, [internals.type_of(X)])
    assert len(internals.opened(rule.jaxpr).invars) == 2 and rule.given == (0,) and rule.zeros == (False,)

    ruled = jax.custom_vjp(lambda x, y: x * y)
    ruled.defvjp(lambda x, y: (x * y, (x, jnp.sin(y))), lambda kept, ct: (ct * kept[1], None))
    rule = rules.vjp_rule(only(ruled, X, X).params, [internals.type_of(X)] * 2)
    assert rule.zeros == (False, True) and len(internals.opened(rule.backward).outvars) == 1
    assert rule.forwarded in ((0, None), (None, None))


def test_rules_of_functions_that_close_over_values_when_jax_evaluates_them():
    """JAX makes arguments of the values, and refuses to differentiate for these."""
    table = jnp.arange(3.0)
    ruled = jax.custom_vjp(lambda x: x * table)
    ruled.defvjp(lambda x: (x * table, ()), lambda _, ct: (ct,))
    jaxpr = jax.make_jaxpr(lambda x: ruled(x))(X)
    eqn = only(lambda *args: jax.core.eval_jaxpr(internals.hoisted(jaxpr), (), *args), table, X)
    rule = rules.vjp_rule(eqn.params, [atom.aval for atom in eqn.invars[eqn.params.get("num_consts", 0) :]])
    assert rule.zeros[-1] is False and sum(rule.zeros) == len(rule.zeros) - 1


def test_scans_tell_what_they_carry():
    table = jnp.asarray(X)
    eqn = only(lambda x, xs: lax.scan(lambda c, y: (c + y * table, c), x, xs), X, np.zeros((2, 3), np.float32))
    counts = internals.scan_counts(eqn.params, len(eqn.invars))
    assert counts == (1, 1)
    made = restoring.scan_params(counts, len(eqn.invars), len(eqn.outvars))
    assert internals.scan_counts(made, len(eqn.invars)) == counts and made.keys() <= eqn.params.keys()


@pytest.mark.skipif(not hasattr(jax, "new_ref"), reason="this JAX has no references")
def test_references_and_effects():
    def fun(x):
        ref = jax.new_ref(x)
        ref[0] = 1.0
        return ref[...]

    jaxpr = internals.opened(jax.make_jaxpr(fun)(X))
    refs = [var for eqn in jaxpr.eqns for var in eqn.outvars if internals.is_reference(var.aval)]
    assert refs and restoring.reference_type(refs[0].aval.inner_aval, refs[0].aval.memory_space) == refs[0].aval
    effects = [effect for eqn in jaxpr.eqns for effect in eqn.effects]
    for effect in effects:
        name, var, axis = keeping.effect_row(effect, {refs[0]: 0})
        assert type(restoring.effect(name, refs[0], axis)) is type(effect) and var in (0, None)
    assert effects
    tree = jaxpr.eqns[1].params["tree"]
    assert kinds.node_name(kinds.nodes()["NDIndexer"]) == "NDIndexer" and "NDIndexer" in str(tree)


def test_types():
    aval = internals.type_of(jax.random.key(0))
    assert internals.is_key_type(aval.dtype) and restoring.key_type("fry" if "fry" in restoring.key_impls() else
                                                                     "threefry2x32") == aval.dtype  # fmt: skip
    assert restoring.array_type((2,), np.dtype("int8"), False, {}) == jax.core.ShapedArray((2,), np.dtype("int8"))
    assert restoring.variable(aval).aval == aval
    assert keeping.is_extended(aval.dtype)


def test_shardings():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    for value in (mesh, jax.sharding.PartitionSpec("x", None), jax.sharding.SingleDeviceSharding(jax.devices()[0])):
        kind, parts = keeping.sharding_parts(value)
        assert restoring.sharding(kind, parts) == value


@pytest.mark.parametrize("policy", [
    jax.checkpoint_policies.dots_saveable, jax.checkpoint_policies.save_only_these_names("a", "b"),
])  # fmt: skip
def test_policies_of_checkpoint(policy):
    name, args = keeping.policy_parts(policy)
    assert keeping.policy_parts(restoring.policy(name, args)) == (name, args)


def test_typed_numbers():
    (eqn,) = internals.opened(jax.make_jaxpr(lambda x: x * np.float32(2))(X)).eqns
    number = eqn.invars[1].val
    plain = keeping.typed_number(number)
    if plain is not None:
        assert restoring.typed_number(plain, number.dtype) == number == 2


def test_pytrees_are_made_of_their_nodes():
    tree = jax.tree.structure((1, [2]))
    kind, aux = tree.node_data()
    assert restoring.tree((kind, aux), tree.children()) == tree
