"""All that needs JAX's internals: parts of jaxprs, tracing for given types, primitives and where they are.

Checked with JAX 0.4.30, 0.10 and 0.12 (`tests/jaxprs/test_internals.py`); what differs between them is told apart by
what is there, not by version numbers.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
from jax._src import api_util, core, linear_util, source_info_util
from jax._src.interpreters import partial_eval
from jax.extend import core as extend_core

from jaxshrink.inside.capture import names as names_

Jaxpr = extend_core.Jaxpr
ClosedJaxpr = extend_core.ClosedJaxpr  # the same class in JAX 0.12
Literal = core.Literal
Var = core.Var
DropVar = core.DropVar
ShapedArray = core.ShapedArray
Primitive = core.Primitive
no_effects = core.no_effects


SIGN = names_.SIGN
SHARD_MAP = "jax.shard_map" if hasattr(jax, "shard_map") else "jax.experimental.shard_map.shard_map"


@dataclasses.dataclass(frozen=True)
class Opened:
    """A jaxpr, closed or not, in parts. `closed`: whether it is a value of the class for closed ones."""

    jaxpr: Any
    constvars: tuple[Any, ...]
    consts: tuple[Any, ...]
    invars: tuple[Any, ...]
    outvars: tuple[Any, ...]
    eqns: tuple[Any, ...]


def is_jaxpr(value: Any) -> bool:
    """Whether a value is a jaxpr, closed or not."""
    return isinstance(value, (Jaxpr, ClosedJaxpr))


def opened(jaxpr: Any) -> Opened:
    """The parts of a jaxpr; of one that is not closed, constants are variables like others."""
    inner = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    consts = tuple(jaxpr.consts) if isinstance(jaxpr, ClosedJaxpr) else ()
    constvars, invars = tuple(inner.constvars), tuple(inner.invars)
    if not consts:
        constvars, invars = (), constvars + invars
    return Opened(inner, constvars, consts, invars, tuple(inner.outvars), tuple(inner.eqns))


def closed(jaxpr: Any, consts: Sequence[Any] = ()) -> Any:
    """A closed jaxpr of one that may be open."""
    if isinstance(jaxpr, ClosedJaxpr) and not consts:
        return jaxpr
    return ClosedJaxpr(jaxpr, list(consts))


def function(jaxpr: Any) -> Callable[..., list[Any]]:
    """A jaxpr as a function of flat arguments, with a flat list of results."""
    made: Callable[..., list[Any]] = extend_core.jaxpr_as_fun(closed(jaxpr))
    return made


def is_no_sharding(value: Any) -> bool:
    """Whether a value is a sharding on no devices, which says as much as None."""
    return isinstance(value, jax.sharding.NamedSharding) and bool(value.mesh.empty)


def is_keys(value: Any) -> bool:
    """Whether a value is an array of typed random keys."""
    return isinstance(value, jax.Array) and is_key_type(value.dtype)


def is_key_type(dtype: Any) -> bool:
    """Whether a dtype is that of typed random keys."""
    return bool(jax.numpy.issubdtype(dtype, jax.dtypes.prng_key))


def is_identity(eqn: Any) -> bool:
    """Whether an equation converts to the type that its operand has: JAX leaves such out where it traces them."""
    if eqn.primitive.name != "convert_element_type" or isinstance(eqn.outvars[0], DropVar):
        return False
    given, made = eqn.invars[0].aval, eqn.outvars[0].aval
    return bool(given.dtype == made.dtype and given.weak_type == made.weak_type)


def is_reference(aval: Any) -> bool:
    """Whether a type is that of a mutable reference."""
    return type(aval).__name__ == "AbstractRef"


# -- names

_TAKES_TRACEBACK = "source_info" not in inspect.signature(source_info_util.user_frame).parameters



def names(jaxpr: Any) -> tuple[list[str], list[str]]:
    """The names of the arguments and the paths of the results, as the debug info has them: `x`, `y['hi']`; "" where
    there is none."""
    parts = opened(jaxpr)
    info = getattr(parts.jaxpr, "debug_info", None)
    found = []
    for listed, count in (("arg_names", len(parts.invars)), ("result_paths", len(parts.outvars))):
        given = getattr(info, listed, None)
        given = [str(name or "") for name in given] if isinstance(given, (list, tuple)) else []
        found.append(given if len(given) == count else [""] * count)
    return found[0], found[1]


def function_name(jaxpr: Any) -> str:
    """The name of the function that was traced; "" where it is not known."""
    info = getattr(opened(jaxpr).jaxpr, "debug_info", None)
    words = str(getattr(info, "func_src_info", None) or "").split()
    return words[0] if words and words[0] not in ("<unknown>", "None") else ""


def frame(eqn: Any) -> tuple[str, int, str] | None:
    """The user's frame that an equation comes from: file, line and function."""
    given = eqn.source_info.traceback if _TAKES_TRACEBACK else eqn.source_info
    found = source_info_util.user_frame(given)
    return None if found is None else (found.file_name, found.start_line, found.function_name)


