"""Smaller numbers and strings."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f((48, 3))\ng(48)", "f((1, 3))\ng(1)"),
        ("f((48, 3))\ng(48)", "f((24, 3))\ng(24)"),
        ("f((48, 3))\ng(48)", "f((48, 2))\ng(48)"),
    ],
)
def test_dimensions_change_at_all_places(before: str, after: str) -> None:
    assert written(after) in edits_of("dimensions", before)


def test_collapsed() -> None:
    assert edits_of("collapsed", "f(48, 3, 2, 1, True)") == [
        written("f(1, 1, 1, 1, True)"),
        written("f(2, 2, 2, 1, True)"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(7)", "f(0)"),
        ("f(7)", "f(6)"),
        ("f(-1)", "f(1)"),
        ("f(0.3)", "f(1.0)"),
        ("f(2j)", "f(1.0)"),
        ("f(True)", "f(False)"),
        ("np.ones(7)", "np.ones(3)"),
    ],
)
def test_numbers(before: str, after: str) -> None:
    assert written(after) in edits_of("numbers", before)


def test_sizes_do_not_become_zero() -> None:
    assert written("np.ones((0, 2))") not in edits_of("numbers", "np.ones((7, 2))")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f('kernel')\ng('kernel')", "f('k')\ng('k')"),
        ("f('kernel')", "f('')"),
        ("f('kernel')", "f('ker')"),
        ("f(b'kernel')", "f(b'')"),
        ("d['kernel'], {'kernel': 1}", "d['k'], {'k': 1}"),
        ("f(f'{a} text')", "f('')"),
    ],
)
def test_strings(before: str, after: str) -> None:
    assert written(after) in edits_of("strings", before)


def test_keys_do_not_become_empty() -> None:
    assert written("d['']") not in edits_of("strings", "d['kernel']")


def test_what_is_square_stays_so() -> None:
    texts = edits_of("numbers", "import jax.numpy as jnp\nf(jnp.ones((2, 2, 3)), 2)")
    assert written("import jax.numpy as jnp\nf(jnp.ones((1, 1, 3)), 2)") in texts
    assert written("import jax.numpy as jnp\nf(jnp.ones((2, 2, 1)), 2)") in texts
    assert written("import jax.numpy as jnp\nf(jnp.ones((1, 2, 3)), 2)") not in texts


def test_names_of_axes_keep_a_letter() -> None:
    texts = edits_of("strings", "f(make_mesh((1,), ('model',)), P('model'), vmap(g, axis_name='axis'))")
    assert written("f(make_mesh((1,), ('m',)), P('m'), vmap(g, axis_name='axis'))") in texts
    assert not any("''" in text for text in texts)
