"""Classes of JAX's whose instances are plain data: the only ones that `loads` makes by name."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
import sys
from collections.abc import Mapping
from typing import Any

from jaxshrink.jaxprs import private

_CLASSES = (
    "lax.slicing:GatherDimensionNumbers", "lax.slicing:ScatterDimensionNumbers", "lax.slicing:GatherScatterMode",
    "lax.convolution:ConvDimensionNumbers", "lax.lax:Precision", "lax.lax:DotAlgorithm", "lax.lax:DotAlgorithmPreset",
    "lax.lax:RaggedDotDimensionNumbers", "lax.lax:RandomAlgorithm", "lax.lax:RoundingMethod", "lax.lax:Tolerance",
    "lax.lax:AccuracyMode", "lax.fft:FftType", "lax.linalg:EigImplementation", "lax.linalg:SvdAlgorithm",
    "lax.linalg:EighImplementation", "lax.control_flow.solves:_LinearSolveTuple", "api:Inline",
    "sharding_impls:UnspecifiedValue", "named_sharding:UnspecifiedValue", "mesh:AxisType", "core:MemorySpace",
    "dispatch:ArrayCopySemantics", "layout:Layout", "layout:DeviceLocalLayout",
    "layout:AutoLayoutSingleton", "frozen_dict:FrozenDict", "jaxlib._jax:ArrayCopySemantics", "lib:xla_client.FftType",
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
    found = {}
    for dotted in names:
        value = private.found(dotted)
        if isinstance(value, type):
            name = re.split("[:.]", dotted)[-1]
            found[f"tpu.{name}" if dotted in _TPU else name] = value
    return found


def name_of(kind: type) -> str | None:
    """The name of a class of plain data, None for others."""
    return next((name for name, one in classes().items() if one is kind), None)


def fields(value: Any) -> list[Any] | None:
    """What an instance of such a class is made of, None where that is not known."""
    if isinstance(value, enum.Enum) or hasattr(type(value), "__members__"):
        return [value.name]
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [dict(value)]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if not getattr(value, "__dict__", None):
        return []
    names = list(inspect.signature(type(value)).parameters)
    return [getattr(value, name) for name in names] if set(names) == set(vars(value)) else None


def made(kind: type, parts: list[Any]) -> Any:
    """An instance, made of its parts. Raises whatever the class raises."""
    if issubclass(kind, enum.Enum) or hasattr(kind, "__members__"):
        if len(parts) != 1 or parts[0] not in kind.__members__:
            raise ValueError(f"{kind.__name__} has no such member")
        return kind.__members__[parts[0]]
    if not parts and not issubclass(kind, tuple) and not dataclasses.is_dataclass(kind):
        return _single(kind)
    return kind(*parts)


@functools.cache
def _the(kind: type) -> Any:
    return kind()


def _single(kind: type) -> Any:
    """The one instance of a class that has no parts, as JAX itself has it."""
    if kind.__name__ == "UnspecifiedValue":
        return private.found("sharding_impls:UNSPECIFIED")
    return _the(kind)


_NODES: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict, "NoneType": type(None)}


@functools.cache
def nodes() -> dict[str, type]:
    """Name → class, of the pytrees that options may hold."""
    return {**_NODES, "NDIndexer": private.indexing.NDIndexer, "Slice": private.indexing.Slice}


def node_name(kind: type) -> str | None:
    """The name of a class of pytrees, None for others."""
    return next((name for name, one in nodes().items() if one is kind), None)
