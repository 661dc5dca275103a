"""Numbers of Python and NumPy that a function closes over, as values like any others.

JAX makes them part of the code. But they are in the function's cells, in the defaults of its parameters, in partials
and bound methods, and in the functions and pytrees that are found there: so the function can be made again with other
values in these places. Where a number must be one, for a shape, an axis, a branch, an exponent, a count of steps, it is
left alone: it is taken out only where JAX traces the very same work on arrays with a value in its place.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from jaxshrink.jaxprs import internals

_CLASSES = (int, float, complex)


def closed_over(fun: Callable[..., Any]) -> list[Any]:
    """The numbers that a function closes over; booleans are none, nor are the module's variables."""
    found: list[Any] = []
    _made(fun, found.append, set())
    return found


def replaced(fun: Callable[..., Any], values: Sequence[Any]) -> Callable[..., Any]:
    """The function with other values in place of its numbers."""
    rest = iter(values)
    made: Callable[..., Any] = _made(fun, lambda number: next(rest), set())
    return made


def chosen(count: int, suits: Callable[[Sequence[int]], bool]) -> list[int]:
    """A largest part of so many numbers that suits: halves of what does not are tried."""
    kept: list[int] = []
    waiting = [list(range(count))]
    while waiting:
        group = waiting.pop(0)
        if suits([*kept, *group]):
            kept += group
        elif len(group) > 1:
            waiting[:0] = [group[: len(group) // 2], group[len(group) // 2 :]]
    return kept


def work(jaxpr: Any, of_numbers: Sequence[bool]) -> Iterator[tuple[Any, ...]]:
    """What a jaxpr does with anything but numbers: primitives, and types of results. What is computed of numbers alone
    is one again. `of_numbers` tells which arguments are, constants first."""
    parts = internals.opened(jaxpr)
    given = [*parts.constvars, *parts.invars]
    flags = [*[False] * (len(given) - len(of_numbers)), *of_numbers[max(len(of_numbers) - len(given), 0) :]]
    known = {var for var, flag in zip(given, flags, strict=True) if flag}
    for eqn in parts.eqns:
        flags = [isinstance(atom, internals.Literal) or atom in known for atom in eqn.invars]
        if flags and all(flags):
            known.update(eqn.outvars)
            continue
        yield eqn.primitive.name, *(str(var.aval) for var in eqn.outvars)
        for inner in internals.called(eqn.params):
            yield from work(inner, flags)


def _made(value: Any, change: Callable[[Any], Any], within: set[int]) -> Any:
    """A value with its numbers changed, itself where it has none. `within` are the functions around it."""
    try:
        leaves, tree = jax.tree_util.tree_flatten(value)
    except (TypeError, ValueError):  # a dictionary whose keys have no order
        return value
    made = [_leaf(leaf, change, within) for leaf in leaves]
    if all(new is old for new, old in zip(made, leaves, strict=True)):
        return value
    return jax.tree_util.tree_unflatten(tree, made)


def _leaf(value: Any, change: Callable[[Any], Any], within: set[int]) -> Any:
    if type(value) in _CLASSES or _is_of_numpy(value):
        return change(value)
    if id(value) in within or not isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        return value
    again = functools.partial(_made, change=change, within=within | {id(value)})
    if isinstance(value, functools.partial):
        return _of_parts(value, (value.func, value.args, value.keywords), _partial, again)
    if isinstance(value, types.MethodType):
        return _of_parts(value, (value.__func__, value.__self__), types.MethodType, again)
    return _function(value, again)


def _of_parts(value: Any, parts: tuple[Any, ...], make: Callable[..., Any], again: Callable[[Any], Any]) -> Any:
    made = tuple(map(again, parts))
    return value if _same(made, parts) else make(*made)


def _partial(fun: Any, args: Any, keywords: Any) -> Any:
    return functools.partial(fun, *args, **keywords)


def _function(value: types.FunctionType, again: Callable[[Any], Any]) -> Any:
    cells = value.__closure__ or ()
    parts = (*map(_content, cells), value.__defaults__, value.__kwdefaults__)
    *contents, defaults, keywords = made = tuple(map(again, parts))
    if _same(made, parts):
        return value
    closure = tuple(cell if new is old else types.CellType(new)
                    for cell, new, old in zip(cells, contents, parts, strict=False))  # fmt: skip
    fun = types.FunctionType(value.__code__, value.__globals__, value.__name__, defaults, closure or None)
    fun.__kwdefaults__, fun.__qualname__, fun.__module__ = keywords, value.__qualname__, value.__module__
    fun.__dict__.update(value.__dict__)
    return fun


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _same(made: Sequence[Any], parts: Sequence[Any]) -> bool:
    return all(new is old for new, old in zip(made, parts, strict=True))


def _is_of_numpy(value: Any) -> bool:
    is_scalar = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
    return is_scalar and value.dtype.kind in "iufc"
