"""Operators that neither operand knows: each gives NotImplemented, and the error is Python's own."""

import functools
import weakref

from .calls import Operator
from .values import is_array

_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_SIGNS = {"lt": "<", "gt": ">", "le": "<=", "ge": ">="}


class Refused:
    """A call of an operator that gave NotImplemented. Arrays in it live no longer than the program keeps them."""

    def __init__(self, func, args):
        self.func, self.args = func, [_held(arg) for arg in args]

    def call(self, error):
        """The operator and its operands as they were written, with ones for an array that is no more."""
        return _as_written(self.func, [get() for get in self.args], error)


def refuse(scope, error):
    """Have the operator that was refused in a scope be what an error came through, if no call is."""
    call = scope.refused
    if call is not None and scope.failing is None:
        call.func, call.args = _as_written(call.func, call.args, error)
        call.error = error
        scope.calls.append(call)


def _as_written(func, args, error):
    """The operator and its operands as the program wrote them: Python asks the right one with the mirrored operator."""
    other = _MIRRORED.get(getattr(func, "name", None))
    if other is not None and str(error).startswith(f"'{_SIGNS[other]}' not supported"):
        return Operator(other), args[::-1]
    return func, args


def _held(value):
    if is_array(value) and not isinstance(value, (int, float, complex)):  # a number with a type is held as it is
        return functools.partial(_array, weakref.ref(value), value.shape, value.dtype)
    if type(value) in (tuple, list):
        return functools.partial(_sequence, type(value), [_held(item) for item in value])
    return lambda: value


def _array(held, shape, dtype):
    value = held()
    if value is None:
        import jax

        value = jax.numpy.ones(shape, dtype)
    return value


def _sequence(kind, items):
    return kind(get() for get in items)
