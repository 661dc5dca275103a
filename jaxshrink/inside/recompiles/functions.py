"""What a function object is, as far as that tells why it is another one than before."""

import inspect

from .arguments import element, kind_of
from .identity import text
from .places import innermost


def told(identities, group, fun):
    """A function as part of a signature: see there."""
    holds = _holds(fun)
    if hasattr(fun, "__func__"):
        number = identities.number((group, "self", ""), fun.__self__)
        holds = {"self": f"{kind_of(fun.__self__)} {number + 1}", **holds}
    return {"number": identities.number(group, fun), "kind": _kind(fun), "holds": holds}


def _kind(fun):
    """How a function came about, as far as that tells why it is another one: "lambda", "partial", "method", ..."""
    if hasattr(fun, "__func__"):
        return "method"
    if hasattr(fun, "func") and hasattr(fun, "keywords"):
        return "partial"
    if hasattr(fun, "__wrapped__"):
        return "wrapped"
    if not hasattr(fun, "__code__"):
        return "object"
    return "lambda" if fun.__name__ == "<lambda>" else "nested" if "<locals>" in fun.__qualname__ else "function"


def _holds(fun):
    holds = {}
    if hasattr(fun, "func") and hasattr(fun, "keywords"):
        names = [*_names(fun.func), *(f"argument {index}" for index in range(len(fun.args)))]
        holds.update(zip(names, map(_value, fun.args)))
        holds.update((name, _value(each)) for name, each in fun.keywords.items())
    inner = innermost(fun)
    code, cells = getattr(inner, "__code__", None), getattr(inner, "__closure__", None)
    for name, cell in zip(code.co_freevars if code else (), cells or ()):
        try:
            held = cell.cell_contents
        except ValueError:  # not yet bound
            continue
        if name == "params" and isinstance(held, dict):  # of a primitive, where JAX calls it by itself
            holds.update((each, _value(value)) for each, value in held.items())
        else:
            holds[name] = _value(held)
    return holds


def _names(fun):
    """Those of the arguments that a function gets by position."""
    try:
        found = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):  # functions in C, and those whose signature lies
        return []
    return [each.name for each in found if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def _value(value):
    """What is held, without computing anything: arrays by their type alone."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{element(value)}[{','.join(map(str, shape))}]"
    return text(value)