def scopes(eqn: Any) -> tuple[str, ...]:
    """The names of the scopes (`jax.named_scope`) of an equation, outermost first; of transformations nothing."""
    stack = getattr(eqn.source_info.name_stack, "stack", ())
    return tuple(entry.name for entry in stack if type(entry).__name__ == "Scope")


# -- tracing


def debug_info_class() -> Any:
    """The class of what jaxprs know of their function, with names of arguments and results; None in JAX 0.4."""
    return getattr(linear_util, "DebugInfo", None)


def traced(fun: Callable[..., Sequence[Any]], avals: Sequence[Any], arg_names: Sequence[str] | None = None) -> Any:
    """The closed jaxpr of a function of flat arguments of exactly these types, with a flat list of results."""
    kind = debug_info_class()
    if kind is not None:
        arg_names = [""] * len(avals) if arg_names is None else arg_names
        info = kind("jaxprs", getattr(fun, "__name__", "f"), tuple(arg_names), None)
        wrapped = linear_util.wrap_init(fun, debug_info=info)
    else:
        wrapped = linear_util.wrap_init(fun)  # type: ignore[call-arg]  # JAX 0.4
    jaxpr, _, consts, *_ = partial_eval.trace_to_jaxpr_dynamic(wrapped, tuple(avals))
    return ClosedJaxpr(jaxpr, list(consts))


@contextlib.contextmanager
def within(eqn: Any, axes: Iterable[tuple[Any, int]]) -> Iterator[None]:
    """The settings under which an equation was traced, with these names of mapped axes."""
    manager = getattr(eqn.ctx, "manager", None)
    with contextlib.ExitStack() as stack:
        if manager is not None:
            stack.enter_context(manager)
        stack.enter_context(named_axes(axes))
        yield


@contextlib.contextmanager
def named_axes(axes: Iterable[tuple[Any, int]]) -> Iterator[None]:
    """Names of mapped axes, with their sizes."""
    axes = list(axes)
    if not axes:
        yield
    elif hasattr(core, "extend_axis_env_nd"):
        with core.extend_axis_env_nd(axes):
            yield


# -- primitives


@functools.cache
def _primitives(modules: int) -> dict[int, str]:
    """Primitives by identity, with the name under which a module has them; public modules first."""
    found: dict[int, str] = {}
    order = ("jax.lax", "jax.lax.linalg", "jax.custom_derivatives", "jax.random", "jax.extend", "jax", "", "jax._src")
    for module in sorted(sys.modules, key=lambda name: (_place(name, order), name)):
        for name, value in list(getattr(sys.modules[module], "__dict__", {}).items()):
            if isinstance(value, Primitive):
                found.setdefault(id(value), f"{module}.{name}")
    return found


def _place(module: str, order: Sequence[str]) -> int:
    """The index of the longest start of a module's name."""
    starts = [start for start in order if not start or f"{module}.".startswith(f"{start}.")]
    return order.index(max(starts, key=len))


def primitive_name(primitive: Any) -> str | None:
    """The dotted name under which a module that is imported has a primitive, or None."""
    return _primitives(len(sys.modules)).get(id(primitive))


# -- custom derivatives


