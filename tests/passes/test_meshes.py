"""Meshes of fewer axes."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "m = jax.sharding.Mesh(np.reshape(jax.devices(), (2, 4)), ('a', 'b'))\nf(m, P('b'))",
            "m = jax.make_mesh((1,), ('b',))\nf(m, P('b'))",
        ),
        (
            "m = jax.sharding.Mesh(np.reshape(jax.devices(), (2, 4)), ('a', 'b'))\nf(m, P('b'))",
            "m = jax.make_mesh((4,), ('b',))\nf(m, P('b'))",
        ),
        (
            "m = jax.make_mesh((2, 2), ('a', 'b'), axis_types=t)\n"
            "f(m, P('a', 'b'), P('b', 'a'), P(('a', 'b')), P(None, 'a'))",
            "m = jax.make_mesh((1,), ('b',))\nf(m, P(None, 'b'), P('b'), P(('b',)), P(None))",
        ),
        (
            "m = jax.make_mesh((2, 2), ('a', 'b'))\ng(lambda x: jax.lax.psum(jax.lax.psum(x, 'a'), ('a', 'b')))",
            "m = jax.make_mesh((1,), ('b',))\ng(lambda x: jax.lax.psum(x, ('b',)))",
        ),
        ("m = jax.sharding.Mesh(jax.devices(), 'd')\nf(m)", "m = jax.make_mesh((2,), ('d',))\nf(m)"),
        ("m = jax.make_mesh((2,), ('a',))\nf(m)", "m = jax.make_mesh((1,), ('a',))\nf(m)"),
    ],
)
def test_meshes(before: str, after: str) -> None:
    assert written("import jax\n" + after) in edits_of("meshes", "import jax\n" + before)


@pytest.mark.parametrize("source", ["m = jax.make_mesh((2,), ('a',))", "import jax\nm = jax.make_mesh(sizes, names)"])
def test_meshes_of_unknown_axes_stay(source: str) -> None:
    assert edits_of("meshes", source) == []


def test_varying() -> None:
    before = (
        "import jax\njax.jit(jax.shard_map(lambda x, y: f(x, y), mesh=m, in_specs=(P('m'), P()), out_specs=P()))(a, b)"
    )
    after = (
        "import jax\n"
        "jax.jit(jax.shard_map(lambda y: f(jax.lax.axis_index('m'), y), mesh=m, in_specs=(P(),), out_specs=P()))(b)"
    )
    assert edits_of("varying", before) == [written(after)]
