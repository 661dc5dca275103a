"""The call that a wrapper has got, where the wrapper takes the arguments apart before it calls JAX.

Wrappers like Equinox's `filter_jit`, `nnx.jit`, and JAX's own `pmap` give JAX the arrays of their arguments as lists of
their own. What the program has called is in a frame between the program and JAX that takes any arguments, and whose
arguments have the same arrays: objects that are the same, not only equal.
"""

import inspect
import sys

from .places import inner as inside
from .places import innermost, owner


def whole_call(fun, args, kwargs, traced):
    """(function, args, kwargs) of the wrapper's call, or None where there is no wrapper.

    `fun`, `args` and `kwargs` are what JAX gets, `traced` the arrays and numbers in it. Of several such frames it is
    the one that has got most of these, of those that have as much the one nearest to JAX.
    """
    leaves = sys.modules["jax"].tree_util.tree_leaves
    ids, best, most = {id(each) for each in traced}, None, 0
    frame = sys._getframe(1)
    while frame is not None and (whose := owner(frame.f_code.co_filename)) != "program":
        given = _given(frame) if whose != "jaxshrink" else None
        if given is not None and _is_same(given, (args, kwargs)):
            best, most = None, 0  # here JAX begins: what is within it has taken the call apart by itself
        elif given is not None:
            arrays = {id(each) for each in leaves(given) if hasattr(each, "dtype")}
            callee = _callee(fun, frame) if most < len(arrays) and arrays <= ids else None
            if callee is not None:
                best, most = (callee, *given), len(arrays)
        frame = frame.f_back
    return best


def _given(frame):
    """(args, kwargs) of a frame whose function takes any."""
    code = frame.f_code
    if not code.co_flags & inspect.CO_VARARGS:
        return None
    names = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    args = frame.f_locals.get(names[0])
    kwargs = frame.f_locals.get(names[1], {}) if code.co_flags & inspect.CO_VARKEYWORDS else {}
    return (args, kwargs) if isinstance(args, tuple) and isinstance(kwargs, dict) else None


def _is_same(given, wanted):
    """Whether a call has the same objects as arguments, perhaps after functions: what is called, as in JAX's own."""
    some, others = ([*args, *kwargs, *kwargs.values()] for args, kwargs in (given, wanted))
    more = len(some) - len(others)
    return more >= 0 and all(map(callable, some[:more])) and all(one is two for one, two in zip(some[more:], others))


def _callee(fun, frame):
    """The function that is wrapped: the one in what JAX gets, or else the one in what the frame has, by its name."""
    inner, file = innermost(fun), frame.f_code.co_filename
    if owner(file) == "jax" and file not in _files(fun):  # a transformation, which calls what is jitted within it
        return None
    if _file(inner) not in (None, file) and owner(_file(inner)) != "jax":
        return inner if inner is not fun else None
    name = getattr(fun, "__name__", None)
    held = [each for each in frame.f_locals.values() if callable(each) and getattr(each, "__name__", name) == name]
    found = ((each, innermost(each)) for each in held)
    return next((each for each, inside in found if _file(inside) not in (None, _file(inner))
                 and getattr(inside, "__name__", None) == name), None)  # fmt: skip


def _files(fun):
    """Where the functions are defined that one consists of, each around the next."""
    while fun is not None:
        yield _file(fun)
        fun = inside(fun)


def _file(fun):
    return getattr(getattr(fun, "__code__", None), "co_filename", None)
