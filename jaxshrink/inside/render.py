"""Live values → recipes, from which source text can be written that makes them again.

Looking must not touch: no `__repr__`, `__eq__`, property or iterator of the program is called
(not even by `isinstance`, which may ask an object for its `__class__`), and nothing is computed on
tracers. What cannot be told is opaque.

Runs in the target interpreter.
"""

import collections
import contextlib
import dataclasses
import enum
import functools
import sys
import time
import types

from arrays import array_recipe, dtype_name
from shardings import sharding_source

_SCALARS = (type(None), bool, int, float, complex, str, bytes, range, type(Ellipsis))
_CONTAINERS = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}
_DICTIONARIES = {
    dict: "dict",
    collections.OrderedDict: "collections.OrderedDict",
    collections.defaultdict: "collections.defaultdict",
    collections.Counter: "collections.Counter",
    types.MappingProxyType: "types.MappingProxyType",
}
_LONGEST = 300  # items of a container
_LONGEST_TEXT = 2000
_DEEPEST = 30


class Renderer:
    """Collects recipes in `objects`; `ref(value)` gives the index of a value's.

    `program` knows the program's own files, `recorder` where objects were made, `names` public names.
    """

    def __init__(self, program, recorder, names, limit=5000, seconds=0.5):
        self.program, self.recorder, self.names = program, recorder, names
        self.objects = []
        self.limit, self.seconds = limit, seconds
        self.extend()
        self._known = {}  # id of a value, or the source of a literal -> index
        self._alive = []  # keeps ids unique

    def extend(self):
        """Take as many objects more, and as much CPU time: on a busy machine, too, a run shows the same."""
        self.room, self.deadline = self.limit, time.thread_time() + self.seconds

    def ref(self, value, depth=0):
        kind = type(value)
        if kind in _SCALARS or kind is slice:
            literal = _literal(value)
            if literal is not None or kind is not slice:
                return self._shared({"k": "literal", "src": literal} if literal is not None else _opaque(kind))
        if id(value) in self._known:
            return self._known[id(value)]
        if self.room <= 0 or depth > _DEEPEST or time.thread_time() > self.deadline:
            return self._shared(_opaque(kind))
        self.room -= 1
        index = self._known[id(value)] = len(self.objects)
        self._alive.append(value)
        self.objects.append(None)
        try:
            self.objects[index] = self._recipe(value, depth + 1) or _opaque(kind)
        except Exception:
            self.objects[index] = _opaque(kind)
        return index

    def is_opaque(self, index):
        return self.objects[index]["k"] == "opaque"

    def refs(self, values, depth=0):
        return [self.ref(value, depth) for value in values]

    def named(self, values, depth=0):
        return {name: self.ref(value, depth) for name, value in values.items() if isinstance(name, str)}

    def _shared(self, recipe):
        key = tuple(recipe.values())
        if key not in self._known:
            self._known[key] = len(self.objects)
            self.objects.append(recipe)
        return self._known[key]

    def _recipe(self, value, depth):
        kind = type(value)
        array = array_recipe(value)
        if array is not None:
            return array
        for matches, recipe in _KINDS:
            if matches(kind):
                return recipe(self, value, depth)
        if self.program.is_module(kind.__module__):
            return self._instance(value, depth)
        return self._library_object(value, depth)

    # ---- containers

    def _container(self, value, depth):
        if len(value) > _LONGEST:
            return None
        return {"k": _CONTAINERS[type(value)], "items": self.refs(value, depth)}

    def _dictionary(self, value, depth):
        if len(value) > _LONGEST:
            return None
        keys, items = self.refs(value.keys(), depth), self.refs(value.values(), depth)
        return {"k": "dict", "type": _DICTIONARIES[type(value)], "keys": keys, "items": items}

    def _slice(self, value, depth):
        return self._make(slice, (value.start, value.stop, value.step), {}, depth)

    # ---- code

    def _module(self, value, depth):
        if self.program.is_module(value.__name__):
            return {"k": "module", "name": value.__name__}
        return self._public(value)

    def _class(self, value, depth):
        dtype = dtype_name(value)
        if dtype:
            return {"k": "public", "name": dtype}
        if self.program.is_module(value.__module__):
            file = self.program.relative(getattr(sys.modules.get(value.__module__), "__file__", None) or "")
            span = self.recorder.sites.classes.get((file, value.__qualname__))
            if span:
                return {"k": "class", **_span(span), "name": value.__name__, "module": value.__module__}
        return self._public(value) or self._made(value, depth)

    def _dtype(self, value, depth):
        return {"k": "public", "name": dtype_name(value)} if dtype_name(value) else self._made(value, depth)

    def _alias(self, value, depth):
        """`list[int]` is worth no more than `list` when the program runs."""
        return self._recipe(value.__origin__, depth)

    def _function(self, value, depth):
        definition = self._definition(value)
        if definition is None:
            return self._public(value) or self._made(value, depth) or self._wrapped(value, depth)
        return {
            "k": "function",
            **_span(definition.span),
            "name": value.__code__.co_name,
            "module": value.__globals__.get("__name__", "__main__"),
            "closure": self.named(_closure(value), depth),
            "defaults": self.refs(value.__defaults__ or (), depth),
            "kwdefaults": self.named(value.__kwdefaults__ or {}, depth),
        }

    def _definition(self, function):
        """Where a function of the program stands, or None."""
        code = function.__code__
        file = self.program.relative(code.co_filename)
        found = self.recorder.sites.functions.get((file, code.co_firstlineno, code.co_name), ())
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        found = [one for one in found if one.parameters == code.co_varnames[:count]] or found
        if len(found) > 1 and hasattr(code, "co_positions"):
            places = [(line, column) for line, _, column, _ in code.co_positions() if column]
            found = [one for one in found if places and one.span[1:3] < places[0] < one.span[3:]][-1:] or found
        return found[0] if found else None

    def _method(self, value, depth):
        name = getattr(value.__func__, "__name__", None)
        return name and {"k": "method", "self": self.ref(value.__self__, depth), "name": name}

    def _builtin(self, value, depth):
        if type(value.__self__) is types.ModuleType or value.__self__ is None:
            return self._public(value)
        return {"k": "method", "self": self.ref(value.__self__, depth), "name": value.__name__}

    def _partial(self, value, depth):
        if type(value) is not functools.partial:
            return self._make(type(value), (value.func, *value.args), value.keywords, depth)
        args, kwargs = self.refs(value.args, depth), self.named(value.keywords, depth)
        return {"k": "partial", "func": self.ref(value.func, depth), "args": args, "kwargs": kwargs}

    # ---- objects

    def _member(self, value, depth):
        name = value.__dict__.get("_name_")
        if name not in type(value).__members__:
            return self._made(value, depth)
        return {"k": "member", "cls": self.ref(type(value), depth), "name": name}

    def _path(self, value, depth):
        name = "PurePath" if type(value).__name__.startswith("Pure") else "Path"
        return self._make(getattr(sys.modules["pathlib"], name), (str(value),), {}, depth)

    def _namespace(self, value, depth):
        return self._make(type(value), (), vars(value), depth)

    def _generator(self, value, depth):
        return {"k": "literal", "src": "iter(())"} if value.gi_frame is None else self._made(value, depth)

    def _instance(self, value, depth):
        """An instance of one of the program's classes; `made` only where it has a library's class as base."""
        recipe = self._constructed(value, depth) or self._made(value, depth)
        if recipe is None:
            cls, attrs = self.ref(type(value), depth), self.named(_attributes(value), depth)
            recipe = {"k": "object", "cls": cls, "attrs": attrs}
        return recipe

    def _constructed(self, value, depth):
        """A dataclass, named tuple, exception, or subclass of a builtin, by its constructor."""
        kind = type(value)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._make(kind, tuple.__iter__(value), {}, depth)
        for base in (*_CONTAINERS, dict, str, bytes, int, float):
            if issubclass(kind, base):
                return None if "__init__" in vars(kind) else self._make(kind, (base(value),), {}, depth)
        if issubclass(kind, BaseException):
            return self._make(kind, value.args, {}, depth)
        if "__init__" not in vars(kind) or "__attrs_attrs__" in vars(kind) or dataclasses.is_dataclass(kind):
            arguments = _dataclass_arguments(kind, _attributes(value))
            if arguments is not None:
                return self._make(kind, *arguments, depth)
        return None

    def _library_object(self, value, depth):
        sharding = sharding_source(value)
        if sharding is not None:
            return {"k": "literal", "src": sharding}
        recipe = self._public(value) or self._made(value, depth) or self._wrapped(value, depth)
        if recipe is None and not self.is_opaque(self.ref(type(value), depth)):
            recipe = self._constructed(value, depth)
        if recipe is None:  # JAX's own kinds of numbers
            base = next((base for base in (int, float, complex, str, bytes) if issubclass(type(value), base)), None)
            recipe = base and {"k": "literal", "src": _literal(base(value))}
        return recipe

    def _public(self, value):
        name = self.names.of(value)
        return name and {"k": "public", "name": name}

    def _make(self, cls, args, kwargs, depth):
        made = {"k": "make", "cls": self.ref(cls, depth), "args": self.refs(args, depth)}
        return None if self.is_opaque(made["cls"]) else {**made, "kwargs": self.named(kwargs, depth)}

    def _made(self, value, depth):
        made = self.recorder.made.get(id(value))
        if made is None:
            return None
        if made.object() is not value:  # another object has its place in memory now
            return None
        span = self.recorder.sites.values[made.site]
        return {"k": "made", **_span(span), "names": self.named(made.names, depth)}

    def _wrapped(self, value, depth):
        """What a library's decorator or wrapper made of a function."""
        inner = next((one for one in map(_getter(value), ("__wrapped__", "fun")) if callable(one)), None)
        if inner is None:
            return None
        definition = self._definition(inner) if type(inner) is types.FunctionType else None
        if definition and definition.decorated:
            return self._function(inner, depth)
        how = self.names.wrapper(value)
        return how and {"k": "wrapped", "fun": self.ref(inner, depth), "how": how}


