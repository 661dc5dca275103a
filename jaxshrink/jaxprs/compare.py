"""Whether two jaxprs are the same but for names.

Names of variables and functions, equations whose results nothing reads, and the order in which closed-over values are
passed to a loop say nothing about what is computed. The rest is put into a normal form of tuples: bodies of loops read
what they close over directly, custom derivative rules are jaxprs like others. Functions that close over nothing become
digests, each once, so that the cost does not grow with how often they are called.

Rules may call functions with rules of their own, and so on, for higher derivatives: these are looked at to the order
`ORDERS`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxshrink.jaxprs import internals, kinds, rules
from jaxshrink.jaxprs.expanding import expanded

ORDERS = 3
"""The highest order of derivatives whose rules are kept and compared, where a rule calls another function each time.

There may be no last one: the reverse rule of `odeint` calls `odeint` for a larger system, whose rule does so again.
"""

Normal = tuple[Any, ...]
Memo = dict[Any, tuple[Any, Normal]]

_UNTOLD = frozenset((
    "name", "debug_info", "name_and_src_info", "out_trees", "jvp_jaxpr_fun", "jvp_jaxpr_thunk", "fwd_jaxpr_thunk",
    "bwd", "num_consts", "num_carry", "ft_in", "ft_out", "cond_nconsts", "body_nconsts", "linear", "_split_transpose",
    "const_lengths", "resource_env", "ctx_mesh", "computation", "origin", "symbolic_zeros", "srcs",
))  # fmt: skip
"""Parameters that are names, or follow from the rest: `srcs` are where the operands of `device_put` are."""

_SHARED = ("scan", "while", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "custom_linear_solve")
"""Primitives whose first operands are what their functions close over."""


def equivalent(first: Any, second: Any) -> bool:
    """Whether two jaxprs are the same up to names, dead equations and the order of closed-over values."""
    return normal(first) == normal(second)


def normal(jaxpr: Any, memo: Memo | None = None) -> Normal:
    """The normal form of a jaxpr: tuples that can be hashed, equal where the jaxprs are equivalent.

    `memo` remembers the forms of jaxprs from one call to the next, and keeps them alive.
    """
    return _Scope({}, [0], (), ORDERS, {} if memo is None else memo).jaxpr(jaxpr)


def normal_equation(eqn: Any, memo: Memo | None = None) -> Normal:
    """The normal form of an equation, each of its operands a variable of its own; literals count by value."""
    scope = _Scope({}, [0], (), ORDERS, {} if memo is None else memo)
    atoms = [scope.atom(atom) if isinstance(atom, internals.Literal) else ("v", i) for i, atom in enumerate(eqn.invars)]
    types = tuple(type_of(atom.aval) for atom in eqn.invars)
    return types, scope.equation(eqn, atoms)


def key_of(eqn: Any, memo: Memo | None = None) -> Normal:
    """What tells a function with derivative rules of its own from another: what it computes, and whose rules."""
    jaxpr = eqn.params.get("call_jaxpr") or eqn.params.get("fun_jaxpr")
    rules = [eqn.params.get(name) for name in ("jvp_jaxpr_fun", "jvp_jaxpr_thunk", "fwd_jaxpr_thunk", "bwd")]
    infos = tuple(str(getattr(getattr(rule, "debug_info", None), "func_src_info", None)) for rule in rules)
    called = _Scope({}, [0], (), 0, {} if memo is None else memo).jaxpr(jaxpr)
    return (eqn.primitive.name, infos, called)


class _Scope:
    """The numbers of variables.

    `open` are the functions whose rules are being told, `orders` how many rules within rules are told from here on.
    """

    def __init__(
        self, known: dict[Any, Any], count: list[int], open_: tuple[Normal, ...], orders: int, memo: Memo
    ) -> None:
        self.known, self.count, self.open, self.orders, self.memo = known, count, open_, orders, memo

    def new(self, var: Any) -> Normal:
        self.count[0] += 1
        self.known[var] = ("v", self.count[0])
        return type_of(var.aval)

    def atom(self, atom: Any) -> Any:
        if isinstance(atom, internals.Literal):
            return ("c", type_of(atom.aval), _array(np.asarray(atom.val).astype(atom.aval.dtype)))
        return self.known[atom]

    def jaxpr(self, jaxpr: Any, given: Sequence[Any] = ()) -> Normal:
        """`given` are what the first arguments stand for."""
        if _reads_around(jaxpr, given):
            return self.body(jaxpr, given)
        key = (id(jaxpr), tuple(given), self.open, self.orders)
        if key not in self.memo:
            self.memo[key] = jaxpr, digest(self.body(jaxpr, given))
        return self.memo[key][1]

    def body(self, jaxpr: Any, given: Sequence[Any]) -> Normal:
        parts = expanded(internals.opened(jaxpr), calls=True)
        known, count = (dict(self.known), self.count) if _reads_around(jaxpr, given) else ({}, [0])
        inner = _Scope(known, count, self.open, self.orders, self.memo)
        for var, value in zip(parts.constvars, parts.consts, strict=True):
            inner.known[var] = ("c", type_of(var.aval), constant(value))
        for var, value in zip(parts.invars, given, strict=False):
            inner.known[var] = value
        args = tuple(map(inner.new, parts.invars[len(given) :]))
        body: list[Normal] = []
        for eqn in live(parts):
            if internals.is_identity(eqn):
                inner.known[eqn.outvars[0]] = inner.atom(eqn.invars[0])
            else:
                body.append(inner.equation(eqn))
        return args, tuple(body), tuple(map(inner.atom, parts.outvars))

    def equation(self, eqn: Any, operands: Sequence[Any] | None = None) -> Normal:
        atoms = list(operands) if operands is not None else [self.atom(atom) for atom in eqn.invars]
        params = dict(eqn.params)
        own = _SHARING[eqn.primitive.name](self, params, atoms) if eqn.primitive.name in _SHARED else ()
        shown = tuple((name, self.param(params[name])) for name in sorted(params) if _is_told(eqn, name))
        return str(eqn.primitive.name), shown, own, tuple(atoms), tuple(self.new(var) for var in eqn.outvars)

    def param(self, value: Any) -> Any:
        if value is None or internals.is_no_sharding(value):
            return None
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, float) and value != value:
            return "nan"
        if internals.is_scalar_type(value):
            return np.dtype(value)
        if internals.is_jaxpr(value):
            return self.jaxpr(value)
        if isinstance(value, Mapping):
            return tuple((str(key), self.param(value[key])) for key in sorted(value, key=str))
        if isinstance(value, (list, tuple)):
            return tuple(map(self.param, value))
        if isinstance(value, jax.core.AbstractValue):
            return type_of(value)
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return str(value) if isinstance(value, jax.ShapeDtypeStruct) else constant(value)
        if dataclasses.is_dataclass(value) and kinds.name_of(type(value)) is not None:
            fields = (field.name for field in dataclasses.fields(value) if field.name not in _UNTOLD)
            return type(value).__name__, tuple((name, self.param(getattr(value, name))) for name in fields)
        if callable(value) and hasattr(value, "__qualname__"):
            return f"{value.__module__}.{value.__qualname__}"
        if _is_told_by_identity(value):
            return repr(value)
        return tuple(sorted(map(repr, value))) if isinstance(value, (set, frozenset)) else value

    # -- what their functions close over

    def scan(self, params: dict[str, Any], atoms: list[Any]) -> Normal:
        consts, carry = internals.scan_counts(params, len(atoms))
        given = _taken(atoms, consts)
        return carry, self.jaxpr(params.pop("jaxpr"), given)

    def loop(self, params: dict[str, Any], atoms: list[Any]) -> Normal:
        test = _taken(atoms, params["cond_nconsts"])
        body = _taken(atoms, params["body_nconsts"])
        return self.jaxpr(params.pop("cond_jaxpr"), test), self.jaxpr(params.pop("body_jaxpr"), body)

    def forward_rule(self, params: dict[str, Any], atoms: list[Any]) -> Normal:
        def rule(scope: _Scope, avals: Sequence[Any], places: Sequence[int]) -> Normal:
            smooth = rules.smooth_places(avals)
            told = []
            for one in rules.jvp_rules(params, avals):
                given = [*(("primal", place) for place in places), *(("tangent", places[i]) for i in one.given)]
                taken = sorted(places[i] for i in one.given if i in smooth)
                told.append((taken, one.zeros, digest(scope.body(one.jaxpr, given))))
            return tuple(sorted(told))

        return self.ruled(params, atoms, rule)

    def reverse_rule(self, params: dict[str, Any], atoms: list[Any]) -> Normal:
        def rule(scope: _Scope, avals: Sequence[Any], places: Sequence[int]) -> Normal:
            found = rules.vjp_rule(params, avals)
            *called, outs = scope.body(found.forward, [("primal", place) for place in places])
            own = sum(index is None for index in found.forwarded)
            rest = iter(outs[:own])
            kept = [next(rest) if index is None else ("primal", places[index]) for index in found.forwarded]
            forward = (*called, outs[own:], kept)
            args, body, outs = scope.body(found.backward, ())
            nonzero = [place for place, is_zero in zip(places, found.zeros, strict=True) if not is_zero]
            cotangents = sorted(zip(nonzero, outs, strict=True), key=lambda pair: pair[0])
            given = () if found.is_whole else sorted(places[i] for i in found.given)
            return digest((forward, args, body, cotangents, given))

        return self.ruled(params, atoms, rule)

    def ruled(self, params: dict[str, Any], atoms: list[Any], rule: Callable[..., Normal]) -> Normal:
        """A call of a function with rules of its own.

        What it closes over counts as arguments: where JAX evaluates a jaxpr, it makes the one of the other. So all
        arguments are told by their place in the order in which the function reads them.
        """
        jaxpr = params.pop("call_jaxpr", None) or params.pop("fun_jaxpr")
        closed_over = params.get("num_consts", 0)
        places = _order_of_use(jaxpr)
        atoms[:] = [atom for _, atom in sorted(zip(places, atoms, strict=True), key=lambda pair: pair[0])]
        bare = self.called(jaxpr, places, 0)
        if bare in self.open:
            return bare, "itself"
        if not self.orders:
            return bare, "rules of a higher order"
        called = self.called(jaxpr, places, self.orders)
        avals = [var.aval for var in internals.opened(jaxpr).invars[closed_over:]]
        inner = _Scope({}, [0], (*self.open, bare), self.orders - 1, self.memo)
        try:
            return called, rule(inner, avals, places[closed_over:])
        except Exception:  # the rule is the user's, and may raise anything
            return called, "a rule that raises"

    def called(self, jaxpr: Any, places: Sequence[int], orders: int) -> Normal:
        """A function whose arguments are told by these places; the functions that it calls with so many orders of their
        rules."""
        open_ = self.open if orders else ()
        key = (id(jaxpr), open_, orders, "called")
        if key not in self.memo:
            scope = _Scope({}, [0], open_, orders, self.memo)
            types = sorted(zip(places, (type_of(var.aval) for var in internals.opened(jaxpr).invars), strict=True))
            self.memo[key] = jaxpr, digest((types, scope.body(jaxpr, [("a", place) for place in places])))
        return self.memo[key][1]

    def solve(self, params: dict[str, Any], atoms: list[Any]) -> Normal:
        lengths, jaxprs = params["const_lengths"], params.pop("jaxprs")
        given = [_taken(atoms, count or 0) for count in lengths]
        return tuple(
            None if jaxpr is None or name == "vecmat" else self.jaxpr(jaxpr, part)  # JAX makes it of the matvec
            for name, jaxpr, part in zip(jaxprs._fields, jaxprs, given, strict=True)
        )


_SHARING: dict[str, Callable[[_Scope, dict[str, Any], list[Any]], Normal]] = {
    "scan": _Scope.scan,
    "while": _Scope.loop,
    "custom_jvp_call": _Scope.forward_rule,
    "custom_vjp_call": _Scope.reverse_rule,
    "custom_vjp_call_jaxpr": _Scope.reverse_rule,
    "custom_linear_solve": _Scope.solve,
}


def digest(form: Any) -> Normal:
    """A normal form that is as long for all."""
    return (hashlib.sha256(repr(form).encode()).hexdigest(),)


def _reads_around(jaxpr: Any, given: Sequence[Normal]) -> bool:
    """Whether a function reads variables of what is around: among what its first arguments stand for, literals are
    none."""
    if all(kind == "c" for kind, *_ in given):
        return False
    parts = internals.opened(jaxpr)
    read = {atom for eqn in live(parts) for atom in eqn.invars if not isinstance(atom, internals.Literal)}
    read |= {atom for atom in parts.outvars if not isinstance(atom, internals.Literal)}
    return any(kind != "c" and var in read for var, (kind, *_) in zip(parts.invars, given, strict=False))


def _order_of_use(jaxpr: Any) -> list[int]:
    """For each argument, its place in the order in which a jaxpr reads them; those that it does not read come last."""
    parts = expanded(internals.opened(jaxpr), calls=True)
    atoms = (atom for eqn in live(parts) for atom in eqn.invars)
    read = {atom: None for atom in (*atoms, *parts.outvars) if not isinstance(atom, internals.Literal)}
    arguments = set(parts.invars)
    order = [var for var in dict.fromkeys((*read, *parts.invars)) if var in arguments]
    places = {var: place for place, var in enumerate(order)}
    return [places[var] for var in parts.invars]


def reads_all(jaxpr: Any) -> bool:
    """Whether a function does something with each of its arguments."""
    parts = expanded(internals.opened(jaxpr), calls=True)
    read = {id(atom) for eqn in live(parts) for atom in eqn.invars} | {id(atom) for atom in parts.outvars}
    return all(id(var) in read for var in parts.invars)


def _is_told_by_identity(value: Any) -> bool:
    own: Any = type(value).__hash__
    return own is None or own is object.__hash__


def _is_told(eqn: Any, name: str) -> bool:
    return name not in _UNTOLD or (name == "name" and eqn.primitive.name == "name")


def _taken(atoms: list[Any], count: int) -> list[Any]:
    """The first operands, which go from the list."""
    taken = atoms[:count]
    del atoms[:count]
    return taken


def live(parts: internals.Opened) -> list[Any]:
    """The equations whose results are read, or that have effects."""
    read = {atom for atom in parts.outvars if not isinstance(atom, internals.Literal)}
    found = []
    for eqn in reversed(parts.eqns):
        if eqn.effects or any(var in read for var in eqn.outvars):
            read.update(atom for atom in eqn.invars if not isinstance(atom, internals.Literal))
            found.append(eqn)
    return found[::-1]


def type_of(aval: Any) -> Normal:
    """A type by what it says."""
    return str(aval), bool(getattr(aval, "weak_type", False))


def constant(value: Any) -> Normal:
    """An array by its type and what it holds."""
    if internals.is_keys(value):
        return str(value.dtype), _array(internals.key_data(value))
    return _array(np.asarray(value))


def _array(value: np.ndarray) -> Normal:
    data = value.tobytes()
    return str(value.dtype), value.shape, data if len(data) <= 64 else hashlib.sha256(data).digest()