def jvp_rule(params: Mapping[str, Any], avals: Sequence[Any]) -> Any:
    """The rule of a `custom_jvp_call` as a closed jaxpr from primals and tangents, all nonzero, to those of the
    results. Raises what the rule raises."""
    thunk = params.get("jvp_jaxpr_fun") or params["jvp_jaxpr_thunk"]
    zeros = [False] * len(avals)
    jaxpr, consts, out_zeros = thunk.call_wrapped(*zeros) if hasattr(thunk, "call_wrapped") else thunk(*zeros)
    _check_alive(consts)
    return ClosedJaxpr(jaxpr, list(consts)), list(out_zeros)


@dataclasses.dataclass(frozen=True)
class ReverseRule:
    """The rules of a `custom_vjp_call` as closed jaxprs.

    `forward` gives the residuals, then the results. `forwarded` has for each residual that `backward` takes the index
    of the argument that it is, or None for the next of those that `forward` gives. `backward` takes residuals and
    cotangents, and gives the cotangents of the arguments; `zeros` tells which of them are zeros that it leaves out.
    """

    forward: Any
    backward: Any
    forwarded: tuple[int | None, ...]
    zeros: tuple[bool, ...]


def vjp_rule(params: Mapping[str, Any], avals: Sequence[Any]) -> ReverseRule:
    """The rules of a `custom_vjp_call` (its arguments' types, closed-over ones aside). Raises what they raise."""
    thunk = params["fwd_jaxpr_thunk"]
    flags = [True] * len(avals)
    jaxpr, consts = thunk.call_wrapped(*flags) if hasattr(thunk, "call_wrapped") else thunk(*flags)
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

    made = traced(backward, [*residuals, *cotangents])
    _check_alive(opened(made).consts)
    return ReverseRule(forward, made, tuple(forwarded), tuple(zeros))


def _check_alive(consts: Sequence[Any]) -> None:
    if any(isinstance(value, jax.core.Tracer) for value in consts):
        raise ValueError("the rule closes over a value of the function around it, which has been traced already")


# -- control flow


def scan_counts(params: Mapping[str, Any], operands: int) -> tuple[int, int]:
    """How many of a scan's operands are closed over, and how many are carried."""
    if "num_carry" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = (len(list(part)) for part in params["ft_in"].unpack())
    return consts, carry


# -- what `dumps` keeps


def function_info(jaxpr: Any) -> str:
    """The name of the function that was traced, and where it is."""
    info = getattr(opened(jaxpr).jaxpr, "debug_info", None)
    return str(getattr(info, "func_src_info", None) or "")


def frame_key(eqn: Any) -> Any:
    """Equal for equations of the same place; None where nothing is known of it."""
    return eqn.source_info.traceback


def settings(eqn: Any) -> dict[str, Any]:
    """The settings under which an equation was traced, where they are not the usual ones."""
    found = {
        "compute_type": getattr(eqn.ctx, "compute_type", None),
        "threefry_partitionable": getattr(eqn.ctx, "threefry_partitionable", None),
        "xla_metadata": getattr(eqn.ctx, "xla_metadata", None),
    }
    mesh = getattr(eqn.ctx, "cur_abstract_mesh", None)
    if mesh is not None and not mesh.empty:
        found["mesh"] = mesh
    return {name: value for name, value in found.items() if value is not None}


def effect_row(effect: Any, numbers: Mapping[Any, int]) -> list[Any] | None:
    """An effect as its class, the number of the variable that it is about, and the name of an axis; None for effects
    outside of the program."""
    name = type(effect).__name__
    if name in ("ReadEffect", "WriteEffect", "AccumEffect"):
        var = getattr(effect, "input", None)
        return [name, effect.input_index if var is None else numbers.get(var), None]
    if name == "NamedAxisEffect":
        return [name, None, effect.name]
    return [name, None, None] if name in ("InternalMutableArrayEffect", "ArrayRefEffect", "NoDCEEffect") else None


def is_extended(value: Any) -> bool:
    """Whether a value is a dtype of keys."""
    return type(value).__name__ == "KeyTy"


def type_extras(aval: Any) -> dict[str, Any]:
    """What an array's type says beyond shape and dtype."""
    found: dict[str, Any] = {}
    sharding = getattr(aval, "sharding", None)
    if sharding is not None and not sharding.mesh.empty:
        found["sharding"] = sharding
    varying = getattr(aval, "vma", None) or getattr(getattr(aval, "manual_axis_type", None), "varying", None)
    if varying:
        found["varying"] = frozenset(varying)
    return found


