"""Functions with rules of their own: custom_jvp, custom_vjp, custom_vmap; and what `jax.vjp` gives."""

import functools
import sys

from . import recorder
from .calls import Rules


def install(session):
    """Watch how they are made, defined and called."""
    import jax

    custom_vmap = getattr(sys.modules.get("jax.custom_batching"), "custom_vmap", None)
    classes = {"jax.custom_jvp": jax.custom_jvp, "jax.custom_vjp": jax.custom_vjp}
    if custom_vmap is not None:
        classes["jax.custom_batching.custom_vmap"] = custom_vmap
    for name, cls in classes.items():
        _rule_class(session, name, cls)
    for cls in (jax.tree_util.Partial, getattr(sys.modules.get("jax._src.api"), "VJP", None)):
        if cls is not None:
            _callable_tree(session, cls)


def _rule_class(session, name, cls):
    make, call = cls.__init__, cls.__call__

    @functools.wraps(make)
    def made(self, fun, *args, **kwargs):
        if session.scope is recorder._INSIDE:
            make(self, fun, *args, **kwargs)
            return
        expression, raw = session.taken(fun, functions=True)
        make(self, raw, *args, **kwargs)
        given = [session.taken(arg)[0] for arg in args]
        named = {key: session.taken(value)[0] for key, value in kwargs.items()}
        recorder.mark(self, Rules(name, expression, given, named))

    @functools.wraps(call)
    def called(self, *args, **kwargs):
        mark = vars(self).get(recorder._MARK)
        if not session.is_on or mark is None or mark[0] is not self or session.scope is recorder._INSIDE:
            return call(self, *args, **kwargs)
        return session.call(mark[1], functools.partial(call, self), args, kwargs)

    cls.__init__, cls.__call__ = made, called
    for method in ("defjvp", "defjvps", "defvjp", "def_vmap"):
        if hasattr(cls, method):
            _definition(session, cls, method)


def _definition(session, cls, name):
    define = getattr(cls, name)

    @functools.wraps(define)
    def defined(self, *args, **kwargs):
        mark = vars(self).get(recorder._MARK)
        if mark is None or mark[0] is not self or session.scope is recorder._INSIDE:
            return define(self, *args, **kwargs)
        taken = [session.taken(arg, functions=True) for arg in args]
        named = {key: session.taken(value, functions=True) for key, value in kwargs.items()}
        mark[1].definitions.append((name, [one[0] for one in taken], {key: one[0] for key, one in named.items()}))
        result = define(self, *[one[1] for one in taken], **{key: one[1] for key, one in named.items()})
        return args[0] if result is not None else None

    setattr(cls, name, defined)


def _callable_tree(session, cls):
    call = cls.__call__

    def called(self, *args, **kwargs):
        scope = session.scope
        if not session.is_on or scope is None or scope is recorder._INSIDE:
            return call(self, *args, **kwargs)
        ref = scope.find(self)
        if ref is None:
            return call(self, *args, **kwargs)
        return session.call(ref, functools.partial(call, self), args, kwargs)

    cls.__call__ = called
