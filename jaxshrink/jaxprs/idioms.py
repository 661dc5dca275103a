"""Several equations that one expression makes: rows, means, softmax.

As for single equations, what is proposed is traced, and taken only if it makes exactly those equations. They must
follow each other, in the same context, and nothing else may read what is between them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.compare import live, normal
from jaxshrink.jaxprs.equations import NAMESPACE, plain_number, substituted
from jaxshrink.jaxprs.proposing import single
from jaxshrink.jaxprs.spelling import INFIX
from jaxshrink.jaxprs.texts import text

if TYPE_CHECKING:
    from jaxshrink.jaxprs.writer import Body

Proposal = tuple[str, Sequence[Any]]
"""An expression, and the variables that its operands `_0`, `_1`, … are."""

Made = Mapping[Any, Any]
"""The equations that make variables."""


@dataclasses.dataclass(frozen=True)
class Idiom:
    """Equations that one expression makes; its value is that of the last one."""

    expression: str
    operands: Sequence[Any]
    eqns: Sequence[Any]

    def text(self, operand: Callable[[Any], str]) -> str:
        """The expression, with those of its operands."""
        return substituted(self.expression, list(map(operand, self.operands)))


def idioms(body: Body, eqns: Sequence[Any]) -> dict[int, Idiom]:
    """The idioms among the equations of a function, by the identity of their last equations."""
    found: dict[int, Idiom] = {}
    end = len(eqns)
    while end:
        idiom = _ending(body, eqns[:end] if end < 16 else eqns[end - 16 : end])
        if idiom is not None:
            found[id(eqns[end - 1])] = idiom
        end -= 1 if idiom is None else len(idiom.eqns)
    return found


def _ending(body: Body, eqns: Sequence[Any]) -> Idiom | None:
    """The idiom that ends with the last of some equations."""
    last = eqns[-1]
    propose = _PROPOSALS.get(last.primitive.name)
    if propose is None:
        return None
    try:
        proposals = list(propose(last, body.definitions))
    except UNLIKE:
        return None
    for expression, operands in proposals:
        made = _traced(body, expression, last, operands)
        group = eqns[len(eqns) - len(made.eqns) :] if made is not None else ()
        if made is not None and 1 < len(made.eqns) <= len(eqns) and _is_same(body, made, group, operands):
            return Idiom(expression, operands, group)
    return None


def _traced(body: Body, expression: str, last: Any, operands: Sequence[Any]) -> Any:
    """What an expression is traced to, without what nothing reads; None where it cannot be."""
    speller = body.writer.speller
    avals = tuple(var.aval for var in operands)
    key = (expression, avals, last.ctx, tuple(speller.axes), speller.varying)
    if key not in speller.idioms:
        names = ", ".join(f"_{i}" for i in range(len(operands)))
        try:
            fun = eval(f"lambda {names}: [{expression}]", dict(NAMESPACE))
            with internals.within(last, speller.axes, speller.varying):
                parts = internals.opened(internals.traced(fun, avals))
            speller.idioms[key] = dataclasses.replace(parts, eqns=tuple(live(parts)))
        except Exception:  # what is proposed may fail in any way: then it is not what was meant
            speller.idioms[key] = None
    return speller.idioms[key]


def _is_same(body: Body, made: internals.Opened, group: Sequence[Any], operands: Sequence[Any]) -> bool:
    last = group[-1]
    if made.consts or [eqn.primitive for eqn in made.eqns] != [eqn.primitive for eqn in group]:
        return False
    read = [atom for eqn in group for atom in eqn.invars if not isinstance(atom, internals.Literal)]
    inside = [var for eqn in group[:-1] for var in eqn.outvars]
    is_closed = all(read.count(var) == body.uses[var] for var in inside)
    is_together = all(eqn.ctx == last.ctx and internals.scopes(eqn) == internals.scopes(last) for eqn in group)
    if not is_closed or not is_together or set(read) - set(inside) != set(operands):
        return False
    forms = body.writer.speller.forms
    if id(made) not in forms:
        forms[id(made)] = made, _form(made, made.invars, made.outvars, made.eqns)
    return bool(_form(made, operands, last.outvars, group) == forms[id(made)][1])


def _form(made: internals.Opened, invars: Sequence[Any], outvars: Sequence[Any], eqns: Sequence[Any]) -> Any:
    info = made.jaxpr.debug_info
    return normal(internals.Jaxpr((), list(invars), list(outvars), list(eqns), internals.no_effects, info))


# -- what may be meant, by the last equation


def _part(last: Any, made: Made) -> Iterator[Proposal]:
    """A row, a column or one element of an array: one place along some axes."""
    cut, axes = made[last.invars[0]], last.params["dimensions"]
    if cut.primitive.name == "slice":
        (axis,) = axes
        yield f"_0[{':, ' * axis}{cut.params['start_indices'][axis]}]", cut.invars[:1]
    elif cut.primitive.name == "dynamic_slice":
        yield from _placed("_0[{}]", cut.invars[:1], {axis: _counted(cut.invars[1 + axis], made) for axis in axes})


def _placed(form: str, arrays: Sequence[Any], places: Mapping[int, Sequence[Any]]) -> Iterator[Proposal]:
    """An expression with the indices along axes put in, each one of several variables or literals that it may be."""
    for choice in (0, -1):
        given = {axis: found[choice] for axis, found in places.items()}
        operands = list(dict.fromkeys([*arrays, *(one for one in given.values() if not _is_literal(one))]))
        written = {axis: plain_number(one) if _is_literal(one) else f"_{operands.index(one)}"
                   for axis, one in given.items()}  # fmt: skip
        yield form.replace("{}", ", ".join(written.get(axis, ":") for axis in range(max(given) + 1))), operands


def _is_literal(atom: Any) -> bool:
    return isinstance(atom, internals.Literal)


def _counted(index: Any, made: Made) -> list[Any]:
    """What may be the index from which JAX has made one that does not count from the end."""
    choice = made[index]
    given = choice.invars[1] if choice.primitive.name == "select_n" else made[choice.invars[0]].invars[1]
    converted = None if _is_literal(given) else made.get(given)
    if converted is None or converted.primitive.name != "convert_element_type":
        return [given]
    return [converted.invars[0], given]


def _block(last: Any, made: Made) -> Iterator[Proposal]:
    """A part of an array, or one that is replaced, at a place that is computed."""
    is_read = last.primitive.name == "dynamic_slice"
    arrays = list(last.invars[: 1 if is_read else 2])
    indices = [one if isinstance(one, internals.Literal) else _counted(one, made)[-1]
               for one in last.invars[len(arrays) :]]  # fmt: skip
    operands = [*arrays, *(one for one in indices if not isinstance(one, internals.Literal))]
    places = "".join(
        f"{plain_number(one) if isinstance(one, internals.Literal) else f'_{operands.index(one)}'}, " for one in indices
    )
    arguments = f"_0, ({places}), {text(tuple(last.params['slice_sizes']))}" if is_read else f"_0, _1, ({places})"
    yield f"lax.{last.primitive.name}({arguments})", operands


def _columns(indices: Any, axes: Sequence[int], made: Made) -> dict[int, list[Any]]:
    """What may be the indices along axes, of which an array of places was made."""
    columns = [made[indices]] if len(axes) == 1 else [made[one] for one in made[indices].invars]
    return {axis: _counted(column.invars[0], made) for axis, column in zip(axes, columns, strict=True)}


_MODES = {"FILL_OR_DROP": "fill", "CLIP": "clip", "PROMISE_IN_BOUNDS": "promise_in_bounds"}


def _said(last: Any, more: Mapping[str, str]) -> Iterator[str]:
    """Options of reads and changes that may have been given, the fewest first."""
    flags = [f"{name}=True" for name in ("indices_are_sorted", "unique_indices") if last.params[name]]
    mode = _MODES[last.params["mode"].name]
    yield ", ".join(flags)
    yield ", ".join([f"mode={mode!r}", *(f"{name}={value}" for name, value in more.items()), *flags])


def _rows(last: Any, made: Made) -> Iterator[Proposal]:
    """Several places along an axis, or along some together."""
    places = _columns(last.invars[1], last.params["dimension_numbers"].start_index_map, made)
    yield from _placed("_0[{}]", last.invars[:1], places)
    fill = last.params["fill_value"]
    for options in _said(last, {} if fill is None else {"fill_value": repr(fill)}):
        yield from _placed(f"_0.at[{{}}].get({options})", last.invars[:1], places)


def _changed_rows(last: Any, made: Made) -> Iterator[Proposal]:
    """Several places along an axis, or along some together, or a part along an axis, changed."""
    axes, (array, indices, value) = last.params["dimension_numbers"].scatter_dims_to_operand_dims, last.invars
    method = last.primitive.name.replace("-", "_").removeprefix("scatter").strip("_")
    method = {"": "set", "mul": "multiply"}.get(method, method)
    spread = None if _is_literal(value) else made.get(value)
    is_spread = spread is not None and spread.primitive.name == "broadcast_in_dim"
    values = [*(spread.invars[:1] if spread is not None and is_spread else ()), value]
    starts = _starts(indices, axes, made)
    for one in values:
        arrays = list(dict.fromkeys(atom for atom in (array, one) if not _is_literal(atom)))
        written = plain_number(one) if _is_literal(one) else f"_{arrays.index(one)}"
        if starts:
            place = ", ".join(_static(last, axis, starts[axis]) if axis in starts else ":"
                              for axis in range(max(starts) + 1))  # fmt: skip
            yield f"_0.at[{place}].{method}({written})", arrays
            continue
        places = _columns(indices, axes, made)
        yield from _placed(f"_0.at[{{}}].{method}({written})", arrays, places)
        for options in _said(last, {}):
            options = options.replace("'fill'", "'drop'")
            yield from _placed(f"_0.at[{{}}].{method}({written}{options and ', '}{options})", arrays, places)


def _starts(indices: Any, axes: Sequence[int], made: Made) -> dict[int, int]:
    """The one place along axes that an array of places holds, where it is known; else nothing."""
    columns = [made[indices]] if len(axes) == 1 else [made[one] for one in made[indices].invars]
    is_known = all(one.invars and _is_literal(one.invars[0]) and one.outvars[0].aval.shape == (1,) for one in columns)
    return {axis: int(one.invars[0].val) for axis, one in zip(axes, columns, strict=True)} if is_known else {}


def _static(last: Any, axis: int, start: int) -> str:
    """The place along an axis of a change whose index is known: a number, or from it on."""
    numbers, shape = last.params["dimension_numbers"], last.invars[0].aval.shape
    if axis in numbers.inserted_window_dims:
        return str(start)
    window = [i for i in range(len(shape)) if i not in numbers.inserted_window_dims]
    stop = start + last.invars[2].aval.shape[numbers.update_window_dims[window.index(axis)]]
    return f"{start or ''}:{'' if stop == shape[axis] else stop}"


_REDUCTIONS = {"reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod"}


def _axis(eqn: Any) -> str:
    axes = tuple(eqn.params["axes"])
    return "" if len(axes) == len(eqn.invars[0].aval.shape) else f", axis={text(single(axes))}"


def _kept(last: Any, made: Made) -> Iterator[Proposal]:
    """A reduction that keeps its axes."""
    total = made[last.invars[0]]
    yield f"jnp.{_REDUCTIONS[total.primitive.name]}(_0{_axis(total)}, keepdims=True)", total.invars


def _quotient(last: Any, made: Made) -> Iterator[Proposal]:
    """A mean, or a softmax."""
    if isinstance(last.invars[1], internals.Literal):
        total = made[last.invars[0]]
        is_kept = total.primitive.name == "broadcast_in_dim"
        total = made[total.invars[0]] if is_kept else total
        yield f"jnp.mean(_0{_axis(total)}{', keepdims=True' if is_kept else ''})", total.invars
        return
    total = made[made[last.invars[1]].invars[0]]
    given = made[made[last.invars[0]].invars[0]].invars[:1]
    is_last = tuple(total.params["axes"]) == (len(total.invars[0].aval.shape) - 1,)
    yield f"jax.nn.softmax(_0{'' if is_last else _axis(total)})", given


def _activation(last: Any, made: Made) -> Iterator[Proposal]:
    """What multiplies its argument with something."""
    for place, other in ((0, 1), (1, 0)):
        factor = made.get(last.invars[other]) if not isinstance(last.invars[other], internals.Literal) else None
        if factor is not None and not isinstance(last.invars[place], internals.Literal):
            names = {"logistic": ("silu",), "mul": ("gelu",)}.get(factor.primitive.name, ())
            yield from ((f"jax.nn.{name}(_0)", [last.invars[place]]) for name in names)


def _identity(last: Any, made: Made) -> Iterator[Proposal]:
    """The identity matrix."""
    equal = made[last.invars[0]]
    rows, columns = equal.outvars[0].aval.shape
    shape = f"{rows}" if rows == columns else f"{rows}, {columns}"
    if equal.primitive.name == "eq" and made[equal.invars[1]].primitive.name == "iota":
        dtype = text(np.dtype(last.params["new_dtype"]))
        yield from ((f"jnp.eye({shape})", []), (f"jnp.eye({shape}, dtype={dtype})", []))


def _mixed(last: Any, made: Made) -> Iterator[Proposal]:
    """An operator on an integer that becomes a float."""
    for place in (0, 1):
        atoms = list(last.invars)
        converted = None if isinstance(atoms[place], internals.Literal) else made.get(atoms[place])
        if converted is not None and converted.primitive.name == "convert_element_type":
            atoms[place] = converted.invars[0]
            named = [atom for atom in atoms if not isinstance(atom, internals.Literal)]
            if converted.invars[0].aval.dtype.kind not in "iub" or len(set(named)) != len(named):
                continue
            for ending in ("", ".0"):
                left, right = (plain_number(atom).removesuffix(ending) if isinstance(atom, internals.Literal)
                               else f"_{named.index(atom)}" for atom in atoms)  # fmt: skip
                yield f"{left} {INFIX[last.primitive.name]} {right}", named


def _either(*rules: Callable[[Any, Made], Iterator[Proposal]]) -> Callable[[Any, Made], Iterator[Proposal]]:
    def propose(last: Any, made: Made) -> Iterator[Proposal]:
        for rule in rules:
            with contextlib.suppress(*UNLIKE):
                yield from rule(last, made)

    return propose


UNLIKE = (LookupError, TypeError, ValueError, AttributeError)
"""What rules raise where something is not made as it would be."""

_PROPOSALS: dict[str, Callable[[Any, Made], Iterator[Proposal]]] = {
    "squeeze": _part,
    "gather": _rows,
    **dict.fromkeys(("dynamic_slice", "dynamic_update_slice"), _block),
    **dict.fromkeys(("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"), _changed_rows),
    "broadcast_in_dim": _kept,
    "reshape": _kept,
    "convert_element_type": _identity,
    **dict.fromkeys(("add", "sub", "pow", "lt", "le", "gt", "ge", "eq", "ne"), _mixed),
    "div": _either(_mixed, _quotient),
    "mul": _either(_mixed, _activation),
}
"""By name of the last primitive."""
