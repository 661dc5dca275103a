"""Classes of JAX's whose instances are plain data: the only ones that `loads` makes by name."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
from typing import Any

_CLASSES = (
    "jax._src.lax.slicing:GatherDimensionNumbers", "jax._src.lax.slicing:ScatterDimensionNumbers",
    "jax._src.lax.slicing:GatherScatterMode", "jax._src.lax.convolution:ConvDimensionNumbers",
    "jax._src.lax.lax:Precision", "jax._src.lax.lax:DotAlgorithm", "jax._src.lax.lax:DotAlgorithmPreset",
    "jax._src.lax.lax:RaggedDotDimensionNumbers", "jax._src.lax.lax:RandomAlgorithm", "jax._src.lax.lax:RoundingMethod",
    "jax._src.lax.lax:Tolerance", "jax._src.lax.lax:AccuracyMode", "jax._src.lax.fft:FftType",
    "jax._src.lax.linalg:EigImplementation", "jax._src.lax.linalg:SvdAlgorithm",
    "jax._src.lax.linalg:EighImplementation", "jax._src.lax.control_flow.solves:_LinearSolveTuple",
    "jax._src.lax.control_flow.conditionals:BranchesPlatforms", "jax._src.pjit:Inline", "jax._src.api:Inline",
    "jax._src.sharding_impls:UnspecifiedValue", "jax._src.named_sharding:UnspecifiedValue",
    "jax._src.mesh:AxisType", "jax._src.dtypes:float0", "jax._src.core:MemorySpace", "jax._src.memory:Space",
    "jax._src.lax.other:DotAlgorithm", "jax._src.dispatch:ArrayCopySemantics", "jaxlib._jax:ArrayCopySemantics",
    "jaxlib.xla_extension:FftType", "jax._src.array:ArrayCopySemantics", "jax._src.lib:xla_client.FftType",
    "jax._src.lax.lax:CopySemantics", "jax._src.dispatch:CopySemantics", "jax._src.lax.convolution:PaddingType",
    "jax._src.interpreters.batching:NumpyIndexMode",
)  # fmt: skip


@functools.cache
def classes() -> dict[str, type]:
    """Name → class, of those that this release of JAX has."""
    found = {}
    for dotted in _CLASSES:
        module, _, name = dotted.partition(":")
        try:
            value: Any = importlib.import_module(module)
            for part in name.split("."):
                value = getattr(value, part)
        except (ImportError, AttributeError):
            continue
        if isinstance(value, type):
            found[name.rpartition(".")[2]] = value
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
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    return [] if not getattr(value, "__dict__", None) else None


def made(kind: type, parts: list[Any]) -> Any:
    """An instance, made of its parts. Raises whatever the class raises."""
    if issubclass(kind, enum.Enum) or hasattr(kind, "__members__"):
        if len(parts) != 1 or parts[0] not in kind.__members__:
            raise ValueError(f"{kind.__name__} has no such member")
        return kind.__members__[parts[0]]
    if not issubclass(kind, tuple) and not dataclasses.is_dataclass(kind):
        return _single(kind, parts)
    return kind(*parts)


@functools.cache
def _the(kind: type) -> Any:
    return kind()


def _single(kind: type, parts: list[Any]) -> Any:
    """The one instance of a class that has no parts, as JAX itself has it."""
    if parts:
        raise ValueError(f"{kind.__name__} has no parts")
    if kind.__name__ == "UnspecifiedValue":
        return importlib.import_module("jax._src.sharding_impls").UNSPECIFIED
    return _the(kind)


_NODES: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict, "NoneType": type(None)}


@functools.cache
def nodes() -> dict[str, type]:
    """Name → class, of the pytrees that options may hold."""
    indexing: Any = importlib.import_module("jax._src.state.indexing")
    return {**_NODES, "NDIndexer": indexing.NDIndexer, "Slice": indexing.Slice}


def node_name(kind: type) -> str | None:
    """The name of a class of pytrees, None for others."""
    return next((name for name, one in nodes().items() if one is kind), None)
