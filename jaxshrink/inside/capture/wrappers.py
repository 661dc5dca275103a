"""Functions in the place of others, and what each stands for."""

import collections
import functools
import types
import weakref

from .calls import Attribute
from .values import NONE, function_places, name_of

_MARK = "_jaxshrink"
_CACHED = 64
_METHODS = ("lower", "trace", "eval_shape")
"""Of a jitted function: calls that are noted too."""
_PLAIN = ("clear_cache", "_cache_size", "_fun", "_jit_info", "_clear_cache")
_NAMELESS = "<unnamed function>"


def dressed(wrapper, fun, expression, raw):
    """Make a wrapper look like what it wraps, and remember what it stands for and what JAX gets of it."""
    functools.update_wrapper(wrapper, fun, updated=())
    if not isinstance(getattr(fun, "__name__", None), str):
        wrapper.__name__ = name_of(fun) if isinstance(fun, functools.partial) else _NAMELESS
    own = getattr(fun, "__dict__", None) or {}
    vars(wrapper).update({key: value for key, value in own.items() if not key.startswith(_MARK)})
    wrapper.__wrapped__ = fun
    vars(wrapper)[_MARK] = (wrapper, expression, raw)
    return wrapper


def mark(thing, expression):
    """Remember what stands for an object of JAX's that is not replaced by a wrapper."""
    vars(thing)[_MARK] = (thing, expression, thing)


def mark_of(thing):
    """(thing, expression, what JAX gets of it), or None."""
    own = getattr(thing, "__dict__", None)
    found = own.get(_MARK) if type(own) is dict else None
    return found if found is not None and found[0] is thing else None


def made(session, expression, fun):
    """What the program gets for a function that JAX made: `expression` stands for it."""
    is_renamed = getattr(getattr(expression, "func", None), "name", None) == "jax.named_call"
    functions = function_places(fun) if is_renamed else NONE  # one of JAX's own may be under another name

    def called(*args, **kwargs):
        if session.is_idle:
            return fun(*args, **kwargs)
        if functions is not NONE:
            return session.call(expression, fun, args, kwargs, functions)
        return session.run(expression, fun, args, kwargs)

    dressed(called, fun, expression, fun)
    for name in _METHODS:
        if hasattr(fun, name):
            vars(called)[name] = method(session, expression, fun, name)
    for name in _PLAIN:
        if hasattr(fun, name):
            vars(called)[name] = getattr(fun, name)
    return called


def method(session, expression, base, name):
    """The method of what `expression` stands for, noted."""
    bound = getattr(base, name)

    @functools.wraps(bound)
    def called(*args, **kwargs):
        if session.is_idle:
            return bound(*args, **kwargs)
        return session.call(Attribute(expression, name), bound, args, kwargs)

    return called


class Unhashable:
    """A wrapper that has no more of a hash than what it wraps: JAX tells what is wrong with that."""

    def __init__(self, call, fun):
        self.call, self.fun = call, fun

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)

    def __hash__(self):
        return hash(self.fun)


class Kept:
    """The wrapper of each function of the program, as long as that lives. Of methods and objects: of the latest."""

    def __init__(self):
        self.latest = collections.OrderedDict()

    def get(self, fun, make):
        if isinstance(fun, (types.FunctionType, functools.partial)):
            own = vars(fun).get(_MARK + "_traced")
            if own is None or own[0]() is not fun:
                own = vars(fun)[_MARK + "_traced"] = (weakref.ref(fun), make(fun))
            return own[1]
        key = (id(fun.__self__), fun.__func__) if isinstance(fun, types.MethodType) else id(fun)
        if key not in self.latest:
            self.latest[key] = make(fun)  # which keeps the function, so that no other gets its id
            if len(self.latest) > _CACHED:
                self.latest.popitem(last=False)
        return self.latest[key]


class Objects:
    """Where objects of JAX's came from that calls outside all functions gave."""

    def __init__(self):
        self.refs = collections.OrderedDict()

    def keep(self, value, ref):
        key = id(value)
        try:
            held = weakref.ref(value, lambda _: self.refs.pop(key, None))
        except TypeError:  # what `jax.vjp` gives can only be held
            held = functools.partial(_same, value)
        self.refs[key] = (held, ref)
        if len(self.refs) > _CACHED:
            self.refs.popitem(last=False)

    def find(self, value):
        found = self.refs.get(id(value))
        return found[1] if found is not None and found[0]() is value else None


def _same(value):
    return value
