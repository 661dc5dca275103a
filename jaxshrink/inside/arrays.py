"""Arrays, tracers, keys and their dtypes as recipes. Runs in the target interpreter."""

import sys
import time

import abstract
from recorder import BIG, Summary

FULL = 64
"""Elements up to which all of an array is told."""

_PAUSES = iter([0.002] * 150)
"""Seconds to wait for arrays that are still computed, all in all: some never will be."""


def array_recipe(value):
    """The recipe of an array, array scalar, tracer, Summary or ShapeDtypeStruct; None for other things."""
    kind = type(value)
    if kind is Summary:
        return _recipe(value.lib, value.shape, value.dtype, weak=value.weak, tracer=value.tracer)
    numpy, jax, core = sys.modules.get("numpy"), sys.modules.get("jax"), sys.modules.get("jax._src.core")
    if numpy and issubclass(kind, (numpy.ndarray, numpy.generic)):
        if value.dtype.hasobject:
            return None
        scalar = issubclass(kind, numpy.generic)
        return _recipe("numpy", value.shape, value.dtype, scalar=scalar, **_contents(numpy, value))
    if core and issubclass(kind, core.Tracer):
        aval = value.aval
        return _recipe("jax", aval.shape, aval.dtype, weak=_weak(aval), tracer=not abstract.is_array_class(kind))
    struct = getattr(jax, "ShapeDtypeStruct", None)
    if struct and kind is struct:
        return {"k": "struct", "shape": _shape(value.shape), "dtype": str(value.dtype)}
    if struct and issubclass(kind, jax.Array):
        contents = {} if str(value.dtype).startswith("key<") else _read(numpy, value)
        return _recipe("jax", value.shape, value.dtype, weak=_weak(value.aval), **contents)
    return None


def dtype_name(value):
    """`jax.numpy.bfloat16` for a dtype or scalar type, None for other things."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    is_type = issubclass(type(value), type) and issubclass(value, numpy.generic)
    if not is_type and not issubclass(type(value), numpy.dtype):
        return None
    name = value.__name__ if is_type else value.name
    for lib in ("jax.numpy", "numpy"):
        its_own = not is_type or lib == "numpy" or not hasattr(numpy, name)
        if its_own and hasattr(sys.modules.get(lib), name):
            return lib + "." + name
    return None


def _recipe(lib, shape, dtype, weak=False, tracer=False, scalar=False, **contents):
    key = str(dtype).startswith("key<")
    recipe = {"k": "array", "lib": lib, "shape": _shape(shape), "dtype": str(dtype), "weak": weak, "tracer": tracer}
    return {**recipe, "key": key, "scalar": scalar, "data": None, **contents}


def _shape(shape):
    """Plain integers: a shape may hold NumPy's, or symbolic sizes (told as text)."""
    return [int(size) if hasattr(size, "__index__") else str(size) for size in shape]


def _weak(aval):
    return bool(getattr(aval, "weak_type", False))


def _read(numpy, value):
    """Contents of a concrete JAX array: nothing where it was deleted (donated, too), is large, or is not computed."""
    try:
        if value.is_deleted():
            return {"deleted": True}
        if value.nbytes > BIG or not _is_ready(value):
            return {}
        value.block_until_ready()  # raises where computing it failed: of reading such an array, the process may die
        return _contents(numpy, numpy.asarray(value))
    except Exception:
        return {}


def _is_ready(value):
    while not value.is_ready():
        pause = next(_PAUSES, None)
        if pause is None:
            return False
        time.sleep(pause)
    return True


def _contents(numpy, value):
    value = numpy.asarray(value)
    if value.dtype.kind in "OMm" or value.dtype.fields or value.nbytes > BIG or not value.size:
        return {}
    text = value.dtype.kind in "US"
    flat = value.ravel()
    contents = {}
    if value.size <= FULL:
        contents["data"] = _nest([_element(one) for one in flat], value.shape)
    if value.dtype.kind == "V":  # bfloat16 and other extension types
        flat = flat.astype(numpy.float32)
    if not text and value.dtype.kind != "c":
        known = flat[~numpy.isnan(flat)] if flat.dtype.kind == "f" else flat
        contents["nan"] = len(known) < len(flat)
        if len(known):
            contents["min"] = _element(known.min())
    return contents


def _element(one):
    """A plain number; the shortest that the dtype rounds to the same."""
    kind = one.dtype.kind
    if kind == "b":
        return bool(one)
    if kind in "iu":
        return int(one)
    if kind in "fV":
        return float(str(one))
    return str(one)


def _nest(elements, shape):
    """The flat list as nested lists of that shape; a bare element for shape ()."""
    for size in reversed(shape[1:]):
        elements = [elements[start : start + size] for start in range(0, len(elements), size)]
    return elements if shape else elements[0]
