"""Functions with rules of their own: custom_jvp, custom_vjp, custom_vmap."""

import functools
import sys

from . import wrappers
from .calls import Constant, Rules
from .values import ALL, NONE


def install(session):
    """Watch how they are made, defined and called."""
    import jax

    custom_vmap = getattr(sys.modules.get("jax.custom_batching"), "custom_vmap", None)
    classes = {"jax.custom_jvp": jax.custom_jvp, "jax.custom_vjp": jax.custom_vjp}
    if custom_vmap is not None:
        classes["jax.custom_batching.custom_vmap"] = custom_vmap
    for name, cls in classes.items():
        _rule_class(session, name, cls)


def _rule_class(session, name, cls):
    make, call = cls.__init__, cls.__call__

    @functools.wraps(make)
    def made(self, fun, *args, **kwargs):
        if session.is_inside:
            make(self, fun, *args, **kwargs)
            return
        expression, raw = session.guard((None, fun), session.taken, fun, True)
        make(self, raw, *args, **kwargs)
        if expression is not None:
            session.guard(None, noted, self, expression, args, kwargs)

    def noted(function, expression, args, kwargs):
        wrappers.mark(function, Rules(name, function, expression, *session.both(args, kwargs, NONE)[0]))

    @functools.wraps(call)
    def called(self, *args, **kwargs):
        if session.is_idle:
            return call(self, *args, **kwargs)
        expression = session.guard(None, _expression, session, name, self)
        if expression is None:
            return session.inside(call, self, *args, **kwargs)
        return session.call(expression, functools.partial(call, self), args, kwargs)

    cls.__init__, cls.__call__ = made, called
    for method in ("defjvp", "defjvps", "defvjp", "def_vmap"):
        if hasattr(cls, method):
            _definition(session, cls, method)


def _definition(session, cls, name):
    define = getattr(cls, name)

    @functools.wraps(define)
    def defined(self, *args, **kwargs):
        mark = session.guard(None, wrappers.mark_of, self)
        if session.is_inside or mark is None:
            return define(self, *args, **kwargs)
        expressions, (given, named) = session.guard((None, (args, kwargs)), session.both, args, kwargs, ALL)
        if expressions is not None:
            mark[1].definitions.append((name, *expressions))
        result = session.inside(define, self, *given, **named)
        return args[0] if result is not None else None

    setattr(cls, name, defined)


def _expression(session, name, function):
    """What stands for a function with rules."""
    mark = wrappers.mark_of(function)
    return mark[1] if mark is not None else session.names.get(id(function)) or _adopted(session, name, function)


def _adopted(session, name, function):
    """What stands for a function that was made before there were wrappers: those it has are put in from here on."""

    def traced(attribute):
        fun = getattr(function, attribute, None)
        if not callable(fun):
            return None
        expression, wrapper = session.taken(fun, functions=True)
        setattr(function, attribute, wrapper)
        return expression

    places = getattr(function, "nondiff_argnums", ())
    options = {"nondiff_argnums": Constant(tuple(places))} if places else {}
    rules = Rules(name, function, traced("fun"), [], options)
    for method, attributes in (("defjvp", ("jvp",)), ("defvjp", ("fwd", "bwd")), ("def_vmap", ("vmap_rule",))):
        found = [traced(attribute) for attribute in attributes]
        if None not in found:
            rules.definitions.append((method, found, {}))
    wrappers.mark(function, rules)
    return rules