def _is(*classes):
    return lambda kind: kind in classes


def _subclass_of(*classes):
    return lambda kind: issubclass(kind, classes)


def _is_dtype(kind):
    return "numpy" in sys.modules and issubclass(kind, sys.modules["numpy"].dtype)


_KINDS = (
    (_is(*_CONTAINERS), Renderer._container),
    (_is(*_DICTIONARIES), Renderer._dictionary),
    (_is(slice), Renderer._slice),
    (_is(types.GenericAlias), Renderer._alias),
    (_is_dtype, Renderer._dtype),
    (_subclass_of(types.ModuleType), Renderer._module),
    (_subclass_of(type), Renderer._class),
    (_is(types.FunctionType), Renderer._function),
    (_is(types.MethodType), Renderer._method),
    (_is(types.BuiltinFunctionType), Renderer._builtin),
    (_is(types.GeneratorType), Renderer._generator),
    (_subclass_of(functools.partial), Renderer._partial),
    (_subclass_of(enum.Enum), Renderer._member),
    (lambda kind: kind.__module__.startswith("pathlib"), Renderer._path),
    (lambda kind: kind.__name__ in ("Namespace", "SimpleNamespace"), Renderer._namespace),
    (lambda kind: kind.__module__ == "typing" and kind.__name__.endswith("GenericAlias"), Renderer._alias),
)  # fmt: skip


