"""Which objects are the same for JAX's caches: those that are equal, as keys of a dictionary are."""

import dataclasses
import enum
import sys
import types
import weakref

_SHORT = 8


class Identities:
    """Gives equal objects the same number, for each group of objects. Keeps them alive only where it must."""

    def __init__(self):
        self.groups = {}

    def number(self, group, value, is_typed=False):
        """The number of this object in its group, counted from 0. `is_typed`: equal ones must have one type."""
        known = self.groups.setdefault(group, [])
        for number, reference in enumerate(known):
            if _is_same(reference(), value, is_typed):
                return number
        known.append(_reference(value))
        return len(known) - 1


def _is_same(known, value, is_typed):
    if known is value:
        return True
    if is_typed and type(known) is not type(value):
        return False
    try:
        return bool(known == value)
    except Exception:  # whatever the program's own comparison raises: JAX would get the same
        return False


def _reference(value):
    """A function that gives the object as long as there is one: JAX's caches too forget with a function."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def parts(value):
    """{path: part} of containers, pytrees and dataclasses; of other objects the whole, under an empty path."""
    util = sys.modules["jax"].tree_util
    found = {}
    for path, leaf in util.tree_flatten_with_path(value, is_leaf=_is_whole)[0]:
        at = util.keystr(path)
        if dataclasses.is_dataclass(leaf) and not isinstance(leaf, type):
            fields = {f"{at}.{each.name}": getattr(leaf, each.name, None) for each in dataclasses.fields(leaf)}
            found.update((name + rest, part) for name, field in fields.items() for rest, part in parts(field).items())
        else:
            found[at] = leaf
    return found


def _is_whole(value):
    """Whether a value is best told at once: a short sequence of numbers or names, None, and what else has no leaves."""
    if type(value) in (tuple, list):
        return len(value) <= _SHORT and all(isinstance(each, (int, float, str)) for each in value)
    return type(value) is not dict and not sys.modules["jax"].tree_util.tree_leaves(value)


def is_by_identity(value):
    """Whether objects of its type are equal to nothing but themselves, and there may be another one like it."""
    if sort(value) in ("choice", "text"):
        return False
    return type(value).__eq__ is object.__eq__ or type(value).__hash__ is object.__hash__


def sort(value):
    """What can be done about a value: a "function", one "choice" of few, a "text", a "number", any other "value"."""
    numpy = sys.modules["numpy"]
    choices = (bool, numpy.bool_, numpy.dtype, enum.Enum, type, types.ModuleType)
    if value is None or value is ... or isinstance(value, choices):
        return "choice"
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, (int, float, complex, numpy.number)):
        return "number"
    if type(value) is tuple and value and all(sort(each) == "number" for each in value):
        return "number"
    is_function = callable(value) and (type(value).__name__ in _FUNCTIONS or hasattr(value, "__wrapped__"))
    return "function" if is_function else "value"


_FUNCTIONS = ("function", "builtin_function_or_method", "method", "partial", "Partial", "ufunc")


