"""The other half of `internals`: parts of jaxprs made again. What it is given may be anything that bytes can say."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxshrink.jaxprs import internals, keeping, kinds, private
from jaxshrink.jaxprs.errors import Inexpressible
from jaxshrink.jaxprs.private import core, prng, source_info_util, state_types

sharding_: Any = jax.sharding

_OPTIONAL = {
    "pallas": ("jax.experimental.pallas", "jax.experimental.pallas.tpu"), "sparse": ("jax.experimental.sparse",),
}  # fmt: skip
"""Modules of JAX's own that define primitives and may not have been imported yet."""


def primitive(dotted: str) -> Any:
    """The primitive that a module has under a name, None where none has it. Nothing is imported but JAX's own."""
    module, _, name = dotted.rpartition(".")
    if module.partition(".")[0] == "jax":
        for word, optional in _OPTIONAL.items():
            for one in optional if word in module.split(".") else ():
                with contextlib.suppress(ImportError):
                    importlib.import_module(one)
    found = getattr(sys.modules.get(module), "__dict__", {}).get(name)
    return found if isinstance(found, internals.Primitive) else None


def moved(name: str) -> Any:
    """The primitive of JAX's own that has a name, wherever it is now; None where there is none."""
    return next((one for one in internals.primitives_of_jax() if one.name == name), None)


def missing(name: str, is_elsewhere: bool = False) -> Any:
    """A primitive that raises when it is used; `is_elsewhere`: another release of JAX has it."""
    stub: Any = internals.Primitive(name)
    stub.multiple_results = stub.is_missing = True
    stub.is_elsewhere = is_elsewhere

    def raises(*args: Any, **params: Any) -> Any:
        raise NotImplementedError(f"the primitive {name} was not kept when this jaxpr was made into bytes")

    stub.def_impl(raises)
    stub.def_abstract_eval(raises)
    return stub


def is_missing(primitive: Any) -> bool:
    """Whether a primitive is one that raises, and will."""
    return bool(getattr(primitive, "is_missing", False)) and not primitive.is_elsewhere


def is_elsewhere(primitive: Any) -> bool:
    """Whether a primitive is one that only another release of JAX has."""
    return bool(getattr(primitive, "is_elsewhere", False))


def effect(name: str, var: Any, axis: Any) -> Any:
    """An effect by its class. Raises KeyError for classes that are not known."""
    if name == "NamedAxisEffect":
        return core.NamedAxisEffect(axis)
    if name == "NoDCEEffect":
        return private.lax.no_dce_effect
    if name in ("InternalMutableArrayEffect", "ArrayRefEffect"):
        return core.internal_mutable_array_effect
    kinds = {"ReadEffect": state_types.ReadEffect, "WriteEffect": state_types.WriteEffect,
             "AccumEffect": state_types.AccumEffect}  # fmt: skip
    return kinds[name](var)


def array_type(shape: tuple[Any, ...], dtype: Any, weak: bool, extras: Mapping[str, Any]) -> Any:
    """The type of an array."""
    more: dict[str, Any] = {}
    if "sharding" in extras:
        more["sharding"] = extras["sharding"]
    if "varying" in extras:
        if hasattr(sharding_, "ManualAxisType"):
            more["manual_axis_type"] = sharding_.ManualAxisType(varying=extras["varying"])
        else:
            more["vma"] = extras["varying"]
    if "named_shape" in extras and hasattr(internals.ShapedArray, "named_shape"):
        more["named_shape"] = extras["named_shape"]
    return internals.ShapedArray(shape, dtype, weak, **more)


def reference_type(inner: Any, memory_space: Any) -> Any:
    """The type of a mutable reference."""
    return state_types.AbstractRef(inner, memory_space)


def token_type() -> Any:
    """The type of a token."""
    return core.abstract_token


def key_type(impl: str) -> Any:
    """The dtype of keys. Raises ValueError where there is no such generator."""
    return jax.random.key(0, impl=impl).dtype if impl in key_impls() else _no(f"there is no generator {impl[:40]!r}")


def key_impls() -> tuple[str, ...]:
    """The names of generators."""
    return tuple(prng.prngs)


def key_impl(impl: str) -> Any:
    """A generator. Raises ValueError where there is none of the name."""
    return prng.prngs[impl] if impl in prng.prngs else _no(f"there is no generator {impl[:40]!r}")


def _no(why: str) -> Any:
    raise ValueError(why)


