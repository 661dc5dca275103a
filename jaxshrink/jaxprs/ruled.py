"""Functions with derivative rules, made again of what `dumps` has kept of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxshrink.jaxprs import internals, restoring
from jaxshrink.jaxprs.checks import of_kind, size

Row = dict[str, Any]
Find = Callable[[Any], Any]
"""Gives the closed jaxpr of a number."""


def function(row: Row, outs: Sequence[Any], find: Find) -> Callable[..., Any]:
    """A function with the derivative rules of a row, whose results have these types and say nothing."""

    def fun(*args: Any) -> list[Any]:
        return [restoring.filled(aval) for aval in outs]

    fun.__name__ = of_kind(str, row["name"]) or "f"
    if row["reverse"] is True:
        made = jax.custom_vjp(fun)
        made.defvjp(*_reverse_rules(row, find), symbolic_zeros=row.get("whole") is False)
        return made
    rules = [of_kind(dict, one) for one in of_kind(list, row.get("rules", []))]
    is_whole = any(of_kind(bool, one["whole"]) for one in rules)
    forward: Any = jax.custom_jvp(fun)
    forward.defjvp(_forward_rule(row, rules, find), symbolic_zeros=bool(rules) and not is_whole)
    return forward  # type: ignore[no-any-return]


def _forward_rule(row: Row, rules: Sequence[Row], find: Find) -> Callable[..., Any]:
    def rule(primals: Any, tangents: Any) -> Any:
        chosen = next((one for one in rules if _takes(one, primals, tangents)), None)
        jaxpr = _jaxpr(row if chosen is None else chosen, "rule", find)
        assert chosen is not None
        zeros = [of_kind(bool, one) for one in of_kind(list, chosen["zeros"])]
        given = [_filled(tangents[size(i)]) for i in of_kind(list, chosen["given"])]
        results = internals.function(jaxpr)(*primals, *given)
        outs, rest = results[: len(zeros)], iter(results[len(zeros) :])
        return outs, [restoring.zero_tangent(out) if is_zero else next(rest)
                      for out, is_zero in zip(outs, zeros, strict=True)]  # fmt: skip

    return rule


def _takes(rule: Row, primals: Sequence[Any], tangents: Sequence[Any]) -> bool:
    """Whether all arguments that are differentiated are among those that a rule is for."""
    given = of_kind(list, rule["given"])
    return rule["whole"] is True or all(i in given or _is_zero(one) for i, one in enumerate(tangents))


def _reverse_rules(row: Row, find: Find) -> tuple[Callable[..., Any], Callable[..., Any]]:
    zeros = [of_kind(bool, one) for one in of_kind(list, row.get("zeros", []))]
    forwarded = [one if one is None else size(one) for one in of_kind(list, row.get("forwarded", []))]
    given = [size(one) for one in of_kind(list, row.get("given", []))]
    own = sum(index is None for index in forwarded)

    def forward(*args: Any) -> Any:
        if row.get("whole") is False:
            if any(one.perturbed for i, one in enumerate(args) if i not in given):
                raise NotImplementedError("the derivative rule was kept for some of the arguments alone")
            args = tuple(one.value for one in args)
        results = internals.function(_jaxpr(row, "forward", find))(*args)
        rest = iter(results[:own])
        return results[own:], [next(rest) if index is None else args[index] for index in forwarded]

    def backward(residuals: Any, cotangents: Any) -> Any:
        found = internals.function(_jaxpr(row, "backward", find))(*residuals, *map(_filled, cotangents))
        results = iter(found)
        return tuple(None if is_zero else next(results) for is_zero in zeros)

    return forward, backward


def _jaxpr(row: Row, name: str, find: Find) -> Any:
    if name not in row:
        what = row.get("error", "it was kept for some of the arguments alone")
        raise NotImplementedError(f"the derivative rule was not kept: {what}")
    return find(row[name])


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, jax.custom_derivatives.SymbolicZero)


def _filled(tangent: Any) -> Any:
    return restoring.zeros(tangent) if _is_zero(tangent) else tangent
