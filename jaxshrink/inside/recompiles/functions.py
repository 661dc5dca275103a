"""What a function object is, as far as that tells why it is another one than before."""

import inspect
import os
import sys

from .places import inner, innermost, owner
from .texts import kind_of, text


def told(identities, group, fun):
    """A function as part of a signature: see there."""
    holds, inside = _holds(fun), innermost(fun)
    own = _self(fun, inside)
    if own is not None:
        holds = {"self": f"{kind_of(own)} {identities.number((group, 'self', ''), own) + 1}", **holds}
    return {
        "number": identities.number(group, fun), "kind": _kind(fun), "holds": holds, "around": _around(fun),
        "inner": {"number": identities.number((group, "inner", ""), inside), "kind": _kind(inside)},
    }  # fmt: skip


def _self(fun, inside):
    """The object that a method is of, or that is called itself."""
    if hasattr(fun, "__func__"):
        return fun.__self__
    return fun if inside is getattr(type(fun).__call__, "__func__", type(fun).__call__) else None


def nothing():
    """A function of which nothing is known."""
    inside = {"number": 0, "kind": "function"}
    return {"number": 0, "kind": "function", "holds": {}, "around": [], "inner": inside}


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


def _around(fun):
    """The functions of JAX that have made this one of another, outermost first: `["vmap", "grad"]`."""
    found = []
    for _ in range(50):
        made = _made(fun)
        if made is not None:
            found = [made] if made == "pmap" else [*found, made]  # what is around that is a part of it
        fun = inner(fun)
        if fun is None:
            break
    return found


def _made(fun):
    """The name of the public function of JAX that has made this one of another, None where there is none."""
    code = getattr(fun, "__code__", None)
    if code is None or owner(code.co_filename) != "jax":
        return None
    if code.co_name == _BOUNDARY:  # which hides it
        code = getattr(_held(fun, "fun"), "__code__", code)
    outer, _, local = getattr(code, "co_qualname", code.co_name).partition(".<locals>.")
    file = os.path.basename(code.co_filename).rpartition(".")[0]
    names = (outer if local else code.co_name[:-2], file)  # `grad_f` before Python 3.11; pmap is in a file of its own
    return next((name for name in names if name.isidentifier() and name[0] != "_" and _is_public(name)), None)


_BOUNDARY = "reraise_with_filtered_traceback"


def _is_public(name):
    return callable(getattr(sys.modules["jax"], name, None))


def _held(fun, name):
    cells = dict(zip(fun.__code__.co_freevars, fun.__closure__ or ()))
    try:
        return cells[name].cell_contents
    except (KeyError, ValueError):  # not there, not yet bound
        return None


def _holds(fun):
    holds = {}
    if hasattr(fun, "func") and hasattr(fun, "keywords"):
        names = [*_names(fun.func), *(f"argument {index}" for index in range(len(fun.args)))]
        holds.update(zip(names, map(text, fun.args)))
        holds.update((name, text(each)) for name, each in fun.keywords.items())
    inside = innermost(fun)
    code, cells = getattr(inside, "__code__", None), getattr(inside, "__closure__", None)
    for name, cell in zip(code.co_freevars if code else (), cells or ()):
        try:
            held = cell.cell_contents
        except ValueError:  # not yet bound
            continue
        if name == "params" and isinstance(held, dict) and owner(code.co_filename) == "jax":  # those of a primitive
            holds.update((each, text(value)) for each, value in held.items())
        else:
            holds[name] = text(held)
    return holds


def _names(fun):
    """Those of the arguments that a function gets by position."""
    try:
        found = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):  # functions in C, and those whose signature lies
        return []
    return [each.name for each in found if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
