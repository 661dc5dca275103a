"""What is recorded: calls, the scopes of traced functions that they stand in, and where each value comes from."""

import inspect
import weakref

from .values import is_tracer

KEPT_SCOPES = 8
"""Traces of a function that are remembered: JAX may use the jaxpr of an earlier one again."""

CAUGHT = "caught"
"""In place of an error that the program caught: the error itself would keep all that its frames hold."""


class Ref:
    """A leaf of what a call returned, or of what a traced function was given (`source` is its scope then).

    `like` tells its shape and type, for where it cannot be reached. A value that nobody knows has no source.
    """

    __slots__ = ("like", "path", "source")

    def __init__(self, source, path, like=None):
        self.source, self.path, self.like = source, path, like


class Leaked:
    """A value that has left the function that it belongs to: its Ref there, the trace, and the calls around that.

    `owners` has (scope, call) of each, the outermost first.
    """

    __slots__ = ("owners", "ref", "scope")

    def __init__(self, ref, scope, owners):
        self.ref, self.scope, self.owners = ref, scope, owners


class Shape:
    """Shape and dtype of an array of NumPy's."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


def like(value):
    """The abstract value of an array; of NumPy's its own shape and type; None for what is no array."""
    aval = getattr(value, "aval", None)
    return aval if aval is not None or not hasattr(value, "dtype") else Shape(value.shape, value.dtype)


class Context:
    """A context that is open around calls, entered once."""

    __slots__ = ("expression", "written")

    def __init__(self, expression):
        self.expression, self.written = expression, None


class Constant:
    """A value that no recorded call has made."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Node:
    """A container. `kind` is tuple, list, dict or slice; keys are indices in the first two."""

    __slots__ = ("items", "keys", "kind")

    def __init__(self, kind, keys, items):
        self.kind, self.keys, self.items = kind, keys, items


class Public:
    """A public object of JAX by its dotted name."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


_OPTIONS = frozenset(("static_argnums", "static_argnames", "donate_argnums", "donate_argnames"))
"""Options that tell parameters of a function by place or name."""


class Made:
    """What a public function gave that is no array, such as `jax.vmap(f)`: the call stands where it is used."""

    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func, args, kwargs):
        self.func, self.args, self.kwargs = func, args, kwargs
        for function in args:
            if isinstance(function, Function):
                for name in _OPTIONS.intersection(kwargs):
                    function.told.update(_plain(kwargs[name]))


class Operator:
    """A special method, by its name without underscores."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


class Method:
    """A method, or with `is_property` a property, of the first argument."""

    __slots__ = ("is_property", "name")

    def __init__(self, name, is_property=False):
        self.name, self.is_property = name, is_property


class Attribute:
    """An attribute of another expression."""

    __slots__ = ("base", "name")

    def __init__(self, base, name):
        self.base, self.name = base, name


class Host:
    """A function that JAX calls back on the host, never written down; `error` if it raised."""

    __slots__ = ("error", "name")

    def __init__(self, name):
        self.name, self.error = name, None


class Function:
    """A function of the program that JAX calls, without itself, which may hold tracers.

    `scopes`: its latest traces. `unhashable`: what in it has no hash, and so makes that it has none. `told`: the
    parameters, by place or name, that options tell of.
    """

    __slots__ = ("name", "scopes", "signature", "told", "unhashable")

    def __init__(self, fun, name):
        self.name, self.scopes, self.unhashable, self.told = name, [], None, set()
        try:
            self.signature = inspect.signature(fun)
        except (TypeError, ValueError):  # builtins have none
            self.signature = None

    def add(self, scope):
        self.scopes.append(scope)
        del self.scopes[:-KEPT_SCOPES]


class Rules:
    """A function with rules of its own: an instance of custom_jvp, custom_vjp or custom_vmap.

    `itself()` is that function, or None when it is no more.
    """

    __slots__ = ("args", "definitions", "fun", "itself", "kwargs", "name")

    def __init__(self, name, itself, fun, args, kwargs):
        self.name, self.fun, self.args, self.kwargs = name, fun, args, kwargs
        self.itself = weakref.ref(itself)
        self.definitions = []  # calls of its methods, as (method, args, kwargs)


class Call:
    """One call. `result` is the tree of its Refs; `scopes` the traces of the program's functions that it caused.

    `home` is the scope that it stands in, `place` where it was called: code object and instruction. `within`: the
    contexts that are open around it in that scope. `given`: its arguments as they are, until they are looked at.
    """

    __slots__ = ("args", "error", "func", "given", "home", "kwargs", "place", "result", "scopes", "within")

    def __init__(self, home, func, args, kwargs, place=None, within=()):
        self.home, self.func, self.args, self.kwargs, self.place, self.within = home, func, args, kwargs, place, within
        self.result = self.error = self.given = None
        self.scopes = []

    @property
    def around(self):
        """The scopes that it stands in."""
        found, scope = [], self.home
        while scope is not None:
            found.append(scope)
            scope = scope.parent
        return found


class Scope:
    """One trace of a function, or the top level of the program (`function` is None).

    `params` has (name, kind, tree) of each parameter as it was bound, `values` the values known here: id -> (value,
    Ref), the value so that no other gets its id. `contexts` are open in it now, `around` were open outside. `left`:
    what has left traces below it, where it is that which fails. `refused`: the latest call of an operator that gave
    NotImplemented; it is none of the calls. `is_rerun`: it failed with arrays themselves, where its call had traced the
    function well before, as JAX does to look for NaNs.
    """

    __slots__ = (
        "around", "calls", "contexts", "error", "function", "is_rerun", "left", "params", "parent", "refused", "result",
        "values",
    )  # fmt: skip

    def __init__(self, function=None, parent=None):
        self.function, self.parent = function, parent
        self.params, self.calls, self.values, self.contexts = [], [], {}, []
        self.around = self.left = ()
        self.result = self.error = self.refused = None
        self.is_rerun = False

    def find(self, value):
        """The Ref of a value in this scope or those around it, or None."""
        scope, key = self, id(value)
        while scope is not None:
            if key in scope.values:
                return scope.values[key][1]
            scope = scope.parent
        return None

    def know(self, value, ref):
        self.values[id(value)] = (value, ref)

    def close(self):
        """Let go of the values, when no more calls are to come."""
        self.values, self.refused = {}, None
        if self.function is None and self.error is None:
            self.calls = []

    @property
    def is_failed(self):
        return self.error is not None

    @property
    def is_whole(self):
        """Whether the function has given something: neither has it failed nor is it under way."""
        return self.result is not None

    @property
    def failing(self):
        """The call that the error came through, or None if the program raised it by itself."""
        last = self.calls[-1] if self.calls and self.is_failed else None
        return last if last is not None and last.error is self.error else None


def is_rerun(call, scope):
    """Whether a call runs a function with arrays themselves that it has traced well before."""
    was_traced = any(one.function is scope.function and one.is_whole for one in call.scopes)
    return was_traced and not any(is_tracer(value) for value, ref in scope.values.values() if ref.source is scope)


def _plain(tree):
    """The plain values in a tree."""
    if isinstance(tree, Node):
        for item in tree.items:
            yield from _plain(item)
    elif isinstance(tree, Constant):
        yield tree.value


INSIDE = Scope()
"""Stands for the open scope while JAX itself runs."""


def leaves(tree):
    """The Refs in a tree."""
    if isinstance(tree, Node):
        for item in tree.items:
            yield from leaves(item)
    elif isinstance(tree, Ref):
        yield tree
