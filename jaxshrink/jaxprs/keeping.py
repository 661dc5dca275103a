"""What `dumps` keeps of parts of JAX that only its internals know: effects, types, shardings, policies."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from jaxshrink.jaxprs import private
from jaxshrink.jaxprs.internals import opened


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
    if not getattr(mesh, "empty", True):
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


def generator(dtype: Any) -> str:
    """The name of the generator of a dtype of keys."""
    return str(dtype._impl.name)


def type_extras(aval: Any) -> dict[str, Any]:
    """What an array's type says beyond shape and dtype."""
    found: dict[str, Any] = {}
    sharding = getattr(aval, "sharding", None)
    if not getattr(getattr(sharding, "mesh", None), "empty", True):
        found["sharding"] = sharding
    varying = getattr(aval, "vma", None) or getattr(getattr(aval, "manual_axis_type", None), "varying", None)
    if varying:
        found["varying"] = frozenset(varying)
    if getattr(aval, "named_shape", None):
        found["named_shape"] = dict(aval.named_shape)  # JAX 0.4
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
        device = getattr(value, "abstract_device", None)
        kind_of_device = None if device is None else dataclasses.asdict(device)
        return "AbstractMesh", [[*value.axis_sizes], [*value.axis_names], _axis_types(value), kind_of_device]
    if kind is sharding.NamedSharding:
        return "NamedSharding", [value.mesh, value.spec, value.memory_kind]
    if kind is sharding.SingleDeviceSharding:
        return "SingleDevice", [next(iter(value.device_set)).id, value.memory_kind]
    if kind.__name__ in ("Device", "CpuDevice"):
        return "Device", [value.id]
    return None


def _axis_types(mesh: Any) -> list[str]:
    return [str(one).rpartition(".")[2] for one in getattr(mesh, "axis_types", None) or ()]


Arguments = tuple[list[Any], dict[str, Any]]


def policy_parts(value: Any) -> tuple[str, Arguments | None] | None:
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
                    return name, (args, {})
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


def _made_by(value: Any, policies: Mapping[str, Any]) -> tuple[str, Arguments] | None:
    """The function that has made a closure, and the arguments that it keeps. Those of any number that it does not keep
    make no difference."""
    outer = getattr(value, "__qualname__", "").split(".")[0]
    factory = policies.get(outer)
    if factory is None or not hasattr(value, "__code__"):
        return None
    names_ = value.__code__.co_freevars
    cells = dict(zip(names_, (cell.cell_contents for cell in value.__closure__ or ()), strict=True))
    args: list[Any] = []
    options: dict[str, Any] = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += sorted(cells.get(name, ()))
        elif name not in cells:
            return None
        elif parameter.kind is parameter.KEYWORD_ONLY:
            options[name] = sorted(cells[name]) if isinstance(cells[name], (set, frozenset)) else cells[name]
        else:
            args.append(cells[name])
    return outer, (args, options)


def typed_number(value: Any) -> Any:
    """The plain number of one to which JAX has given a dtype; None for all else."""
    if not _is_typed(value):
        return None
    kinds: tuple[Any, ...] = (int, float, complex)
    return next((base(value) for base in kinds if isinstance(value, base)), None)


def is_typed_array(value: Any) -> bool:
    """Whether a value is an array of the host to which JAX has given a dtype."""
    return _is_typed(value) and hasattr(value, "shape")


def _is_typed(value: Any) -> bool:
    return private.literals is not None and type(value).__module__ == private.literals.__name__