def sharding(kind: str, parts: Sequence[Any]) -> Any:
    """What `sharding_parts` has taken apart. Raises whatever JAX raises."""
    match kind, list(parts):
        case "P", [given]:
            return sharding_.PartitionSpec(*given)
        case "unconstrained", []:
            return sharding_.PartitionSpec.UNCONSTRAINED
        case "Mesh", [[], [], [], _]:
            return sharding_.Mesh(np.empty((), dtype=object), ())
        case "Mesh", [shape, names, ids, types]:
            devices = {device.id: device for device in jax.devices()}
            if any(one not in devices for one in ids):
                raise MissingDevices(f"the jaxpr needs the devices {ids}, and there are {len(devices)}")
            found = np.array([devices[one] for one in ids], dtype=object).reshape(tuple(shape))
            return sharding_.Mesh(found, tuple(names), **_typed(types))
        case "AbstractMesh", [sizes, names, types, device]:
            more = {} if device is None else {"abstract_device": kinds.made(sharding_.AbstractDevice, device)}
            return sharding_.AbstractMesh(tuple(sizes), tuple(names), **_typed(types), **more)
        case "NamedSharding", [mesh, spec, memory]:
            return sharding_.NamedSharding(mesh, spec, memory_kind=memory)
        case "SingleDevice", [device, memory]:
            return sharding_.SingleDeviceSharding(_device(device), memory_kind=memory)
        case "Device", [device]:
            return _device(device)
    return _no(f"there is no sharding {kind}")


class MissingDevices(RuntimeError):
    """A mesh has more devices than there are."""


def _device(number: int) -> Any:
    found = next((device for device in jax.devices() if device.id == number), None)
    if found is None:
        raise MissingDevices(f"the jaxpr needs the device {number}")
    return found


def _typed(types: Sequence[str]) -> dict[str, Any]:
    kinds = getattr(sharding_, "AxisType", None)
    return {"axis_types": tuple(kinds[one] for one in types)} if types and kinds is not None else {}


def policy(name: str, arguments: keeping.Arguments | None) -> Any:
    """A policy of `jax.checkpoint`."""
    found = vars(jax.checkpoint_policies)[name]
    if arguments is None:
        return found
    args, options = arguments
    return found(*args, **options)


# -- equations


def name_stack(scopes: Sequence[str]) -> Any:
    """The names of scopes, as JAX has them."""
    return source_info_util.NameStack(tuple(map(source_info_util.Scope, scopes)))


def source(frame: Any, stack: Any) -> Any:
    """Where an equation comes from: one frame, and a stack of names."""
    return source_info_util.SourceInfo(frame, stack)


def frame(file: str, line: int, function: str) -> Any:
    """What JAX knows of a place in a program: where a function of that name, which is told to be there, is now."""
    code = _HERE.__code__.replace(co_filename=file, co_name=function, co_qualname=function, co_firstlineno=line)
    return types.FunctionType(code, _HERE.__globals__)()


_HERE: Any = lambda: private.xla_client.Traceback.get_traceback()  # noqa: E731 - one line


def context(settings: Mapping[str, Any]) -> Any:
    """The settings of an equation: those of one that is traced under them."""
    with contextlib.ExitStack() as stack:
        if "threefry_partitionable" in settings:
            stack.enter_context(jax.threefry_partitionable(settings["threefry_partitionable"]))
        if settings.get("compute_type"):
            from jax.experimental.compute_on import compute_on

            stack.enter_context(compute_on(settings["compute_type"]))
        if "mesh" in settings:
            if private.use_abstract_mesh is None:
                raise Inexpressible(f"the jaxpr is for a mesh, and JAX {jax.__version__} knows none while it traces")
            stack.enter_context(private.use_abstract_mesh(settings["mesh"]))
        if settings.get("xla_metadata"):
            metadata: Any = importlib.import_module("jax.experimental.xla_metadata")
            stack.enter_context(metadata.set_xla_metadata(**settings["xla_metadata"]))
        return core.JaxprEqnContext() if _MAKES_CONTEXT else _old_context(settings)


_MAKES_CONTEXT = not hasattr(getattr(core.JaxprEqnContext, "__init__", None), "__code__")  # it has arguments of its own


def _old_context(settings: Mapping[str, Any]) -> Any:
    return core.JaxprEqnContext(settings.get("compute_type"), bool(settings.get("threefry_partitionable")))


def variable(aval: Any) -> Any:
    """A new variable."""
    return internals.Var(aval) if _VAR_TAKES_TYPE else internals.Var("", aval)


_VAR_TAKES_TYPE = "suffix" not in internals.Var.__init__.__code__.co_varnames


def equation(invars: Any, outvars: Any, primitive: Any, params: Any, effects: Any, info: Any, ctx: Any) -> Any:
    """An equation as it is said to be; nothing is checked."""
    return core.JaxprEqn(invars, outvars, primitive, params, effects, info, ctx)


def jaxpr(constvars: Any, invars: Any, outvars: Any, eqns: Any, effects: Any, info: tuple[str, Any, Any]) -> Any:
    """A jaxpr that is not closed."""
    function, arg_names, paths = info
    kind = internals.debug_info_class() or core.JaxprDebugInfo  # JAX 0.4
    debug = kind("jit", function, tuple(arg_names), tuple(paths))
    return internals.Jaxpr(constvars, invars, outvars, eqns, effects, debug)


