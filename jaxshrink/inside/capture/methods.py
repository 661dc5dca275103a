"""Operators, methods and properties of arrays and tracers."""

import functools
import itertools
import sys

from .calls import Attribute, Method, Operator, Public, Ref, like

OPERATORS = (
    "getitem", "setitem", "neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge", "add", "radd", "sub",
    "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "divmod", "rdivmod", "mod", "rmod", "pow",
    "rpow", "matmul", "rmatmul", "and", "rand", "or", "ror", "xor", "rxor", "lshift", "rshift", "rlshift", "rrshift",
    "round",
)  # fmt: skip
_READS = ("bool", "int", "float", "complex", "index", "array", "len", "contains", "hash")
_METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "byteswap", "choose", "clip", "compress",
    "conj", "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "flatten", "item", "max", "mean", "min",
    "nonzero", "prod", "ptp", "ravel", "repeat", "reshape", "round", "searchsorted", "sort", "squeeze", "std", "sum",
    "swapaxes", "take", "tolist", "to_device", "trace", "transpose", "var", "view",
)  # fmt: skip
_PROPERTIES = ("T", "mT", "real", "imag")
_END = object()
_UPDATES = ("get", "set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply")


def install(session):
    """Watch the methods of the classes of arrays, and the scalar types, that make arrays when called."""
    import jax
    from jax._src.array import ArrayImpl

    for cls in (jax.core.Tracer, ArrayImpl, *_key_classes()):
        for name in OPERATORS:
            _method(session, cls, f"__{name}__", Operator(name))
        for name in _READS:
            _method(session, cls, f"__{name}__", Operator(name), through=True)
        for name in _METHODS:
            _method(session, cls, name, Method(name), through=name in ("item", "tolist"))
        for name in _PROPERTIES:
            _property(session, cls, name)
        _iteration(session, cls)
    for cls in _reference_classes():
        for name in ("getitem", "setitem"):
            _method(session, cls, f"__{name}__", Operator(name))
    _scalar_types(session, type(jax.numpy.float32))
    updates = _update_class()
    if updates is not None:
        for name in _UPDATES:
            if name in vars(updates):
                setattr(updates, name, _update(session, name, vars(updates)[name]))


def _key_classes():
    for name in ("jax._src.random.prng", "jax._src.prng"):
        cls = getattr(sys.modules.get(name), "PRNGKeyArray", None)
        if cls is not None:
            return [cls]
    return []


def _reference_classes():
    """The class of what `jax.new_ref` gives, where there is one."""
    core = sys.modules["jax._src.core"]
    found = (getattr(core, name, None) for name in ("Ref", "ArrayRef", "MutableArray"))
    return list({cls for cls in found if isinstance(cls, type) and "__getitem__" in vars(cls)})


def _method(session, cls, name, func, through=False):
    if hasattr(cls, name):
        method = getattr(cls, name)
    elif not name.startswith("__"):  # found through the tracer's type

        def method(self, *args, **kwargs):
            return self.__getattr__(name)(*args, **kwargs)
    else:
        return
    if not callable(method):
        return

    def called(self, *args, **kwargs):
        scope = session.scope
        if session.is_idle:
            return method(self, *args, **kwargs)
        if through:
            return session.through(func, method, (self, *args), kwargs)
        if scope is None:
            return session.quick(func, method, (self, *args), kwargs)
        return session.call(func, method, (self, *args), kwargs)

    functools.update_wrapper(called, method, updated=())
    setattr(cls, name, called)


def _iteration(session, cls):
    """The elements of an array come of indexing it."""
    iterate = cls.__iter__

    @functools.wraps(iterate)
    def called(self):
        scope = session.scope
        if session.is_idle or scope is None:
            return iterate(self) if session.is_idle else session.quick(Operator("iter"), iterate, (self,), {})
        items = session.through(Operator("iter"), functools.partial(session.inside, iterate), (self,), {})
        return _elements(session, scope, self, items)

    cls.__iter__ = called


def _elements(session, scope, array, items):
    for i in itertools.count():
        item = session.inside(next, items, _END)
        if item is _END:
            return
        session.guard(None, _element, session, scope, array, i, item)
        yield item


def _element(session, scope, array, i, item):
    call = session.note(scope, Operator("getitem"), (array, i), {})
    call.result = Ref(call, (), like(item))
    scope.know(item, call.result)


def _scalar_types(session, meta):
    make = meta.__call__

    @functools.wraps(make)
    def called(self, *args, **kwargs):
        if session.is_idle:
            return make(self, *args, **kwargs)
        call = session.quick if session.scope is None else session.call
        return call(Public("jax.numpy." + self.__name__), functools.partial(make, self), args, kwargs)

    if meta.__name__ == "_ScalarMeta":
        meta.__call__ = called


def _property(session, cls, name):
    original = getattr(cls, name, None)
    func = Method(name, is_property=True)

    def read(self):
        return original.__get__(self) if isinstance(original, property) else self.__getattr__(name)

    def called(self):
        scope = session.scope
        if session.is_idle:
            return read(self)
        return session.quick(func, read, (self,), {}) if scope is None else session.call(func, read, (self,), {})

    setattr(cls, name, property(called))


def _update_class():
    for name in ("jax._src.numpy.array_methods", "jax._src.numpy.lax_numpy"):
        found = getattr(sys.modules.get(name), "_IndexUpdateRef", None)
        if found is not None:
            return found
    return None


def _update(session, name, method):
    func = Attribute(Operator("at"), name)

    @functools.wraps(method)
    def called(self, *args, **kwargs):
        scope = session.scope
        if session.is_idle:
            return method(self, *args, **kwargs)

        def update(array, index, *args, **kwargs):
            return method(self, *args, **kwargs)

        given = (self.array, self.index, *args)
        call = session.quick if scope is None else session.call
        return call(func, update, given, kwargs)

    return called
