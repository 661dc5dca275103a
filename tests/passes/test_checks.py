"""Plainer checks."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert not np.flatnonzero(~np.isclose(a, b, rtol=1)).size, 'm'", "assert jnp.allclose(a, b), 'm'"),
        ("assert float(jnp.abs(a - b).max()) < 1e-3", "assert jnp.allclose(a, b)"),
        ("if (abs(a - b) > t).any(): raise ValueError('m')", "if not jnp.allclose(a, b): raise ValueError('m')"),
    ],
)
def test_checks(before: str, after: str) -> None:
    assert written(after) in edits_of("checks", before)


def test_other_conditions_are_left() -> None:
    assert edits_of("checks", "if a - b > 1: f()\nassert a") == []
