"""Variables: put in place, named alike, reached through one import."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a()\nf(x)", "f(a())"),
        ("x = a()\nf(x, x)", "f(a(), a())"),
        ("x, y = a(), b()\nf(x, y)", "y, = b(),\nf(a(), y)"),
        ("_, x = a()\nf(x)", "f(a()[1])"),
        ("x = y = a()\nf(y)", "y = a()\nf(y)"),
        ("def g():\n    x = a()\n    return x\ng()", "def g():\n    return a()\ng()"),
    ],
)
def test_inline(before: str, after: str) -> None:
    assert written(after) in edits_of("inline", before)


@pytest.mark.parametrize("source", ["x = 1\nx = 2\nf(x)", "x = 1\nx += 1\nf(x)", "x = a()"])
def test_what_is_assigned_twice_or_not_read_stays(source: str) -> None:
    assert edits_of("inline", source) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import jax\nfrom jax import lax\nlax.scan(jax)", "import jax\njax.lax.scan(jax)"),
        (
            "import jax.numpy as jnp\nfrom jax.numpy import ones\njnp.dot(ones(3))",
            "import jax.numpy as jnp\njnp.dot(jnp.ones(3))",
        ),
        ("from jax.experimental import pallas as pl\npl.f()", "from jax.experimental.pallas import f\nf()"),
        ("import a.b\nfrom a import b\nb.f(b)", "import a.b\na.b.f(a.b)"),
    ],
)
def test_aliases(before: str, after: str) -> None:
    assert written(after) in edits_of("aliases", before)


def test_what_no_import_of_jax_loads_keeps_its_own() -> None:
    before = "import jax\nfrom jax.experimental import pallas as pl\npl.f(pl, jax)"
    assert edits_of("aliases", before) == []


def test_merged() -> None:
    assert written("x = a()\nf(x, x)") in edits_of("merged", "x = a()\ny = b()\nf(x, y)")
