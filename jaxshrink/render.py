"""Observed values as source: arrays as `ones`, literals and containers as displays.

Conventional names (`jax`, `jnp`, `np`) may appear in what comes out; `settle` adds their imports.
"""

from __future__ import annotations

import ast
import enum
import math
import re
from collections.abc import Callable, Sequence

from jaxshrink import tree as trees
from jaxshrink.observation import Array, Collection, Dictionary, Literal, Recipe, Ref, Struct


class Style(enum.Enum):
    """Which numbers stand in an array that replaces a computed one."""

    ONES = "ones"
    ZEROS = "zeros"
    LOWEST = "lowest"  # the least number that was observed, everywhere
    EXACT = "exact"  # the observed numbers, where there are few


class Unrenderable(Exception):
    """There is no source for a value; the argument says what it is."""


MAX_NODES = 60
"""A container longer than this explains nothing."""


def plain(ref: Ref, objects: Sequence[Recipe], style: Style = Style.ONES) -> ast.expr:
    """An expression for an array, a literal or a container of these. Raises Unrenderable for others."""
    budget = [MAX_NODES]

    def write(ref: Ref) -> ast.expr:
        budget[0] -= 1
        recipe = objects[ref]
        if budget[0] < 0:
            raise Unrenderable("a long container")
        return container(recipe, write) or leaf(recipe, style)

    return write(ref)


def container(recipe: Recipe, write: Callable[[Ref], ast.expr]) -> ast.expr | None:
    """A display for a list, tuple, set or dict, its elements written by `write`; None for other values."""
    match recipe:
        case Collection(type="list", items=items):
            return ast.List([write(item) for item in items], ast.Load())
        case Collection(type="tuple", items=items):
            return ast.Tuple([write(item) for item in items], ast.Load())
        case Collection(type="set", items=items) if items:
            return ast.Set([write(item) for item in items])
        case Dictionary(type="dict", keys=keys, items=items):
            return ast.Dict([write(key) for key in keys], [write(item) for item in items])
    return None


def leaf(recipe: Recipe, style: Style = Style.ONES) -> ast.expr:
    """An expression for an array or a literal. Raises Unrenderable for others."""
    match recipe:
        case Literal(source=source):
            return trees.expression(source)
        case Array():
            return array(recipe, style)
        case Struct(shape=shape, dtype=dtype):
            return trees.expression(f"jax.ShapeDtypeStruct({_known(shape)!r}, {_full_dtype('jnp', dtype)})")
    raise Unrenderable(type(recipe).__name__)


def array(recipe: Array, style: Style = Style.ONES) -> ast.expr:
    """An array of the same shape and dtype, written as short as it can be. Raises Unrenderable for text and such."""
    _known(recipe.shape)
    if recipe.key:
        source = "jax.random.key(0)"
        return trees.expression(source if not recipe.shape else f"jax.random.split({source}, {recipe.shape!r})")
    lib = "np" if recipe.lib == "numpy" else "jnp"
    dtype = _dtype(lib, recipe.dtype)
    data = repr(recipe.data).replace("'", "").replace("inf", "float('inf')")  # complex numbers are text
    if style is Style.EXACT and recipe.data is not None and recipe.shape and not recipe.nan and ")j" not in data:
        return trees.expression(f"{lib}.array({data}, {dtype})")
    number = _number(recipe, style)
    if not recipe.shape:
        return trees.expression(number if recipe.weak else f"{_full_dtype(lib, recipe.dtype)}({number})")
    shape = str(recipe.shape[0]) if len(recipe.shape) == 1 else repr(recipe.shape)
    default = recipe.dtype == ("float32" if lib == "jnp" else "float64")
    dtype = "" if default else f", {dtype}"
    match number:
        case "1" | "1.0" | "True":
            return trees.expression(f"{lib}.ones({shape}{dtype})")
        case "0" | "0.0" | "False":
            return trees.expression(f"{lib}.zeros({shape}{dtype})")
    return trees.expression(f"{lib}.full({shape}, {number}{dtype})")


def _number(recipe: Array, style: Style) -> str:
    plain: object = 0 if style is Style.ZEROS else 1
    if style is Style.EXACT and recipe.data is not None and not recipe.shape:
        plain = recipe.data
    elif style in (Style.LOWEST, Style.EXACT) and recipe.min is not None:
        plain = recipe.min
    elif style is Style.LOWEST and not recipe.dtype.startswith(("bool", "uint")):
        plain = -1  # nothing was seen of a tracer's numbers
    if recipe.dtype == "bool":
        return str(bool(plain))
    if plain == 1 and recipe.weak and "complex" in recipe.dtype:
        return "1j"
    if isinstance(plain, int) and recipe.weak and "float" in recipe.dtype:
        plain = float(plain)
    return repr(plain) if isinstance(plain, int | float) and math.isfinite(plain) else "1"


def _dtype(lib: str, name: str) -> str:
    """How a dtype is written as an argument, where the shorter names of Python's types will do."""
    full = _full_dtype(lib, name)
    return {"bool": "bool", "int32": "int" if lib == "jnp" else full}.get(name, full)


def _full_dtype(lib: str, name: str) -> str:
    """A dtype as its library names it: NumPy knows a part of them, `bool` only lately."""
    if not _NUMERIC.fullmatch(name):
        raise Unrenderable(name)
    owner = lib if _NUMPY.fullmatch(name) else "jnp"
    return f"{owner}.{name}" + ("_" if name == "bool" else "")


_NUMERIC = re.compile(r"bool|(u?int|b?float|complex)\d+\w*")
_NUMPY = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)")


def _known(shape: Sequence[int]) -> tuple[int, ...]:
    if not all(isinstance(size, int) for size in shape):
        raise Unrenderable("a shape with symbolic sizes")
    return tuple(shape)
