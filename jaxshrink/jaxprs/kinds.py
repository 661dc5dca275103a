"""Classes of JAX's whose instances are plain data: the only ones that `loads` makes by name."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from jaxshrink.jaxprs import private
from jaxshrink.jaxprs.errors import Inexpressible

_CLASSES = (
    "lax.slicing:GatherDimensionNumbers", "lax.slicing:ScatterDimensionNumbers", "lax.slicing:GatherScatterMode",
    "lax.convolution:ConvDimensionNumbers", "lax.lax:Precision", "lax.lax:DotAlgorithm", "lax.lax:DotAlgorithmPreset",
    "lax.lax:RaggedDotDimensionNumbers", "lax.lax:RandomAlgorithm", "lax.lax:RoundingMethod", "lax.lax:Tolerance",
    "lax.lax:AccuracyMode", "lax.fft:FftType", "lax.linalg:EigImplementation", "lax.linalg:SvdAlgorithm",
    "lax.linalg:EighImplementation", "lax.control_flow.solves:_LinearSolveTuple", "api:Inline",
    "sharding_impls:UnspecifiedValue", "named_sharding:UnspecifiedValue", "mesh:AxisType", "mesh:ResourceEnv",
    "core:MemorySpace", "core:ShapeDtypeStruct", "frozen_dict:FrozenDict", "layout:Layout", "layout:DeviceLocalLayout",
    "layout:AutoLayoutSingleton", "dispatch:CopySemantics", "dispatch:ArrayCopySemantics",
    "jaxlib._jax:ArrayCopySemantics", "lib:xla_client.FftType", "lib:xla_client.ops.RandomAlgorithm",
)  # fmt: skip


_PALLAS = tuple(f"pallas.core:{name}" for name in (
    "GridMapping", "BlockMapping", "Blocked", "Squeezed", "MemorySpace", "Element", "CostEstimate", "Buffered",
    "BoundedSlice",
))  # fmt: skip
_TPU = tuple(f"pallas.mosaic.core:{name}" for name in (
    "MemorySpace", "TPUMemorySpace", "CompilerParams", "TPUCompilerParams", "GridDimensionSemantics",
))  # fmt: skip


def classes() -> dict[str, type]:
    """Name → class, of those that this release of JAX has; those of Pallas where that is imported already."""
    pallas = _PALLAS if "jax._src.pallas.core" in sys.modules else ()
    tpu = _TPU if "jax._src.pallas.mosaic.core" in sys.modules else ()
    return _found(_CLASSES + pallas + tpu)


@functools.cache
def _found(names: tuple[str, ...]) -> dict[str, type]:
    found: dict[str, type] = {}
    for dotted in names:
        value = private.found(dotted)
        if isinstance(value, type):
            found.setdefault(_name(dotted), value)
    return found


def _name(dotted: str) -> str:
    """The last part of a name; Pallas has some that the rest of JAX has too."""
    last = re.split("[:.]", dotted)[-1]
    kind = "tpu." if dotted in _TPU else "pallas." if dotted.startswith("pallas.") else ""
    return f"{kind}{last}"


def name_of(kind: type) -> str | None:
    """The name of a class of plain data, None for others."""
    return next((name for name, one in classes().items() if one is kind), None)


def named(name: str) -> type:
    """The class of a name. Raises Inexpressible where this JAX has none."""
    if name not in classes():
        raise Inexpressible(f"JAX {jax.__version__} has no class {name[:40]} of options")
    return classes()[name]


@dataclasses.dataclass(frozen=True)
class Unknown:
    """A value that only another release of JAX has."""

    text: str


# -- enumerations

_RENAMED = {"CopySemantics": ("ArrayCopySemantics",
                              {"ALIAS": "REUSE_INPUT", "COPY": "ALWAYS_COPY", "DONATE": "DONATE_INPUT"})}  # fmt: skip
"""Enumerations that older releases have under another name, with the members that are called otherwise."""


def member(value: Any) -> tuple[str, str] | None:
    """The names of an enumeration and of its member, as new releases have them; None for other values."""
    name = name_of(type(value))
    called = getattr(value, "name", None)
    if name is None or not isinstance(called, str) or getattr(type(value), called, None) != value:
        return None
    renamed, members = _RENAMED.get(name, (name, {}))
    return renamed, members.get(called, called)


def member_of(name: str, wanted: str) -> Any:
    """The member of an enumeration. Raises Inexpressible where this JAX has none."""
    for old, (new, members) in _RENAMED.items():
        if new == name and old in classes():
            name, wanted = old, {one: other for other, one in members.items()}.get(wanted, wanted)
    found = getattr(named(name), wanted, None)
    if not isinstance(found, named(name)):
        raise Inexpressible(f"{name} has no member {wanted[:40]} in JAX {jax.__version__}")
    return found


# -- records


def fields(value: Any) -> dict[str, Any] | None:
    """What an instance of such a class is made of, by the names of its parts; None where that is not known."""
    if isinstance(value, Mapping):
        return {"d": dict(value)}
    if isinstance(value, tuple):
        return dict(zip(_fields_of(type(value)), value, strict=True))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(type(value), "__slots__"):
        return {name: getattr(value, name) for name in inspect.signature(type(value)).parameters}
    if not getattr(value, "__dict__", None):
        return {}
    names = list(inspect.signature(type(value)).parameters)
    return {name: getattr(value, name) for name in names} if set(names) == set(vars(value)) else None


def _fields_of(kind: Any) -> Sequence[str]:
    return kind._fields  # type: ignore[no-any-return]


def made(kind: type, parts: Mapping[str, Any]) -> Any:
    """An instance, made of its parts. What another release of JAX says in addition may only be nothing.

    Raises Inexpressible where it is something, and whatever the class raises.
    """
    if kind.__name__ == "UnspecifiedValue":
        return private.found("sharding_impls:UNSPECIFIED")
    takes = inspect.signature(kind).parameters if parts else ()
    for name in parts.keys() - takes:
        if not is_neutral(parts[name]):
            raise Inexpressible(f"{kind.__name__} has no {name[:40]} in JAX {jax.__version__}: it is {parts[name]}")
    given = {name: value for name, value in parts.items() if name in takes}
    return kind(**given) if given else _the(kind)


def is_neutral(value: Any) -> bool:
    """Whether a value says nothing: None, False, nothing in a sequence, or such values alone."""
    if isinstance(value, (tuple, list, set, frozenset)):
        return all(map(is_neutral, value))
    is_empty = isinstance(value, (str, Mapping)) and not value
    is_unspecified = type(value).__name__ == "UnspecifiedValue" or getattr(value, "empty", False) is True
    return value is None or value is False or is_empty or is_unspecified


@functools.cache
def _the(kind: type) -> Any:
    return kind()


# -- pytrees

_NODES: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict, "NoneType": type(None)}


@functools.cache
def nodes() -> dict[str, type]:
    """Name → class, of the pytrees that options may hold."""
    return {**_NODES, "NDIndexer": private.indexing.NDIndexer, "Slice": private.indexing.Slice}


def node_name(kind: type) -> str | None:
    """The name of a class of pytrees, None for others."""
    return next((name for name, one in nodes().items() if one is kind), None)
