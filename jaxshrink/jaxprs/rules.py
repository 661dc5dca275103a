"""Derivative rules of `custom_jvp` and `custom_vjp` functions, as jaxprs.

A rule may ask which of its arguments are not differentiated (`symbolic_zeros=True`), and do something else then. As
what it does is linear, the rule for more arguments gives the same numbers with zeros for some; so only those for the
most arguments are taken: the one for all, or where this raises, those for as many as there are rules for.
"""

from __future__ import annotations

import dataclasses
import itertools
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from jaxshrink.jaxprs.internals import ClosedJaxpr, Literal, opened, traced
from jaxshrink.jaxprs.private import ad

_MOST = 6
"""Arguments of which it is tried which may be differentiated together: there are 2 ** _MOST ways."""


@dataclasses.dataclass(frozen=True)
class ForwardRule:
    """The rule of a `custom_jvp_call` where some arguments are differentiated: a closed jaxpr from all primals and the
    tangents of those (`given` are their places) to the results and their tangents; `zeros` tells which of these are
    zeros that it leaves out. `is_whole`: there is no other argument that has derivatives."""

    jaxpr: Any
    given: tuple[int, ...]
    zeros: tuple[bool, ...]
    is_whole: bool


def jvp_rules(params: Mapping[str, Any], avals: Sequence[Any]) -> list[ForwardRule]:
    """The rules of a `custom_jvp_call` (its arguments' types, closed-over ones aside), for the most arguments first.
    Raises what the rule for all of them raises, where there is none."""
    smooth = smooth_places(avals)
    if not params.get("symbolic_zeros"):
        return [_jvp_rule(params, avals, tuple(range(len(avals))), True)]
    found: list[ForwardRule] = []
    problem: Exception | None = None
    for given in _choices(smooth):
        if any(set(given) <= set(rule.given) for rule in found):
            continue
        try:
            found.append(_jvp_rule(params, avals, given, given == smooth))
        except Exception as error:  # the rule is the user's, and may refuse in any way
            problem = problem or error
    if not found and problem is not None:
        raise problem
    return found


def smooth_places(avals: Sequence[Any]) -> tuple[int, ...]:
    """Which arguments have derivatives."""
    return tuple(i for i, aval in enumerate(avals) if jax.numpy.issubdtype(aval.dtype, jax.numpy.inexact))


