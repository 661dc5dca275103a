"""Functions with derivative rules of their own, and solvers of linear systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxshrink.jaxprs import internals, rules
from jaxshrink.jaxprs.compare import ORDERS, key_of
from jaxshrink.jaxprs.writer import Body, Lines, tupled


def forward_ruled(body: Body, eqn: Any) -> bool:
    """A call of a `jax.custom_jvp` function."""
    return _ruled(body, eqn, "jax.custom_jvp", _jvp)


def reverse_ruled(body: Body, eqn: Any) -> bool:
    """A call of a `jax.custom_vjp` function."""
    return _ruled(body, eqn, "jax.custom_vjp", _vjp)


def _ruled(body: Body, eqn: Any, decorator: str, write_rules: Callable[[Body, Any, str, Sequence[Any]], None]) -> bool:
    jaxpr = eqn.params.get("call_jaxpr") or eqn.params.get("fun_jaxpr")
    count = eqn.params.get("num_consts", 0)
    given = eqn.invars[:count]
    wanted = internals.function_name(jaxpr) or "f"
    key, defined = key_of(eqn, body.writer.speller.memo), body.writer.defined
    if key not in defined:
        place = body if given else Body(body.writer, {}, 0, [])
        name = place.define(jaxpr, wanted, None, None, given, decorator)
        room: Lines = []
        place.lines.append(room)
        inner = Body(body.writer, place.known, place.depth, room)

        def write() -> None:
            defined[key] = name  # for its own rules
            write_rules(inner, eqn, name, internals.opened(jaxpr).invars[count:])
            if given:
                del defined[key]  # it is known here alone

        body.writer.postpone(write)
        if not given:
            defined[key] = name
            body.writer.lines.extend(place.lines)
    else:
        name = defined[key]
    operands = body.operands(eqn.invars[count:])
    body.assign(eqn.outvars, (1,) if len(eqn.outvars) == 1 else None, f"{name}({', '.join(operands)})")
    return True


def _jvp(body: Body, eqn: Any, name: str, args: Sequence[Any]) -> None:
    """The rules of a `custom_jvp` function."""
    own = name.partition(internals.SIGN)[0]
    try:
        _check_order(body)
        found = rules.jvp_rules(eqn.params, [var.aval for var in args])
    except Exception as error:  # the rule is the user's: it may raise anything
        _failing(body, f"{own}_jvp", ["primals", "tangents"], error, f"{name}.defjvp")
        return
    names = [_forward_rule(body, own, one, len(args)) for one in found]
    if found[0].is_whole:
        body.line(f"{name}.defjvp({names[0]})")
        return
    chosen = body.writer.new(f"{own}_jvp")
    body.line(f"def {chosen}(primals, tangents):")
    inner = body.below()
    inner.line(f"zeros = [isinstance(one, {_ZERO}) for one in tangents]")
    inner.line(f"tangents = [{_filled('one')} for one in tangents]")
    for rule, rule_name in zip(found, names, strict=True):
        others = [i for i in rules.smooth_places([var.aval for var in args]) if i not in rule.given]
        inner.line(f"if {' and '.join(f'zeros[{i}]' for i in others)}:")
        inner.below().line(f"return {rule_name}(primals, tangents)")
    inner.line(f"raise NotImplementedError({_PARTIAL!r})")
    body.line(f"{name}.defjvp({chosen}, symbolic_zeros=True)")


_ZERO = "jax.custom_derivatives.SymbolicZero"
_PARTIAL = "there is no derivative for all of the arguments"


def _filled(name: str) -> str:
    return f"np.zeros({name}.shape, {name}.dtype) if isinstance({name}, {_ZERO}) else {name}"


def _forward_rule(body: Body, own: str, rule: rules.ForwardRule, count: int) -> str:
    """Define one rule, which takes no notice of the other arguments' tangents. Returns its name."""

    def pack(results: list[str]) -> str:
        primals, tangents = results[: len(rule.zeros)], iter(results[len(rule.zeros) :])
        whole = [f"jnp.zeros_like({primal})" if is_zero else next(tangents)
                 for primal, is_zero in zip(primals, rule.zeros, strict=True)]  # fmt: skip
        return f"{tupled(primals)}, {tupled(whole)}"

    places = [*range(count), *(count + i for i in rule.given)]
    return body.define(rule.jaxpr, f"{own}_jvp", [("primals", -count), ("tangents", -count)], pack, places=places)


