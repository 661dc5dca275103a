"""Contexts in which equations stand: named scopes, and the mesh that JAX takes axes of."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax

from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.texts import text

if TYPE_CHECKING:
    from jaxshrink.jaxprs.writer import Body, Writer

_OF_JAX = re.compile(r"[\w., ]*->[\w. ]*|[\w. ]*(,[\w. ]*)+|rematted_computation|checkpoint")
"""Scopes that JAX opens by itself: those of `jnp.einsum` and `jax.checkpoint`."""


def around(body: Body, eqn: Any) -> tuple[str, ...]:
    """The contexts of an equation, as expressions, outermost first; the mesh that is known already needs none.

    Scopes that JAX opens by itself are left to it.
    """
    mesh = internals.context_mesh(eqn)
    is_known = mesh is None or mesh == body.writer.mesh
    found = [] if is_known else [f"jax.sharding.use_abstract_mesh({named_mesh(body, mesh)})"]
    scopes = [scope for scope in internals.scopes(eqn) if not _OF_JAX.fullmatch(scope)]
    return (*found, *(f"jax.named_scope({scope!r})" for scope in scopes))


def named_mesh(body: Body, mesh: Any) -> str:
    """The name of a mesh, which the module defines. Raises Unwritable."""

    def define(module: Body) -> str:
        name = module.writer.new("mesh")
        module.line(f"{name} = {text(mesh)}")
        return name

    return body.once((mesh, "mesh"), define, mesh)


def sharding(body: Body, value: Any) -> str:
    """A sharding, with its mesh by name. Raises Unwritable."""
    written = text(value)
    if not isinstance(value, jax.sharding.NamedSharding):
        return written
    return written.replace(text(value.mesh), named_mesh(body, value.mesh), 1)


@contextlib.contextmanager
def known_mesh(writer: Writer, mesh: Any) -> Iterator[None]:
    """While functions are written that are called under a mesh; None where nothing changes."""
    before = writer.mesh
    writer.mesh = before if mesh is None else mesh
    try:
        yield
    finally:
        writer.mesh = before


def inner_mesh(jaxpr: Any) -> Any:
    """The mesh under which the equations of a jaxpr stand; None where there is none."""
    return next(filter(None, map(internals.context_mesh, internals.opened(jaxpr).eqns)), None)