def _literal(value):
    """Source of a literal, None where it is too long or not made of literals."""
    kind = type(value)
    if kind is slice:
        parts = [_literal(one) if type(one) in _SCALARS else None for one in (value.start, value.stop, value.step)]
        return None if None in parts else "slice({})".format(", ".join(parts))
    if kind in (str, bytes) and len(value) > _LONGEST_TEXT:
        return None
    if kind is float and not abs(value) < float("inf"):
        return f'float("{value}")'
    if kind is complex and not abs(value) < float("inf"):
        return f"complex({_literal(value.real)}, {_literal(value.imag)})"
    return "..." if value is Ellipsis else repr(value)


def _opaque(kind):
    return {"k": "opaque", "type": kind.__module__ + "." + kind.__qualname__}


def _span(span):
    return dict(zip(("file", "line", "column", "end_line", "end_column"), span))


def _closure(function):
    """The closure variables that have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with contextlib.suppress(ValueError):  # not assigned yet
            found[name] = cell.cell_contents
    return found


def _getter(value):
    """Reads attributes that library objects keep; classes of the program are never asked."""
    return lambda name: getattr(value, name, None)


def _attributes(value):
    """`__dict__` and `__slots__` of an object, past its own ways of looking up."""
    found = {}
    for cls in type(value).__mro__:
        for name, descriptor in vars(cls).items():
            if isinstance(descriptor, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):  # a slot that was never filled
                    found[name] = descriptor.__get__(value)
    with contextlib.suppress(AttributeError):  # slots only
        found.update(object.__getattribute__(value, "__dict__"))
    return found


def _dataclass_arguments(kind, attributes):
    """(args, kwargs) for the constructor of a dataclass or attrs class, None where they are not known."""
    if "__attrs_attrs__" in vars(kind):
        fields = [(one.name, one.alias or one.name, one.default, one.init, False) for one in kind.__attrs_attrs__]
    elif dataclasses.is_dataclass(kind):
        every = kind.__dataclass_fields__.values()
        if any(one._field_type is dataclasses._FIELD_INITVAR for one in every):
            return None
        fields = [
            (one.name, one.name, one.default, one.init, getattr(one, "kw_only", False))
            for one in dataclasses.fields(kind)
        ]
    else:
        return None
    args, kwargs = [], {}
    for name, alias, default, init, _ in fields:
        if not init or (name in attributes and attributes[name] is default):
            continue
        if name not in attributes:
            return None
        kwargs[alias] = attributes[name]
    for _, alias, _, init, keyword in fields:
        if not init or keyword or alias not in kwargs:
            break
        args.append(kwargs.pop(alias))
    return args, kwargs
