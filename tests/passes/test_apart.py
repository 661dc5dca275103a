"""Static and non-differentiable parameters."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written

JVP = """
@partial(jax.custom_jvp, nondiff_argnums=(1,))
def f(x, n):
    return g(x, n)
"""

VJP = """
@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def f(n, x):
    return g(n, x)
f.defvjp(lambda n, x: (f(n, x), x), lambda n, res, ct: (h(n, res, ct),))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            JVP
            + "@f.defjvp\ndef rule(n, primals, tangents):\n    return h(n, primals, tangents)\n"
            + "jax.grad(lambda x: f(x, 3))(a)",
            "@jax.custom_jvp\ndef f(x):\n    return g(x, 1.0)\n@f.defjvp\ndef rule(primals, tangents):\n"
            "    return h(1.0, primals, tangents)\njax.grad(lambda x: f(x))(a)",
        ),
        (
            VJP,
            "@jax.custom_vjp\ndef f(x):\n    return g(1.0, x)\n"
            "f.defvjp(lambda x: (f(x), x), lambda res, ct: (h(1.0, res, ct),))",
        ),
        (
            "@jax.jit(static_argnames=('k',), donate_argnums=0)\ndef f(x, k): return g(x)\nf(a, k=b)",
            "@jax.jit(donate_argnums=0)\ndef f(x): return g(x)\nf(a)",
        ),
    ],
)
def test_parameters_apart(before: str, after: str) -> None:
    assert edits_of("parameters-apart", before) == [written(after)]


def test_a_function_that_is_passed_on_keeps_them() -> None:
    assert edits_of("parameters-apart", JVP + "jax.grad(f)(a, 1)") == []


def test_parameters_with_rules() -> None:
    before = """
@jax.custom_vjp
def f(x, n):
    return g(x, n)
def forward(x, n):
    return f(x, n), x
f.defvjp(forward, lambda res, ct: (h(res, ct), None))
k(lambda x: f(x, 3))
"""
    after = """
@jax.custom_vjp
def f(x):
    return g(x, 1.0)
def forward(x):
    return f(x), x
f.defvjp(forward, lambda res, ct: (h(res, ct),))
k(lambda x: f(x))
"""
    assert written(after) in edits_of("parameters-with-rules", before)


def test_a_function_that_gets_its_rules_by_another_name() -> None:
    before = (
        "q = jax.custom_vjp(lambda x, y: x)\n"
        "q.defvjp(lambda x, y: (x, 0), lambda r, g: (g, g))\n"
        "jax.grad(q)(1.0, 2.0)"
    )
    after = "q = jax.custom_vjp(lambda x: x)\nq.defvjp(lambda x: (x, 0), lambda r, g: (g,))\njax.grad(q)(1.0)"
    assert written(after) in edits_of("parameters-with-rules", before)
