"""Short texts of values, for people. Nothing is computed for them, and large ones cost no more than small ones."""

import functools
import re
import sys

_TYPES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_BRACKETS = {list: "[]", tuple: "()", dict: "{}"}
_MOST_ITEMS = 8


def text(value, width=60):
    """A short text of any object: its own, without addresses; the type of an array, the name of a function."""
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and callable(value):
        return name
    try:
        told = " ".join(_told(value).split())
    except Exception as error:  # the program's own
        told = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    told = _ADDRESS.sub("", told).replace("__main__.", "")
    return told if len(told) <= width else told[: width - 1] + "…"


def _told(value):
    if type(value) in _BRACKETS:
        return _of_container(value)
    if isinstance(value, functools.partial):
        given = [*map(text, value.args), *(f"{name}={text(each)}" for name, each in value.keywords.items())]
        return f"partial({', '.join([text(value.func), *given])})"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and hasattr(value, "dtype") and not isinstance(value, sys.modules["numpy"].generic):
        return f"{element(value)}[{','.join(map(str, shape))}]"
    return repr(value)


def _of_container(value):
    """The first items in it, as repr would tell them."""
    start, end = _BRACKETS[type(value)]
    if type(value) is dict:
        items = [f"{key!r}: {_item(value[key])}" for key, _ in zip(value, range(_MOST_ITEMS))]
    else:
        items = [_item(each) for each in value[:_MOST_ITEMS]]
    more = ["…"] if len(value) > _MOST_ITEMS else [""] if type(value) is tuple and len(value) == 1 else []
    return f"{start}{', '.join([*items, *more]).rstrip()}{end}"


def _item(value):
    """Functions as repr tells them: their names would look like variables."""
    return repr(value) if callable(value) and not isinstance(value, functools.partial) else _told(value)


def element(leaf):
    """The short name of the element type that JAX gives an array or a number."""
    kind = getattr(leaf, "dtype", None)
    if kind is None:
        kind = type(leaf)
    try:
        return _element(kind, sys.modules["jax"].config.jax_enable_x64)
    except (TypeError, ValueError):  # keys, and what is no array at all
        return str(getattr(leaf, "dtype", kind_of(leaf)))


@functools.cache
def _element(kind, is_wide):
    name = str(sys.modules["jax"].dtypes.canonicalize_dtype(kind))
    letters = name.rstrip("0123456789")
    return _TYPES.get(letters, letters) + name[len(letters) :]


def kind_of(value):
    """The name of a value's type."""
    return name_of(type(value))


def name_of(kind):
    """The name of a class, without that of the function that it is defined in."""
    return kind.__qualname__.rpartition("<locals>.")[2]