def sharding_parts(value: Any) -> tuple[str, list[Any]] | None:
    """Partitions, meshes and shardings: their kind, and what they are made of."""
    sharding = jax.sharding
    kind = type(value)
    if kind is sharding.PartitionSpec:
        return "P", [list(value)]
    if kind.__name__ == "UnconstrainedSingleton":
        return "unconstrained", []
    if kind is sharding.Mesh:
        devices = [] if value.empty else [device.id for device in value.devices.flat]
        return "Mesh", [[*value.devices.shape], [*value.axis_names], devices, _axis_types(value)]
    if kind.__name__ == "AbstractMesh":
        return "AbstractMesh", [list(value.axis_sizes), list(value.axis_names), _axis_types(value)]
    if kind is sharding.NamedSharding:
        return "NamedSharding", [value.mesh, value.spec, value.memory_kind]
    if kind is sharding.SingleDeviceSharding:
        return "SingleDevice", [next(iter(value.device_set)).id, value.memory_kind]
    if kind.__name__ in ("Device", "CpuDevice"):
        return "Device", [value.id]
    return None


def _axis_types(mesh: Any) -> list[str]:
    return [str(one).rpartition(".")[2] for one in getattr(mesh, "axis_types", None) or ()]


def policy_parts(value: Any) -> tuple[str, list[Any] | None] | None:
    """A policy of `jax.checkpoint`: its public name, and the arguments of the function that made it, if one did."""
    if getattr(value, "__module__", None) != jax.checkpoint.__module__:
        return None
    policies = vars(jax.checkpoint_policies)
    known = next((name for name, one in policies.items() if one is value or one == value), None)
    if known is not None:
        return known, None
    if dataclasses.is_dataclass(value):
        given = [getattr(value, field.name) for field in dataclasses.fields(value)]
        for name, factory in policies.items():
            for args in ([*_items(given)], given):
                if inspect.isfunction(factory) and _gives(factory, args, value):
                    return name, args
        return None
    return _made_by(value, policies)


def _items(parts: Sequence[Any]) -> Iterator[Any]:
    for part in parts:
        yield from sorted(part) if isinstance(part, (set, frozenset)) else [part]


def _gives(factory: Callable[..., Any], args: Sequence[Any], value: Any) -> bool:
    try:
        return bool(factory(*args) == value)
    except (TypeError, ValueError):
        return False


def _made_by(value: Any, policies: Mapping[str, Any]) -> tuple[str, list[Any]] | None:
    """The function that has made a closure, and the arguments that it keeps: older releases of JAX."""
    outer = getattr(value, "__qualname__", "").split(".")[0]
    factory = policies.get(outer)
    if factory is None or getattr(value, "__closure__", None) is None:
        return None
    names_ = value.__code__.co_freevars
    cells = dict(zip(names_, (cell.cell_contents for cell in value.__closure__), strict=True))
    found: list[Any] = []
    for name, parameter in inspect.signature(factory).parameters.items():
        if name not in cells or parameter.kind is parameter.KEYWORD_ONLY:
            return None
        found += sorted(cells[name]) if parameter.kind is parameter.VAR_POSITIONAL else [cells[name]]
    return outer, found


def typed_number(value: Any) -> Any:
    """The plain number of one to which JAX has given a dtype; None for all else."""
    if type(value).__module__ != "jax._src.literals":
        return None
    return next((base(value) for base in (int, float, complex) if isinstance(value, base)), None)


def type_of(value: Any) -> Any:
    """The type of an array, number, tracer, or of what only has a shape and a dtype."""
    home = core if hasattr(core, "shaped_abstractify") else api_util
    return home.shaped_abstractify(value)  # type: ignore[attr-defined]


def hoisted(jaxpr: Any) -> Any:
    """A jaxpr without constants: their variables are its first arguments."""
    parts = opened(jaxpr)
    info = getattr(parts.jaxpr, "debug_info", None)
    if info is not None and hasattr(info, "_replace") and info.arg_names is not None:
        info = info._replace(arg_names=("",) * len(parts.constvars) + tuple(info.arg_names)[-len(parts.invars) :])
    invars = [*parts.constvars, *parts.invars]
    return Jaxpr((), invars, parts.outvars, parts.eqns, parts.jaxpr.effects, info)