def checked(jaxpr: Any) -> None:
    """Raise whatever JAX raises where a jaxpr makes no sense."""
    core.check_jaxpr(internals.opened(jaxpr).jaxpr)


def with_equations(jaxpr: Any, eqns: Sequence[Any]) -> Any:
    """A jaxpr, closed or not, with other equations between its arguments and its results."""
    inner = internals.opened(jaxpr).jaxpr.replace(eqns=list(eqns))
    return jaxpr.replace(jaxpr=inner) if inner.__class__ is not jaxpr.__class__ else inner


def stand_in(outvars: Sequence[Any]) -> Any:
    """An equation of which only the types of its results are known."""
    params = {"types": tuple(var.aval for var in outvars)}
    info = source(None, name_stack(()))
    return equation([], list(outvars), _STAND_IN, params, internals.no_effects, info, context({}))


_STAND_IN: Any = internals.Primitive("stand_in")
_STAND_IN.multiple_results = True
_STAND_IN.def_abstract_eval(lambda types: types)


def custom_call(fun: Callable[..., Any], avals: Sequence[Any]) -> Any:
    """The equation of a call of a function with derivative rules, on arguments of these types."""
    made = internals.opened(internals.traced(lambda *args: jax.tree_util.tree_leaves(fun(*args)), avals))
    return made.eqns[-1]


def scanned() -> Any:
    """The results of a scan."""
    return jax.lax.scan(lambda carry, x: (carry, x), 0.0, np.zeros(1, np.float32))


@functools.cache
def _options_of_scan() -> frozenset[str]:
    made = internals.opened(internals.traced(lambda: jax.tree_util.tree_leaves(scanned()), ()))
    return frozenset(made.eqns[-1].params)


def scan_params(counts: Sequence[int], operands: int, results: int) -> dict[str, Any]:
    """The options with which JAX tells a scan's consts, carries and the rest apart."""
    consts, carry = counts
    if "ft_in" not in _options_of_scan():
        found = {"num_consts": consts, "num_carry": carry, "linear": (False,) * operands}
        return {name: value for name, value in found.items() if name in _options_of_scan()}
    ft = private.flattree  # JAX 0.12
    parts = (ft.nones(consts), ft.nones(carry), ft.nones(operands - consts - carry))
    return {"ft_in": ft.pack(parts), "ft_out": ft.pack((ft.nones(carry), ft.nones(results - carry)))}


def with_consts(params: dict[str, Any], count: int) -> dict[str, Any]:
    """The options of a call whose function has so many operands more, which it closes over."""
    trees = params.get("out_trees")
    if not count or trees is None:
        return params

    def shifted() -> Any:
        out, residuals, *rest = trees()
        return (out, residuals, *([None if one is None else one + count for one in part] for part in rest))

    return {**params, "out_trees": shifted}


def filled(aval: Any) -> Any:
    """A value of a type."""
    if internals.is_key_type(aval.dtype):
        return jax.numpy.broadcast_to(jax.random.key(0, impl=aval.dtype._impl.name), aval.shape)
    value = jax.lax.full(aval.shape, 0, aval.dtype)
    return jax.lax.convert_element_type(value, _PYTHON[aval.dtype.kind]) if aval.weak_type else value


_PYTHON: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
"""The types of Python's numbers, which are weak, by kind of dtype."""


def zeros(aval: Any) -> Any:
    """An array of zeros, as large as a type says."""
    return np.zeros(aval.shape, aval.dtype)


def zero_tangent(value: Any) -> Any:
    """The tangent that is zero."""
    dtype = jax.numpy.result_type(value)
    if jax.numpy.issubdtype(dtype, jax.numpy.inexact):
        return jax.numpy.zeros_like(value)
    return np.zeros(np.shape(value), jax.dtypes.float0)


def typed_number(value: Any, dtype: Any) -> Any:
    """A plain number with a dtype, as JAX has it in jaxprs."""
    if private.literals is None:
        return np.dtype(dtype).type(value)
    classes = (one for one in vars(private.literals).values() if isinstance(one, type) and issubclass(one, type(value)))
    return next(classes)(value, dtype)


def on_host(value: jax.Array, aval: Any) -> Any:
    """A number of a weak type as JAX has it in jaxprs: an array on a device would be a constant where what it stands in
    is traced again."""
    kind = getattr(private.literals, "TypedNdArray", None)
    return value.item() if kind is None else kind(np.asarray(value), aval)


def tree(node: tuple[type, Any], children: Sequence[Any]) -> Any:
    """The structure of a pytree: that of one whose leaves may be anything."""
    kind, aux = node
    parts = [jax.tree_util.tree_unflatten(child, [object()] * child.num_leaves) for child in children]
    if kind in (tuple, list):
        return jax.tree_util.tree_structure(kind(parts))
    if kind is dict:
        return jax.tree_util.tree_structure(dict(zip(aux, parts, strict=True)))
    of_class: Any = kind
    return jax.tree_util.tree_structure(None if kind is type(None) else of_class.tree_unflatten(aux, parts))
