"""Values as source, and calls whose options may be left out."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxshrink.inside.capture.constants import Constants
from jaxshrink.inside.publicnames import PublicNames

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
    return str(VALUES.of_part(value)).replace("jax.lax.", "lax.").replace("jax.numpy.", "jnp.")
