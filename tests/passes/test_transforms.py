"""Transformations unwrapped."""

from __future__ import annotations

import pytest

from tests.passes.proposing import array, edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lax.scan(f, a, b)", "f(a, b)"),
        ("lax.scan(f, a, b)", "f(a, b[0])"),
        ("lax.scan(f, a)", "f(a, None)"),
        ("lax.while_loop(c, f, a)", "f(a)"),
        ("lax.while_loop(c, f, a)", "c(a)"),
        ("lax.fori_loop(0, n, f, a)", "f(0, a)"),
        ("lax.cond(p, f, g, a, b)", "g(a, b)"),
        ("lax.switch(i, [f, g], a)", "g(a)"),
        ("lax.map(f, a)", "f(a)"),
        ("jax.tree.map(f, a, b)", "f(a, b)"),
        ("jax.jvp(f, (a, b), (c, d))", "f(a, b)"),
        ("jax.vjp(f, a, b)", "f(a, b)"),
        ("jax.vjp(f, a)[1](b)", "jax.grad(f)(a)"),
        ("jax.pure_callback(f, s, a)", "f(a)"),
    ],
)
def test_unwrap(before: str, after: str) -> None:
    assert written(after) in edits_of("unwrap", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jax.vmap(f)(np.ones((2, 3)), np.ones((2, 3, 4)))", "f(np.ones(3), np.ones((3, 4)))"),
        ("jax.vmap(f, in_axes=0)(np.ones(2))", "f(np.ones(()))"),
    ],
)
def test_unmap_drops_an_axis(before: str, after: str) -> None:
    assert written(after) in edits_of("unmap", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jax.vmap(lambda x, y: f(x), in_axes=(0, None))(a, b)", "jax.vmap(lambda x: f(x), in_axes=(0,))(a)"),
        ("jax.jit(jax.vmap(lambda x, y: f(x), (0, 1)))(a, b)", "jax.jit(jax.vmap(lambda x: f(x), (0,)))(a)"),
        ("jax.shard_map(lambda x: 1, in_specs=P('m'))(a)", "jax.shard_map(lambda: 1, in_specs=())()"),
        ("def f(x, y): return g(y)\njax.vmap(f)(a, b)", "def f(y): return g(y)\njax.vmap(f)(b)"),
        ("def f(*, x, y): return g(y)\njax.jit(f)(x=a, y=b)", "def f(*, y): return g(y)\njax.jit(f)(y=b)"),
        ("g(lambda x, y, z, u, v: f(x), a)", "g(lambda x, y, z, u: f(x))"),
        ("jax.jvp(lambda x, y: f(y), a, b)", "jax.jvp(lambda y: f(y), b)"),
        ("j = jax.make_jaxpr(lambda x, y: f(x))(1, 0)\ng(j, 1, 0)", "j = jax.make_jaxpr(lambda x: f(x))(1)\ng(j, 1)"),
        (
            "jax.jit(lambda p, x, y: f(x, y), donate_argnums=(0, 2), static_argnames='y')(None, a, b)",
            "jax.jit(lambda x, y: f(x, y), donate_argnums=(1,), static_argnames='y')(a, b)",
        ),
        ("jax.jit(lambda p, x: f(x), donate_argnums=1)(None, a)", "jax.jit(lambda x: f(x), donate_argnums=0)(a)"),
        ("jax.grad(lambda p, x: f(x), 1)(None, a)", "jax.grad(lambda x: f(x), 0)(a)"),
        ("jax.jit(lambda x, n: f(x), static_argnames='n')(a, n=2)", "jax.jit(lambda x: f(x))(a)"),
        ("jax.jit(lambda x, y: f(x), in_shardings=(s, t))(a, b)", "jax.jit(lambda x: f(x), in_shardings=(s,))(a)"),
    ],
)
def test_arguments_go_with_what_is_said_of_them(before: str, after: str) -> None:
    assert written(after) in edits_of("arguments", before)


def test_an_argument_leaves_what_was_observed() -> None:
    before = "jax.vmap(lambda x, y: f(x, y))(a, b)"
    assert written("jax.vmap(lambda x: f(x, 1.0))(a)") in edits_of("arguments", before, {"y": array(3)})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jax.grad(lambda x: (f(x), x), has_aux=True)(a)", "jax.grad(lambda x: f(x))(a)"),
        ("def g(x):\n    return f(x), x\njax.grad(g, has_aux=True)(a)", "def g(x):\n    return f(x)\njax.grad(g)(a)"),
    ],
)
def test_without_aux(before: str, after: str) -> None:
    assert written(after) in edits_of("without-aux", before)


def test_plainer() -> None:
    assert edits_of("plainer", "jax.value_and_grad(f)(a)") == [written("jax.grad(f)(a)")]
    assert edits_of("plainer", "lax.scan(f, a, b)") == [written("lax.scan(f, a, length=1)")]
    single = "Mesh(jax.devices(), ('y',))"
    assert written(single) in edits_of("plainer", "Mesh(jax.devices().reshape((2, 2)), ('x', 'y'))")
