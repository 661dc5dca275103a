"""Where a function is defined, and which line of the program calls it."""

import functools
import os
import sys
import sysconfig
import types

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_HOST = os.path.join(os.path.dirname(_OWN), "recompiles")


@functools.cache
def owner(path):
    """Whose file this is: "program", "library", "jax", or "jaxshrink" (not to be told of)."""
    path = os.path.abspath(path) if not path.startswith("<") else path
    if _is_in(path, (_OWN, _HOST)):
        return "jaxshrink"
    if _is_in(path, _of_jax()):
        return "jax"
    if path.startswith("<frozen") or _is_in(path, _libraries()):
        return "library"
    return "program"


def _is_in(path, folders):
    return any(path.startswith(folder + os.sep) for folder in folders)


@functools.cache
def _of_jax():
    found = (getattr(sys.modules.get(name), "__file__", None) for name in ("jax", "jaxlib"))
    return tuple(os.path.dirname(os.path.abspath(file)) for file in found if file)


@functools.cache
def _libraries():
    paths = sysconfig.get_paths()
    return tuple({os.path.abspath(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def caller():
    """The innermost line of the program around, of a library where there is none: "path:line", and its function."""
    frame, found = sys._getframe(1), None
    while frame is not None:
        whose = owner(frame.f_code.co_filename)
        if whose == "program" or (whose == "library" and found is None):
            found = frame
            if whose == "program":
                break
        frame = frame.f_back
    if found is None:
        return "", ""
    return f"{found.f_code.co_filename}:{found.f_lineno}", found.f_code.co_name


def innermost(fun):
    """The plain function in wrappers, partials, methods, and functions of JAX's that close over one of the program."""
    for _ in range(50):
        inside = inner(fun)
        if inside is None:
            break
        fun = inside
    return fun


def inner(fun):
    """The function that this one calls, as far as that can be seen; None for a plain function."""
    found = _inner(fun)
    return found if found is not fun and callable(found) else None


def _inner(fun):
    mapped = getattr(getattr(fun, "__self__", None), "f", None)
    if mapped is not None and getattr(fun, "__name__", "") == "call_wrapped":  # as JAX wraps functions
        return mapped
    if type(fun).__name__ == "HashablePartial":  # JAX's own
        return fun.f
    inside = getattr(fun, "__wrapped__", None) or getattr(fun, "func", None) or getattr(fun, "__func__", None)
    if inside is not None:
        return inside
    code = _code(fun)
    if code is None:
        return getattr(type(fun).__call__, "__func__", type(fun).__call__)
    return _closed_over(fun) if owner(code.co_filename) == "jax" else None


def _code(fun):
    code = getattr(fun, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _closed_over(fun):
    """The function of the program that a function of JAX's holds."""
    for cell in fun.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:  # not yet bound
            continue
        held = getattr(held, "f", held)  # as JAX wraps functions
        if callable(held) and not isinstance(held, type):
            code = _code(innermost(held))
            if code is not None and owner(code.co_filename) != "jax":
                return held
    return None


def definition(fun):
    """(name, "path:line", whose it is) of a function."""
    inner = innermost(fun)
    code, own = _code(inner), _code(fun)
    name = getattr(inner, "__name__", None) or type(inner).__name__
    if code is None:
        module = str(getattr(inner, "__module__", None) or "")
        return str(name), module, "jax" if module.partition(".")[0] == "jax" else "library"
    whose = owner(code.co_filename)
    if whose == "jax" or own is None or owner(own.co_filename) != "jax":  # names that JAX gives are its own
        name = getattr(fun, "__name__", None) or name
    return str(name), f"{code.co_filename}:{code.co_firstlineno}", whose
