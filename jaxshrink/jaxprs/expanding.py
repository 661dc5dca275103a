"""Equations of JAX's high-level primitives, which are objects of its own classes, as what they stand for."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from jaxshrink.jaxprs import internals


def is_high(eqn: Any) -> bool:
    """Whether an equation is that of an object, which can be expanded."""
    return eqn.primitive.name == "call_hi_primitive" and hasattr(eqn.params.get("_prim"), "expand")


def expansion(eqn: Any) -> internals.Opened:
    """The jaxpr that such an equation stands for."""
    high = eqn.params["_prim"]
    tree = jax.tree_util.tree_structure(high.in_avals)

    def flat(*args: Any) -> list[Any]:
        return jax.tree_util.tree_leaves(high.expand(*jax.tree_util.tree_unflatten(tree, args)))

    return expanded(internals.opened(internals.traced(flat, [atom.aval for atom in eqn.invars])))


def expanded(parts: internals.Opened) -> internals.Opened:
    """A jaxpr, with such equations replaced."""
    if not any(map(is_high, parts.eqns)):
        return parts
    constvars, consts, eqns = list(parts.constvars), list(parts.consts), list[Any]()
    known: dict[Any, Any] = {}

    def read(atom: Any) -> Any:
        return atom if isinstance(atom, internals.Literal) else known.get(atom, atom)

    for eqn in parts.eqns:
        operands = [read(atom) for atom in eqn.invars]
        if not is_high(eqn):
            eqns.append(eqn.replace(invars=operands))
            continue
        inner = expansion(eqn)
        constvars += inner.constvars
        consts += inner.consts
        known.update(zip(inner.invars, operands, strict=True))
        eqns += [one.replace(invars=[read(atom) for atom in one.invars]) for one in inner.eqns]
        known.update(zip(eqn.outvars, map(read, inner.outvars), strict=True))
    return dataclasses.replace(
        parts, constvars=tuple(constvars), consts=tuple(consts), eqns=tuple(eqns),
        outvars=tuple(map(read, parts.outvars)),
    )  # fmt: skip
