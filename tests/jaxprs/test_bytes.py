"""jaxprs as bytes: what is kept, what cannot be, and what is not a jaxpr."""

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxshrink.jaxprs import CorruptJaxpr, Inexpressible, dumps, equivalent, loads, wire
from jaxshrink.jaxprs.internals import frame, names, opened, scopes
from tests.jaxprs.comparing import assert_same_numbers, flat
from tests.jaxprs.programs import PROGRAMS, closing_rule, floats


def bytes_of(name):
    fun, args = PROGRAMS[name]
    return dumps(jax.make_jaxpr(fun)(*args))


def test_names_and_places_are_kept():
    def loss(params, x):
        with jax.named_scope("layer"):
            return {"loss": jnp.sin(params["w"]) * x}

    jaxpr = jax.make_jaxpr(loss)({"w": 1.0}, 2.0)
    kept = loads(dumps(jaxpr))
    assert names(kept) == names(jaxpr) == (["params['w']", "x"], ["result['loss']"])
    first = opened(kept).eqns[0]
    assert scopes(first) == ("layer",)
    file, line, function = frame(first)
    assert (file, function.rpartition(".")[2]) == (__file__, "loss") and line == loss.__code__.co_firstlineno + 2


def test_bytes_are_the_same_each_time():
    assert bytes_of("optimiser") == bytes_of("optimiser")


def test_another_process_reads_them(tmp_path):
    chosen = ("attention", "own_rules", "dropout", "rnn", "table_lookup", "quantised")
    for name in chosen:
        (tmp_path / f"{name}.jaxpr").write_bytes(bytes_of(name))
    script = Path(__file__).with_name("evaluate.py")
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, script, tmp_path, *chosen], check=True, cwd=root, env={"PYTHONPATH": str(root)})
    for name in chosen:
        fun, args = PROGRAMS[name]
        made = np.load(tmp_path / f"{name}.npz")
        wanted = flat(jax.make_jaxpr(fun)(*args))(*jax.tree.leaves(args))
        assert_same_numbers([made[key] for key in made.files], wanted)


def test_a_callback_cannot_be_kept():
    jaxpr = jax.make_jaxpr(lambda x: jax.pure_callback(np.sin, x, x) + jnp.cos(x))(1.0)
    with pytest.raises(Inexpressible, match=r"pure_callback, its option callback, cannot be kept"):
        dumps(jaxpr)
    kept = loads(dumps(jaxpr, allow_missing=True))
    assert [eqn.primitive.name for eqn in opened(kept).eqns][:2] == ["pure_callback", "cos"]
    with pytest.raises(NotImplementedError, match="pure_callback was not kept"):
        flat(kept)(1.0)


def test_a_primitive_of_no_module_cannot_be_kept():
    primitive = jax.extend.core.Primitive("mine")
    primitive.def_abstract_eval(lambda x: x)
    with pytest.raises(Inexpressible, match="the primitive mine cannot be kept"):
        dumps(jax.make_jaxpr(primitive.bind)(1.0))


def test_a_rule_that_cannot_be_traced_any_more_cannot_be_kept():
    jaxpr = jax.make_jaxpr(closing_rule)(np.float32(2), floats(3))
    with pytest.raises(Inexpressible, match=r"rule of .* cannot be kept"):
        dumps(jaxpr)
    kept = loads(dumps(jaxpr, allow_missing=True))
    assert_same_numbers(flat(kept)(2.0, jnp.ones(3)), [jnp.full(3, 6.0)])


def rewritten(data, change):
    """The bytes with a document that was changed, and a checksum that fits."""
    document, arrays = wire.unpacked(data)
    change(document)
    return wire.packed(document, bytes(arrays))


