"""What compiled functions within a jaxpr close over, as constants of the jaxpr itself.

`jax.jit` keeps arrays that a function closes over inside; loops, branches and all other calls get them from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxshrink.jaxprs import internals, private, restoring

Variable = Callable[[Any, Any], Any]
"""The variable for a constant, which stands for another variable of its type further inside."""

_NEUTRAL = {"donated_invars": False, "in_shardings": private.found("sharding_impls:UNSPECIFIED"), "in_layouts": None}
"""Options of a call that say something of each argument, and what they say where there is nothing to say."""


def lifted(jaxpr: Any) -> Any:
    """A closed jaxpr, in which compiled functions close over nothing, however deep in one another, in loops and in
    branches; those in other transformations stay as they are. Each constant is there once."""
    parts = internals.opened(jaxpr)
    variables = {id(value): var for value, var in zip(parts.consts, parts.constvars, strict=True)}
    constvars, consts = list(parts.constvars), list(parts.consts)

    def variable(value: Any, like: Any) -> Any:
        if id(value) not in variables:
            variables[id(value)] = restoring.variable(like.aval)
            constvars.append(variables[id(value)])
            consts.append(value)
        return variables[id(value)]

    eqns = [_lifted(eqn, variable) for eqn in parts.eqns]
    if all(new is old for new, old in zip(eqns, parts.eqns, strict=True)):
        return jaxpr
    info = getattr(parts.jaxpr, "debug_info", None)
    made = internals.Jaxpr(constvars, parts.invars, parts.outvars, eqns, parts.jaxpr.effects, info)
    return internals.ClosedJaxpr(made, consts)


def _lifted(eqn: Any, variable: Variable) -> Any:
    rewrite = _REWRITES.get(eqn.primitive.name)
    if rewrite is None or any(hasattr(effect, "input_index") for effect in eqn.effects):
        return eqn  # effects tell their arguments by number
    return rewrite(eqn, variable)


def _taken(jaxprs: Sequence[Any], variable: Variable) -> tuple[list[Any], list[Any]]:
    """Functions that all take the constants of all of them first, and the variables of these."""
    inner = [lifted(jaxpr) for jaxpr in jaxprs]
    opened = [internals.opened(one) for one in inner]
    given = [(var, value) for parts in opened for var, value in zip(parts.constvars, parts.consts, strict=True)]
    made = []
    for one, parts in zip(inner, opened, strict=True):
        first = [var if var in parts.constvars else restoring.variable(var.aval) for var, _ in given]
        made.append(internals.closed(internals.hoisted(one, first)))
    return made, [variable(value, var) for var, value in given]


def _called(eqn: Any, variable: Variable) -> Any:
    (jaxpr,), operands = _taken([eqn.params["jaxpr"]], variable)
    more = {name: (neutral,) * len(operands) + tuple(eqn.params[name])
            for name, neutral in _NEUTRAL.items() if name in eqn.params}  # fmt: skip
    return _with(eqn, [*operands, *eqn.invars], operands, jaxpr=jaxpr, **more)


def _scanned(eqn: Any, variable: Variable) -> Any:
    (jaxpr,), operands = _taken([eqn.params["jaxpr"]], variable)
    consts, carry = internals.scan_counts(eqn.params, len(eqn.invars))
    invars = [*operands, *eqn.invars]
    counts = restoring.scan_params((consts + len(operands), carry), len(invars), len(eqn.outvars))
    if "linear" in eqn.params:
        counts["linear"] = (False,) * len(operands) + tuple(eqn.params["linear"])
    return _with(eqn, invars, operands, jaxpr=jaxpr, **counts)


def _repeated(eqn: Any, variable: Variable) -> Any:
    (test,), of_test = _taken([eqn.params["cond_jaxpr"]], variable)
    (body,), of_body = _taken([eqn.params["body_jaxpr"]], variable)
    count = eqn.params["cond_nconsts"]
    invars = [*of_test, *eqn.invars[:count], *of_body, *eqn.invars[count:]]
    counts = {"cond_nconsts": count + len(of_test), "body_nconsts": eqn.params["body_nconsts"] + len(of_body)}
    return _with(eqn, invars, [*of_test, *of_body], cond_jaxpr=test, body_jaxpr=body, **counts)


def _branched(eqn: Any, variable: Variable) -> Any:
    branches, operands = _taken(eqn.params["branches"], variable)
    return _with(eqn, [eqn.invars[0], *operands, *eqn.invars[1:]], operands, branches=tuple(branches))


def _with(eqn: Any, invars: Sequence[Any], added: Sequence[Any], **params: Any) -> Any:
    """An equation with arguments added, and what this changes; itself where there are none."""
    return eqn.replace(invars=list(invars), params={**eqn.params, **params}) if added else eqn


_REWRITES = {"jit": _called, "pjit": _called, "scan": _scanned, "while": _repeated, "cond": _branched}
"""By name of the primitive."""