def _vjp(body: Body, eqn: Any, name: str, args: Sequence[Any]) -> None:
    """The two rules of a `custom_vjp` function."""
    own = name.partition(internals.SIGN)[0]
    try:
        _check_order(body)
        rule = rules.vjp_rule(eqn.params, [var.aval for var in args])
    except Exception as error:  # the rules are the user's: they may raise anything
        forward = _failing(body, f"{own}_fwd", ["*args"], error, None)
        body.line(f"{name}.defvjp({forward}, {forward})")
        return
    residuals = sum(index is None for index in rule.forwarded)
    parts = internals.opened(rule.forward)
    arg_texts: list[str] = []

    def packed(results: list[str]) -> str:
        given = iter(results[:residuals])
        kept = [next(given) if index is None else arg_texts[index] for index in rule.forwarded]
        return f"{tupled(results[residuals:])}, ({''.join(f'{one}, ' for one in kept)})"

    forward = body.define(rule.forward, f"{own}_fwd", None, packed, args_seen=arg_texts.extend)

    def unpacked(results: list[str]) -> str:
        given = iter(results)
        return "(" + "".join(f"{'None' if is_zero else next(given)}, " for is_zero in rule.zeros) + ")"

    groups = [("residuals", -len(rule.forwarded)), ("cotangents", len(parts.outvars) - residuals)]
    backward = body.define(rule.backward, f"{own}_bwd", groups, unpacked)
    if rule.is_whole:
        body.line(f"{name}.defvjp({forward}, {backward})")
        return
    others = [i for i in rules.smooth_places([var.aval for var in args]) if i not in rule.given]
    checked, filled = body.writer.new(f"{own}_fwd"), body.writer.new(f"{own}_bwd")
    body.line(f"def {checked}(*args):")
    inner = body.below()
    inner.line(f"if {' or '.join(f'args[{i}].perturbed' for i in others)}:")
    inner.below().line(f"raise NotImplementedError({_PARTIAL!r})")
    inner.line(f"return {forward}(*[one.value for one in args])")
    body.line(f"def {filled}(residuals, cotangents):")
    inner.line(f"cotangents = jax.tree.map(lambda one: {_filled('one')}, cotangents)")
    inner.line(f"return {backward}(residuals, cotangents)")
    body.line(f"{name}.defvjp({checked}, {filled}, symbolic_zeros=True)")


def _check_order(body: Body) -> None:
    order = body.writer.order - 1
    if order > ORDERS:
        raise NotImplementedError(f"the rule for derivatives of order {order} was not kept")


def _failing(body: Body, wanted: str, parameters: list[str], error: Exception, define: str | None) -> str:
    """A rule that raises, as the original does."""
    name = body.writer.new(wanted)
    body.line(f"def {name}({', '.join(parameters)}):")
    what = str(error) if isinstance(error, NotImplementedError) else f"{type(error).__name__}: {error}"
    body.line(f"    raise NotImplementedError({what!r})")
    if define:
        body.line(f"{define}({name})")
    return name


def linear_solve(body: Body, eqn: Any) -> bool:
    """`lax.custom_linear_solve`: the matrix as a function, and what solves with it."""
    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    atoms = eqn.invars
    parts = {}
    for name, count in zip(lengths._fields, lengths, strict=True):
        parts[name], atoms = atoms[: count or 0], atoms[count or 0 :]
    count, operands = len(atoms), body.operands(atoms)
    outs = internals.opened(jaxprs.solve).outvars
    matvec = body.define(jaxprs.matvec, "matvec", [("x", count)], tupled, parts["matvec"])
    solvers = []
    for name in ("solve", "transpose_solve"):
        jaxpr = getattr(jaxprs, name)
        if jaxpr is None:
            continue
        has_aux = len(outs) > count
        pack = (lambda results: f"{tupled(results[:count])}, {tupled(results[count:])}") if has_aux else tupled
        solvers.append(body.define(jaxpr, name, [("matvec", 0), ("b", count)], pack, parts[name]))
    options = ["symmetric=True"] if jaxprs.vecmat is jaxprs.matvec and jaxprs.vecmat is not None else []
    options += ["has_aux=True"] if len(outs) > count else []
    arguments = [matvec, tupled(operands), solvers[0], *solvers[1:], *options]
    sizes = (count, len(outs) - count) if len(outs) > count else None if count > 1 else (1,)
    body.assign(eqn.outvars, sizes, f"lax.custom_linear_solve({', '.join(arguments)})")
    return True
