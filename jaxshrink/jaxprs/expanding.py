"""Equations of JAX's high-level primitives, which are objects of its own classes, as what they stand for; calls of
functions as what these do."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxshrink.jaxprs import internals, private, restoring


def is_high(eqn: Any) -> bool:
    """Whether an equation is that of an object, which can be expanded."""
    return eqn.primitive.name == "call_hi_primitive" and hasattr(eqn.params.get("_prim"), "expand")


def expansion(eqn: Any) -> internals.Opened:
    """The jaxpr that such an equation stands for; a call of a `custom_jvp` function, where the object says what its
    derivative is."""
    high = eqn.params["_prim"]
    tree = jax.tree_util.tree_structure(high.in_avals)

    def flat(*args: Any) -> list[Any]:
        return jax.tree_util.tree_leaves(high.expand(*jax.tree_util.tree_unflatten(tree, args)))

    flat.__name__ = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(high).__name__).lower().strip("_")
    fun = _with_rule(flat, high, tree) if _has_rule(high) else flat
    return expanded(internals.opened(internals.traced(fun, [atom.aval for atom in eqn.invars])))


def _has_rule(high: Any) -> bool:
    """Whether an object's derivative is another than that of what it stands for: where users have given functions for
    it, or the whole class. What is linear is its own derivative."""
    kind, base = type(high), private.found("hijax:HiPrim") or object
    own = {name for name in ("jvp", "lin", "transpose") if getattr(kind, name, None) is not getattr(base, name, None)}
    is_of_user = kind.__module__.partition(".")[0] != "jax" or any(map(callable, high.params.values()))
    return bool(own) and "transpose" not in own and is_of_user


def _with_rule(flat: Callable[..., list[Any]], high: Any, tree: Any) -> Callable[..., list[Any]]:
    fun: Any = jax.custom_jvp(flat)

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        given = [jax.tree_util.tree_unflatten(tree, part) for part in (primals, map(_symbolic, primals, tangents))]
        outs, dots = (jax.tree_util.tree_leaves(part, is_leaf=_is_zero) for part in high.jvp(*given))
        return outs, [restoring.zero_tangent(out) if _is_zero(dot) else dot
                      for out, dot in zip(outs, dots, strict=True)]  # fmt: skip

    fun.defjvp(rule)
    return fun  # type: ignore[no-any-return]


def _symbolic(primal: Any, tangent: Any) -> Any:
    """The tangent, as JAX's own rules take it: zeros of what has none are told by their type."""
    if tangent.dtype != jax.dtypes.float0:
        return tangent
    return private.ad_util.Zero(internals.type_of(primal).to_tangent_aval())


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, private.ad_util.Zero)


CALLS = ("call", "closed_call", "eval_jaxpr")
"""Primitives that call a function and say nothing else; the last is what JAX 0.12 calls the others."""


def expanded(parts: internals.Opened, calls: bool = False) -> internals.Opened:
    """A jaxpr, with such equations replaced; with `calls` those too that only call a function."""

    def is_replaced(eqn: Any) -> bool:
        return is_high(eqn) or (calls and eqn.primitive.name in CALLS)

    if not any(map(is_replaced, parts.eqns)):
        return parts
    constvars, consts, eqns = list(parts.constvars), list(parts.consts), list[Any]()
    known: dict[Any, Any] = {}

    def read(atom: Any) -> Any:
        return atom if isinstance(atom, internals.Literal) else known.get(atom, atom)

    for eqn in parts.eqns:
        operands = [read(atom) for atom in eqn.invars]
        if not is_replaced(eqn):
            eqns.append(eqn.replace(invars=operands))
            continue
        inner = expanded(expansion(eqn) if is_high(eqn) else internals.opened(eqn.params["call_jaxpr"]), calls)
        constvars += inner.constvars
        consts += inner.consts
        known.update(zip(inner.invars, operands, strict=True))
        eqns += [one.replace(invars=[read(atom) for atom in one.invars]) for one in inner.eqns]
        known.update(zip(eqn.outvars, map(read, inner.outvars), strict=True))
    return dataclasses.replace(
        parts, constvars=tuple(constvars), consts=tuple(consts), eqns=tuple(eqns),
        outvars=tuple(map(read, parts.outvars)),
    )  # fmt: skip