def _choices(places: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Some of several places, the most first."""
    sizes = range(len(places), -1, -1) if len(places) <= _MOST else (len(places), 1)
    return itertools.chain.from_iterable(itertools.combinations(places, size) for size in sizes if size or not places)


def _jvp_rule(params: Mapping[str, Any], avals: Sequence[Any], given: tuple[int, ...], is_whole: bool) -> ForwardRule:
    thunk = params.get("jvp_jaxpr_fun") or params["jvp_jaxpr_thunk"]
    zeros = [i not in given for i in range(len(avals))]
    jaxpr, consts, out_zeros = _called(thunk, zeros)
    _check_alive(consts)
    return ForwardRule(ClosedJaxpr(jaxpr, list(consts)), given, tuple(out_zeros), is_whole)


@dataclasses.dataclass(frozen=True)
class ReverseRule:
    """The rules of a `custom_vjp_call` as closed jaxprs.

    `forward` gives the residuals, then the results. `forwarded` has for each residual that `backward` takes the index
    of the argument that it is, or None for the next of those that `forward` gives. `backward` takes residuals and
    cotangents, and gives the cotangents of the arguments; `zeros` tells which of them are zeros that it leaves out.
    They are for the case that the arguments at the places `given` are differentiated; `is_whole`: there is no other
    that has derivatives.
    """

    forward: Any
    backward: Any
    forwarded: tuple[int | None, ...]
    zeros: tuple[bool, ...]
    given: tuple[int, ...]
    is_whole: bool


def vjp_rule(params: Mapping[str, Any], avals: Sequence[Any]) -> ReverseRule:
    """The rules of a `custom_vjp_call` (its arguments' types, closed-over ones aside), for the most arguments that they
    take. Raises what they raise for all of them, where they take none."""
    if not params.get("symbolic_zeros"):
        every = tuple(range(len(avals)))
        return _vjp_rule(params, avals, _forward(params["fwd_jaxpr_thunk"], len(avals)), every, True)
    smooth, key, thunk = smooth_places(avals), params["out_trees"], params["fwd_jaxpr_thunk"]
    problem: Exception | None = None
    for given in [_taken[key]] if key in _taken else _choices(smooth):
        try:
            forward = _called(thunk, [i in given for i in range(len(avals))])
            found = _vjp_rule(params, avals, forward, given, given == smooth)
            _taken[key] = given
            return found
        except Exception as error:  # the rules are the user's, and may refuse in any way
            problem = problem or error
    assert problem is not None
    raise problem


_taken: weakref.WeakKeyDictionary[Any, tuple[int, ...]] = weakref.WeakKeyDictionary()
"""What a forward rule takes: JAX cannot tell its residuals any more after a trace of it has failed."""


def _vjp_rule(
    params: Mapping[str, Any], avals: Sequence[Any], traced_forward: Any, places: tuple[int, ...], is_whole: bool
) -> ReverseRule:
    jaxpr, consts = traced_forward
    _check_alive(consts)
    forward = ClosedJaxpr(jaxpr, list(consts))
    trees = params["out_trees"]()
    leaves, closed_over = trees[1].num_leaves, int(params.get("num_consts", 0))
    indices = list(trees[2]) if len(trees) > 2 else [None] * leaves
    forwarded = [None if index is None else index - closed_over for index in indices]
    own = leaves - sum(index is not None for index in forwarded)
    outs = [var.aval for var in opened(forward).outvars]
    rest = iter(outs[:own])
    residuals = [next(rest) if index is None else avals[index] for index in forwarded]
    cotangents = [aval.to_tangent_aval() if hasattr(aval, "to_tangent_aval") else aval.at_least_vspace()
                  for aval in outs[own:]]  # fmt: skip
    zeros: list[bool] = []

    def backward(*args: Any) -> list[Any]:
        bwd = params["bwd"]
        given = bwd.call_wrapped(*args) if hasattr(bwd, "call_wrapped") else bwd(*args)
        if len(given) == 2 and isinstance(given[0], (list, tuple)):
            given = given[0]  # JAX 0.12: and what is logged
        zeros[:] = [type(one).__name__ == "Zero" for one in given]
        return [one for one, is_zero in zip(given, zeros, strict=True) if not is_zero]

    literals = _literals(forward, forwarded)

    def with_literals(*args: Any) -> list[Any]:
        return backward(*(args[i] if value is None else value for i, value in enumerate(literals)),
                        *args[len(literals) :])  # fmt: skip

    made = traced(with_literals, [*residuals, *cotangents])
    _check_alive(opened(made).consts)
    return ReverseRule(forward, made, tuple(forwarded), tuple(zeros), places, is_whole)


def _literals(forward: Any, forwarded: Sequence[int | None]) -> list[Any]:
    """For each residual its value, where it is the same whatever the arguments are: a rule may branch on such; None
    for others."""
    outs = iter(opened(forward).outvars)
    own = [None if index is not None else next(outs) for index in forwarded]
    return [atom.val if isinstance(atom, Literal) else None for atom in own]


def _forward(thunk: Any, count: int) -> Any:
    """The forward rule for arguments that are all differentiated, but for the first ones if it will not have it: JAX
    makes arguments of what a function closes over where it evaluates a jaxpr."""
    for closed_over in range(count + 1):
        flags = [False] * closed_over + [True] * (count - closed_over)
        try:
            return _called(thunk, flags)
        except ad.CustomVJPException:
            if closed_over == count:
                raise
    raise AssertionError


def _called(thunk: Any, flags: Sequence[bool]) -> Any:
    return thunk.call_wrapped(*flags) if hasattr(thunk, "call_wrapped") else thunk(*flags)


def _check_alive(consts: Sequence[Any]) -> None:
    if any(isinstance(value, jax.core.Tracer) for value in consts):
        raise jax.errors.UnexpectedTracerError(
            "the rule closes over a value of the function around it, which has been traced already"
        )
