"""Values as source, and calls whose options may be left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxshrink.inside.capture.constants import Constants
from jaxshrink.inside.publicnames import PublicNames
from jaxshrink.jaxprs import internals, keeping

_public = PublicNames(lambda module: False)

VALUES = Constants("exact", _public.of)
"""Writes options: types, dimension numbers, meshes, arrays."""


class Call(NamedTuple):
    """A function and its operands, as far as they go; options by name, which may all be left out."""

    head: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        return f"{self.head}{''.join(f', {name}={value}' for name, value in self.options)})"


def text(value: Any) -> str:
    """An option as source. Raises Unwritable."""
    policy = keeping.policy_parts(value) if callable(value) else None
    if policy is not None:
        name, arguments = policy
        args, options = arguments or ([], {})
        given = [*map(text, args), *(f"{key}={text(one)}" for key, one in options.items())]
        return f"jax.checkpoint_policies.{name}" + ("" if arguments is None else f"({', '.join(given)})")
    return str(VALUES.of_part(_plain(value))).replace("jax.lax.", "lax.").replace("jax.numpy.", "jnp.")


def _plain(value: Any) -> Any:
    """The same with Python's integers for NumPy's, and None for shardings on no devices."""
    if isinstance(value, np.integer):
        return int(value)
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return None if internals.is_no_sharding(value) else value
