"""Primitives that have functions among their options, as calls of their API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.experimental.layout as experimental_layout
import numpy as np

from jaxshrink.inside.capture.constants import Unwritable
from jaxshrink.jaxprs import contexts, internals
from jaxshrink.jaxprs.compare import reads_all
from jaxshrink.jaxprs.customs import forward_ruled, linear_solve, reverse_ruled
from jaxshrink.jaxprs.expanding import CALLS
from jaxshrink.jaxprs.kernels import grid_place, pallas_call
from jaxshrink.jaxprs.sharded import shard_map
from jaxshrink.jaxprs.texts import text
from jaxshrink.jaxprs.writer import Body, inexpressible, tupled

Write = Callable[[Body, Any], bool]
"""Writes an equation, unless it has no such form; then nothing is written, and False returned."""


def jit(body: Body, eqn: Any) -> bool:
    """A compiled function, defined once."""
    params, jaxpr = eqn.params, eqn.params["jaxpr"]
    try:
        options = _jit_options(body, params)
    except Unwritable:
        return False
    wanted = params.get("name") or internals.function_name(jaxpr) or "f"
    decorator = None if options else "jax.jit"

    def define(module: Body) -> str:
        name = module.define(jaxpr, wanted, decorator=decorator)
        if options:
            module.line(f"{name} = jax.jit({name}, {', '.join(options)})")
        return name

    name = body.once((id(jaxpr), "jit", *options), define, jaxpr)
    return _called(body, eqn, f"{name}({', '.join(body.operands(eqn.invars))})")


def _jit_options(body: Body, params: dict[str, Any]) -> list[str]:
    options = []
    donated = tuple(i for i, is_donated in enumerate(params.get("donated_invars", ())) if is_donated)
    if donated:
        options.append(f"donate_argnums={donated}")
    for name in ("in_shardings", "out_shardings"):
        places = zip(params.get(name, ()), _layouts(params, name), strict=True)
        parts = [_placed(body, sharding, layout) for sharding, layout in places]
        if any(part != "None" for part in parts):
            whole = tupled(parts) if name == "out_shardings" else f"({''.join(f'{part}, ' for part in parts)})"
            options.append(f"{name}={whole}")
    if params.get("keep_unused"):
        options.append("keep_unused=True")
    inline = params.get("inline")
    kind = getattr(inline, "name", "JAX_LATE" if inline is True else "AUTO")
    if kind != "AUTO":
        options.append("inline=True" if kind == "JAX_LATE" else f"inline=jax.Inline.{kind}")
    compiler = dict(params.get("compiler_options_kvs") or ())
    return [*options, f"compiler_options={text(compiler)}"] if compiler else options


def _layouts(params: dict[str, Any], name: str) -> Sequence[Any]:
    """The layouts that belong to shardings."""
    found = params.get(name.replace("shardings", "layouts"))
    return found if found is not None else [None] * len(params.get(name, ()))


def _placed(body: Body, sharding: Any, layout: Any) -> str:
    """Where an argument or a result is, and how it lies there; None where nothing is said."""
    is_told = type(sharding).__name__ != "UnspecifiedValue"
    where = contexts.sharding(body, sharding) if is_told else "None"
    if layout is None:
        return where
    options = f"{text(layout)}, {where}" if is_told else text(layout)
    return f"jax.experimental.layout.{'Format' if hasattr(experimental_layout, 'Format') else 'Layout'}({options})"


def _called(body: Body, eqn: Any, value: str) -> bool:
    """Assign what a function of flat results gives."""
    body.assign(eqn.outvars, (1,) if len(eqn.outvars) == 1 else None, value)
    return True


def checkpoint(body: Body, eqn: Any) -> bool:
    """A function whose values are computed again for its derivatives."""
    params, jaxpr = eqn.params, eqn.params["jaxpr"]
    try:
        policy = text(params.get("policy"))
    except Unwritable:
        return False
    if params.get("differentiated"):
        return _differentiated(body, eqn, policy)
    options = [] if policy == "None" else [f"policy={policy}"]
    if not params.get("prevent_cse", True):
        options.append("prevent_cse=False")
    wanted = internals.function_name(jaxpr) or "f"

    def define(module: Body) -> str:
        name = module.define(jaxpr, wanted, decorator=None if options else "jax.checkpoint")
        if options:
            module.line(f"{name} = jax.checkpoint({name}, {', '.join(options)})")
        return name

    name = body.once((id(jaxpr), "checkpoint", *options), define, jaxpr)
    return _called(body, eqn, f"{name}({', '.join(body.operands(eqn.invars))})")


def _differentiated(body: Body, eqn: Any, policy: str) -> bool:
    """What `grad` makes of such a function, which no API does."""
    params, jaxpr, operands = eqn.params, eqn.params["jaxpr"], ", ".join(body.operands(eqn.invars))
    primitive = internals.primitive_source(eqn.primitive)
    if primitive is None or set(params) != {"jaxpr", "policy", "prevent_cse", "differentiated"}:
        return False
    name = _function(body, jaxpr, internals.function_name(jaxpr) or "f")
    made = f"jax.make_jaxpr({name})({operands})" + ("" if isinstance(jaxpr, internals.ClosedJaxpr) else ".jaxpr")
    options = f"jaxpr={made}, prevent_cse={params['prevent_cse']}, differentiated=True, policy={policy}"
    body.assign(eqn.outvars, None, f"{primitive}.bind({operands}, {options})")
    return True


# -- control flow


def scan(body: Body, eqn: Any) -> bool:
    """A loop over the first axis."""
    params, jaxpr = eqn.params, eqn.params["jaxpr"]
    consts, carry = internals.scan_counts(params, len(eqn.invars))
    operands = body.operands(eqn.invars)
    init, xs = operands[consts : consts + carry], operands[consts + carry :]

    def pack(results: list[str]) -> str:
        return f"{tupled(results[:carry])}, {tupled(results[carry:]) if results[carry:] else 'None'}"

    name = body.define(jaxpr, "body", [("carry", carry), ("x", len(xs))], pack, eqn.invars[:consts])
    options = [] if xs else [f"length={params['length']}"]
    options += ["reverse=True"] if params["reverse"] else []
    options += [f"unroll={params['unroll']}"] if params.get("unroll", 1) != 1 else []
    arguments = [name, tupled(init), tupled(xs) if xs else "None", *options]
    sizes = (carry, len(eqn.outvars) - carry)
    body.assign(eqn.outvars, sizes, f"lax.scan({', '.join(arguments)})")
    return True


def while_loop(body: Body, eqn: Any) -> bool:
    """A loop with a condition."""
    params, atoms = eqn.params, eqn.invars
    if internals.opened(params["cond_jaxpr"]).outvars[0].aval.shape:
        return False  # one condition for each element of a batch
    first, second = params["cond_nconsts"], params["body_nconsts"]
    carry = len(atoms) - first - second
    test = body.define(params["cond_jaxpr"], "cond", [("carry", carry)], None, atoms[:first])
    step = body.define(params["body_jaxpr"], "body", [("carry", carry)], tupled, atoms[first : first + second])
    sizes = (1,) if carry == 1 else None
    init = tupled(body.operands(atoms[first + second :]))
    body.assign(eqn.outvars, sizes, f"lax.while_loop({test}, {step}, {init})")
    return True


def swallowed(body: Body, eqns: Sequence[Any]) -> Iterator[Any]:
    """Equations that the API of a later one adds by itself: how it makes an index of what it is given."""
    for eqn in eqns:
        if eqn.primitive.name == "cond" and _index_of(body, eqn) is not None:
            yield body.definitions[eqn.invars[0]]


def _index_of(body: Body, eqn: Any) -> Any:
    """What a `cond` was asked with: a truth value for two branches, a number for more; None where it has no such."""
    var, branches = eqn.invars[0], len(eqn.params["branches"])
    made = None if isinstance(var, internals.Literal) else body.definitions.get(var)
    if made is None or body.uses[var] != 1:
        return None
    if made.primitive.name == "convert_element_type" and branches == 2:
        given = made.invars[0]
        is_plain = made.params["new_dtype"] == np.int32 and not made.params.get("weak_type")
        return given if is_plain and given.aval.dtype == bool else None
    if made.primitive.name == "clamp":
        low, given, high = made.invars
        bounds = [one.val for one in (low, high) if isinstance(one, internals.Literal)]
        return given if bounds == [0, branches - 1] and not given.aval.weak_type else None
    return None


def cond(body: Body, eqn: Any) -> bool:
    """One of several functions of the same operands."""
    given = _index_of(body, eqn)
    if given is None:
        return False
    wanted = ("false_fun", "true_fun") if given.aval.dtype == bool else [f"branch_{i}" for i in range(99)]
    branches = eqn.params["branches"]
    names = [_function(body, branch, name) for branch, name in zip(branches, wanted, strict=False)]
    operands = "".join(f", {one}" for one in body.operands(eqn.invars[1:]))
    chosen = f"{names[1]}, {names[0]}" if given.aval.dtype == bool else f"[{', '.join(names)}]"
    call = "cond" if given.aval.dtype == bool else "switch"
    return _called(body, eqn, f"lax.{call}({body.operand(given)}, {chosen}{operands})")


def _function(body: Body, jaxpr: Any, wanted: str) -> str:
    """The function of a jaxpr, defined once."""
    return body.once((id(jaxpr), "function"), lambda module: module.define(jaxpr, wanted), jaxpr)


# -- reductions by a function


def reduce(body: Body, eqn: Any) -> bool:
    """A reduction by any function."""
    params, operands = eqn.params, body.operands(eqn.invars)
    jaxpr = internals.closed(params["jaxpr"], params.get("consts", ()))
    half = len(operands) // 2
    name = body.define(jaxpr, "reducer", [("x", half), ("y", half)], tupled)
    options = [text(tuple(params["dimensions"]))] if eqn.primitive.name == "reduce" else [
        text(params[key])
        for key in ("window_dimensions", "window_strides", "padding", "base_dilation", "window_dilation")
    ]  # fmt: skip
    arguments = [tupled(operands[:half]), tupled(operands[half:]), name, *options]
    return _called(body, eqn, f"lax.{eqn.primitive.name}({', '.join(arguments)})")


# -- the primitive itself


def generic(body: Body, eqn: Any) -> None:
    """Bind the primitive, with jaxprs made of functions. Raises Inexpressible."""
    primitive = internals.primitive_source(eqn.primitive)
    if primitive is None:
        raise inexpressible(eqn, "no module that is imported has it")
    options = [f"{name}={_option(body, eqn, name, value)}" for name, value in eqn.params.items()]
    call = f"{primitive}.bind({', '.join([*body.operands(eqn.invars), *options])})"
    body.assign(eqn.outvars, None if eqn.primitive.multiple_results else (1,), call)


def _option(body: Body, eqn: Any, name: str, value: Any) -> str:
    if internals.is_jaxpr(value):
        return _jaxpr(body, value)
    if isinstance(value, (tuple, list)) and any(map(internals.is_jaxpr, value)) and type(value) in (tuple, list):
        return "(" + "".join(f"{_option(body, eqn, name, one)}, " for one in value) + ")"
    try:
        return text(value)
    except Unwritable as error:
        raise inexpressible(eqn, f"its option {name} is {error}") from None


def _jaxpr(body: Body, jaxpr: Any) -> str:
    """A jaxpr, as it is traced of a function."""
    name = _function(body, jaxpr, "fun")
    types = [_type(var.aval) for var in internals.opened(jaxpr).invars]
    made = f"jax.make_jaxpr({name})({', '.join(types)})"
    return made if isinstance(jaxpr, internals.ClosedJaxpr) else f"{made}.jaxpr"


def _type(aval: Any) -> str:
    weak = ", weak_type=True" if getattr(aval, "weak_type", False) else ""
    return f"jax.ShapeDtypeStruct({text(tuple(aval.shape))}, {text(np.dtype(aval.dtype))}{weak})"


def call(body: Body, eqn: Any) -> bool:
    """A call of a function, and no more. It would compute with numbers at once, and nothing else tells that what it
    does nothing with is read."""
    jaxpr, operands = eqn.params["call_jaxpr"], body.operands(eqn.invars)
    if not reads_all(jaxpr) or not all(one.isidentifier() or one.startswith("jnp.") for one in operands):
        return False
    name = _function(body, jaxpr, internals.function_name(jaxpr) or "fun")
    return _called(body, eqn, f"{name}({', '.join(operands)})")


HIGHER: dict[str, Write] = {
    "jit": jit,
    "pjit": jit,
    "remat2": checkpoint,
    "checkpoint": checkpoint,
    "remat": checkpoint,
    "scan": scan,
    "while": while_loop,
    "cond": cond,
    "reduce": reduce,
    "reduce_window": reduce,
    "custom_jvp_call": forward_ruled,
    "custom_vjp_call": reverse_ruled,
    "custom_vjp_call_jaxpr": reverse_ruled,
    "custom_linear_solve": linear_solve,
    "shard_map": shard_map,
    "pallas_call": pallas_call,
    "program_id": grid_place,
    "num_programs": grid_place,
    **dict.fromkeys(CALLS, call),
}
"""By name of the primitive."""