def test_a_module_is_never_imported_for_a_primitive():
    def change(document):
        document["primitives"][0][0] = "antigravity.mul_p"

    with pytest.raises(Inexpressible, match=r"no module has the primitive antigravity.mul_p"):
        loads(rewritten(bytes_of("mlp"), change))
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("name", ["own_rules", "conv_net", "dropout"])
def test_truncated_and_altered_bytes_are_found_out(name):
    data, chance = bytes_of(name), random.Random(0)
    for length in [*range(80), *chance.choices(range(len(data)), k=100)]:
        with pytest.raises(CorruptJaxpr):
            loads(data[:length])
    for place in chance.choices(range(len(data)), k=300):
        altered = bytearray(data)
        altered[place] ^= 1 << chance.randrange(8)
        with pytest.raises(CorruptJaxpr):
            loads(bytes(altered))
    with pytest.raises(CorruptJaxpr):
        loads(data + b"more")


JUNK = [None, -1, 10**30, "§", [], {}, True, 1.5, ["float", "x"], ["data", "os", []], ["jaxpr", 0], [["tuple", []]]]


def places(node, path=()):
    yield path
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


@pytest.mark.parametrize("name", ["own_rules", "conv_net", "dropout"])
def test_documents_that_make_no_sense_are_found_out(name):
    """With a checksum that fits: it is the content that is looked at. What is still a jaxpr may be read."""
    data, chance = bytes_of(name), random.Random(1)
    every = list(places(wire.unpacked(data)[0]))[1:]
    refused = 0
    for path in chance.choices(every, k=400):

        def change(document, path=path):
            for key in path[:-1]:
                document = document[key]
            document[path[-1]] = chance.choice(JUNK)

        try:
            loads(rewritten(data, change))
        except (CorruptJaxpr, Inexpressible):
            refused += 1
    assert refused > 200


def test_types_that_do_not_fit_are_found_out():
    def change(document):
        document["jaxprs"][-1]["args"][0] = document["jaxprs"][-1]["args"][1]

    data = dumps(jax.make_jaxpr(lambda x, i: jnp.sin(x) + i)(floats(3), 1))
    with pytest.raises(CorruptJaxpr, match="makes no sense"):
        loads(rewritten(data, change))


def test_what_calls_a_jaxpr_twice_that_calls_another_twice_and_so_on():
    """Each is looked at once: to look wherever it is called would take for ever."""
    fun = jnp.sin
    for _ in range(64):
        fun = jax.jit(lambda x, fun=fun: fun(x) + fun(x))
    jaxpr = jax.make_jaxpr(fun)(1.0)
    assert equivalent(loads(dumps(jaxpr)), jaxpr)


def test_a_stub_has_the_types_that_it_is_told_to_have():
    def fun(x):
        jax.debug.callback(print, x)
        return jax.pure_callback(np.sin, x, x) * 2

    stub = loads(dumps(jax.make_jaxpr(fun)(floats(3)), allow_missing=True))
    assert [aval.shape for aval in stub.out_avals] == [(3,)]


def test_classes_of_one_name_are_told_apart():
    """Pallas has memory spaces of its own."""
    pytest.importorskip("jax.experimental.pallas")
    jaxpr = jax.make_jaxpr(jax.grad(lambda x: jnp.diag(x).sum()))(floats(3, 3))
    assert "memory_space" in str(jaxpr)
    assert equivalent(loads(dumps(jaxpr)), jaxpr)


def test_sizes_that_are_not_there_are_not_allocated():
    def change(document):
        document["arrays"][0][1] = [1 << 40]

    with pytest.raises(CorruptJaxpr, match="longer than the bytes"):
        loads(rewritten(bytes_of("table_lookup"), change))


def test_a_newer_version_is_told_apart():
    data = bytearray(bytes_of("mlp"))
    data[8] = 200
    with pytest.raises(CorruptJaxpr, match="version 200"):
        loads(bytes(data))


def test_the_document_is_plain_json():
    data = bytes_of("mlp")
    document, arrays = wire.unpacked(data)
    text = data[50 : len(data) - len(arrays)]
    assert json.loads(text) == document
    assert hashlib.sha256(data[50:]).digest() == data[18:50]


def test_loops_over_constants():
    def loop(x):
        return lax.scan(lambda carry, y: (carry + y * jnp.arange(3), carry.sum()), x, jnp.arange(4.0))

    jaxpr = jax.make_jaxpr(loop)(floats(3))
    assert equivalent(loads(dumps(jaxpr)), jaxpr)
