"""What a function of the program was called with: the names of its parameters, and where values come from then."""

import inspect

from .calls import Constant, Function, Node, Ref, like
from .plain import children
from .values import PLAIN, is_array, is_function_of_jax, is_object
from .wrappers import mark_of


def bind(session, scope, args, kwargs):
    """Note the arguments of a function; what it gets of them: functions that JAX made are watched."""
    signature = scope.function.signature
    try:
        bound = signature.bind(*args, **kwargs) if signature is not None else None
    except TypeError:  # the call itself will say so
        bound = None
    if bound is None:
        pairs = [("args", inspect.Parameter.VAR_POSITIONAL, args), ("kwargs", inspect.Parameter.VAR_KEYWORD, kwargs)]
        pairs = [pair for pair in pairs if pair[2]]
    else:
        pairs = [(name, signature.parameters[name].kind, value) for name, value in bound.arguments.items()]
    watched = False
    for name, kind, value in pairs:
        tree, given = _noted(session, scope, value, (name,))
        scope.params.append((name, kind, tree))
        if given is not value and bound is not None:
            bound.arguments[name], watched = given, True
    return (bound.args, bound.kwargs) if watched else (args, kwargs)


def _noted(session, scope, value, path):
    """The tree of an argument, and what the function gets."""
    kind = type(value)
    if kind in PLAIN and kind is not float:
        return Constant(value), value
    if kind is float or is_array(value) or is_object(value):
        ref = Ref(scope, path, like(value))
        scope.know(value, ref)
        return ref, value
    mark = mark_of(value)
    if mark is not None and isinstance(mark[1], Function):
        return mark[1], value.__wrapped__  # one of the program's own, which JAX passes on: what it does is told here
    if is_function_of_jax(value):
        ref = Ref(scope, path)
        return ref, session.wrapped(ref, value)
    parts = children(value)
    if parts is None:
        return Constant(value), value
    kind, keys, items = parts
    noted = [_noted(session, scope, item, (*path, key)) for key, item in zip(keys, items)]
    if kind is tuple and type(value) is tuple and any(new is not old for (_, new), old in zip(noted, items)):
        value = tuple(new for _, new in noted)
    return Node(kind, keys, [tree for tree, _ in noted]), value
