"""Whether a jaxpr that may come from anywhere makes sense: JAX's own check of types, in linear time.

JAX checks a jaxpr as often as it is called. One that calls another twice, which calls another twice, and so on, would
keep it busy for ever. So each jaxpr is checked where it is called first; elsewhere its outline stands for it.
"""

from __future__ import annotations

from typing import Any

from jaxshrink.jaxprs import internals, restoring


def check(closed_jaxpr: Any) -> None:
    """Raise whatever JAX raises where operands, results or effects of an equation have other types than they say."""
    restoring.checked(_thinned(closed_jaxpr, set()))


def _thinned(jaxpr: Any, seen: set[int]) -> Any:
    """A jaxpr whose equations call each of those that are in it once, and outlines after that."""
    return restoring.with_equations(jaxpr, [_equation(eqn, seen) for eqn in internals.opened(jaxpr).eqns])


def _equation(eqn: Any, seen: set[int]) -> Any:
    if restoring.is_missing(eqn.primitive):
        return restoring.stand_in(eqn.outvars)
    return eqn.replace(params={name: _option(value, seen) for name, value in eqn.params.items()})


def _option(value: Any, seen: set[int]) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_option(one, seen) for one in value)
    if not internals.is_jaxpr(value):
        return value
    if id(value) in seen:
        return _outline(value)
    seen.add(id(value))
    return _thinned(value, seen)


def _outline(jaxpr: Any) -> Any:
    """A jaxpr of the same arguments, results and effects, with nothing between them."""
    parts = internals.opened(jaxpr)
    given = {*parts.constvars, *parts.invars}
    made = {atom: None for atom in parts.outvars if not isinstance(atom, internals.Literal) and atom not in given}
    return restoring.with_equations(jaxpr, [restoring.stand_in(list(made))] if made else [])
