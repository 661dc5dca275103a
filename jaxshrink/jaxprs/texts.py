"""Values as source, and calls whose options may be left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from jaxshrink.inside.capture.constants import Constants, Unwritable
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
    if isinstance(value, np.dtype) and value == jax.dtypes.float0:
        return "jax.dtypes.float0"
    if isinstance(value, jax.tree_util.PyTreeDef):
        return f"jax.tree.structure({_tree(value)})"
    if _MEMORY is not None and isinstance(value, _MEMORY):
        return f"jax.memory.Space.{value.name}"
    return str(VALUES.of_part(_plain(value))).replace("jax.lax.", "lax.").replace("jax.numpy.", "jnp.")


_MEMORY: Any = getattr(getattr(jax, "memory", None), "Space", None)
"""JAX's memories, in releases that tell them: in a namespace, which is no module."""


def _tree(tree: Any) -> str:
    """A pytree of this structure, with zeros for leaves. Raises Unwritable."""
    data = tree.node_data()
    if data is None:
        return "0" if tree.num_leaves else "None"
    kind, aux = data
    parts = [_tree(child) for child in tree.children()]
    if kind is dict:
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(aux, parts, strict=True)) + "}"
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is tuple:
        return f"({''.join(f'{part}, ' for part in parts)})"
    raise Unwritable(f"a pytree of {kind.__module__}.{kind.__qualname__}")


def _plain(value: Any) -> Any:
    """The same with Python's integers for NumPy's, and None for shardings on no devices."""
    if isinstance(value, np.integer):
        return int(value)
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(_plain, value))
    return None if internals.is_no_sharding(value) else value
