"""What kinds of values there are: arrays, functions of the program, objects of JAX's."""

import functools
import inspect
import sys
import types

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_FUNCTION_NAMES = (
    "f", "fun", "func", "fn", "pyfunc", "body_fun", "cond_fun", "true_fun", "false_fun", "branches", "kernel",
    "computation", "policy", "body", "operator", "solve", "transpose_solve", "tangent_solve", "matvec", "callback",
    "A", "M",
)  # fmt: skip
_HOME = __name__.rpartition(".")[0]


def ALL(place):  # noqa: N802
    """All functions among the arguments are called."""
    return True


def NONE(place):  # noqa: N802
    """No argument is called."""
    return False


def function_places(fun):
    """Tells of the index or name of an argument of `fun` whether JAX calls what is given there."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return NONE
    found = set()
    for i, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in _FUNCTION_NAMES or "Callable" in str(parameter.annotation):
            found.add(parameter.name)
            if parameter.kind is not parameter.KEYWORD_ONLY:
                found.add(i)
    return found.__contains__ if found else NONE


_arrays = {}  # type -> whether its instances are arrays


def is_array(value):
    """Whether a value is an array of JAX's or NumPy's, a tracer, or a number to which JAX has given a type."""
    kind = type(value)
    known = _arrays.get(kind)
    if known is None:
        known = _arrays[kind] = _is_array_type(kind)
    return known or (known is None and isinstance(value, sys.modules["jax"].Array))


def _is_array_type(kind):
    if kind.__module__ == "builtins":
        return False
    jax, numpy = sys.modules["jax"], sys.modules["numpy"]
    if kind.__module__ == "jax._src.literals":
        return kind.__name__.startswith("Typed")
    if kind.__name__ in ("Ref", "ArrayRef", "MutableArray") and is_of_jax(kind):
        return True
    return issubclass(kind, (jax.core.Tracer, numpy.ndarray)) or issubclass(kind, jax.Array)


def is_tracer(value):
    return isinstance(value, sys.modules["jax"].core.Tracer)


def is_callable_tree(value):
    """What `jax.vjp` gives: a function that is a pytree too."""
    kind = type(value)
    return kind.__name__ in ("VJP", "Partial") and is_of_jax(kind)


def is_of_jax(kind):
    """Whether a class is one of JAX's own."""
    return kind.__module__.partition(".")[0] in ("jax", "jaxlib")


def is_object(value):
    """Whether a value is an object of JAX's that only JAX can make, such as what `lower` or `checkify` give."""
    kind = type(value)
    return is_of_jax(kind) and kind.__name__ in ("Error", "Lowered", "Compiled", "Traced", "Exported", "VJP", "Partial")


def is_rules(value):
    """Whether a value is a function with rules of its own."""
    return type(value).__name__ in ("custom_jvp", "custom_vjp", "custom_vmap") and is_of_jax(type(value))


def may_be_traced(value):
    """Whether a callable is one that JAX traces: no class, and none of JAX's own objects that happen to be callable."""
    if isinstance(value, type) or not callable(value):
        return False
    if inspect.isgeneratorfunction(value) or inspect.iscoroutinefunction(value):
        return False
    return isinstance(value, _FUNCTIONS) or not is_of_jax(type(value))


def is_function(value):
    """Whether a value is a plain function or a compiled one."""
    if isinstance(value, type) or not callable(value):
        return False
    if isinstance(value, (types.FunctionType, functools.partial, types.MethodType)):
        return not is_callable_tree(value)
    return type(value).__name__ in ("PjitFunction", "PmapFunction")


def gives_function(result):
    """Whether a function gave JAX another, as that of custom_gradient does."""
    return is_function(result) or (isinstance(result, tuple) and any(map(is_function, result)))


def is_function_of_jax(value):
    """Whether a value is a function that JAX has made and gives to a function of the program."""
    is_bound = isinstance(value, functools.partial)
    while isinstance(value, functools.partial):
        value = value.func
    if not isinstance(value, types.FunctionType):
        return is_bound and callable(value) and str(getattr(value, "__module__", "")).startswith("jax")
    home = value.__globals__.get("__name__") or ""
    return home.partition(".")[0] == "jax" or home.startswith(_HOME)


def name_of(fun):
    """The name of a callable."""
    while isinstance(fun, functools.partial):
        fun = fun.func
    return getattr(fun, "__name__", None) or type(fun).__name__


def without_hash(fun):
    """The part for which an object that can be called has no hash, or None."""
    if isinstance(fun, _FUNCTIONS) or _has_hash(fun):
        return None
    parts = sys.modules["jax"].tree_util.tree_leaves(fun)
    parts = parts if parts != [fun] else list(getattr(fun, "__dict__", {}).values())
    return next((part for part in parts if not _has_hash(part)), None)


def _has_hash(value):
    try:
        hash(value)
    except Exception:  # of the program's own, where it defines one
        return False
    return True
