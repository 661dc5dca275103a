"""Functions without their derivative rules."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@jax.custom_vjp\ndef f(x): return x\nf.defvjp(forward, backward)\nf(1)", "def f(x): return x\nf(1)"),
        (
            "@partial(custom_jvp, nondiff_argnums=1)\ndef f(x, n): return x\n"
            "@f.defjvp\ndef rule(n, p, t): return p, t\n"
            "f(1, 2)",
            "def f(x, n): return x\nf(1, 2)",
        ),
        ("@jax.jit\ndef f(x): return x\nf(1)", None),
    ],
)
def test_without_rules(before: str, after: str | None) -> None:
    assert edits_of("without-rules", before) == ([] if after is None else [written(after)])
