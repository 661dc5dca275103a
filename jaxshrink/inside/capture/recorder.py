"""Notes the calls of JAX's public functions, by wrappers in their place.

A thread is in one of three states: outside all calls, in the body of a function that is traced (its `Scope` is open),
or inside JAX, where nothing is noted. JAX gets the program's functions with a wrapper that opens a scope.
"""

import functools
import inspect
import sys
import threading
import types

from .calls import Attribute, Call, Constant, Function, Host, Made, Node, Ref, Scope, Shape
from .head import Settings
from .plain import children

_HERE = __file__.rpartition("recorder")[0]
_MARK = "_jaxshrink"
_INSIDE = Scope()
_CACHED = 1024
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


class _Thread(threading.local):
    scope = None

    def __init__(self):
        self.owners = []  # (scope, call) of the calls under way


def NONE(place):  # noqa: N802
    """No argument is called."""
    return False


class Session:
    """What is recorded at present. `failed(scope, error)` is told of each error that leaves a call outside all others.

    `top` is the scope of the whole program where all of it is kept.
    """

    def __init__(self):
        self.is_on, self.top, self.failed = False, None, None
        self.settings = Settings()
        self.thread = _Thread()
        self.names = {}  # id of a public function -> its Public
        self.originals = {}  # the same -> (function, wrapper)
        self.wrappers = {}  # callable that can keep none itself -> wrapper

    @property
    def scope(self):
        scope = self.thread.scope
        return self.top if scope is None else scope

    def public_name(self, value):
        """The public name of an object of JAX that is no function, or None."""
        return self.names[id(value)].name if id(value) in self.names else None

    # ---- calls of JAX

    def call(self, func, fun, args, kwargs, functions=NONE):
        """Call `fun`, which the expression `func` stands for.

        `functions` tells of the place (index or name) of an argument whether JAX calls what is given there.
        """
        scope = self.scope
        if scope is None:
            return self._outermost(func, fun, args, kwargs, functions)
        return self._call(scope, func, fun, args, kwargs, functions)

    def call_function(self, fun, args, kwargs):
        """Call a function of the program in the open scope, as JAX would call it."""
        wrapper = self.traced(fun)
        return self._call(self.scope, vars(wrapper)[_MARK][1], wrapper, args, kwargs, NONE)

    def _outermost(self, func, fun, args, kwargs, functions=NONE):
        scope = Scope()
        try:
            return self._call(scope, func, fun, args, kwargs, functions)
        except Exception as error:
            scope.error = error
            self._tell(scope, error)
            raise

    def _tell(self, scope, error):
        if self.failed is not None:
            self.thread.scope = _INSIDE
            try:
                self.failed(scope, error)
            finally:
                self.thread.scope = None

    def _call(self, scope, func, fun, args, kwargs, functions):
        taken = [self.taken(arg, functions(i)) for i, arg in enumerate(args)]
        named = {name: self.taken(value, functions(name)) for name, value in kwargs.items()}
        call = Call(scope, func, [one[0] for one in taken], {name: one[0] for name, one in named.items()}, _place())
        call.within = tuple(scope.named)
        scope.calls.append(call)
        before, self.thread.scope = self.thread.scope, _INSIDE
        self.thread.owners.append((scope, call))
        try:
            result = fun(*[one[1] for one in taken], **{name: one[1] for name, one in named.items()})
        except BaseException as error:
            call.error = error
            raise
        finally:
            self.thread.owners.pop()
            self.thread.scope = before
        return self._returned(scope, call, result)

    def prepared(self, func, fun, args, kwargs, functions):
        """Make a function of JAX's while nothing is recorded: what it is called with later may be."""
        taken = [self.taken(arg, functions(i)) for i, arg in enumerate(args)]
        named = {name: self.taken(value, functions(name)) for name, value in kwargs.items()}
        made = Made(func, [one[0] for one in taken], {name: one[0] for name, one in named.items()})
        result = fun(*[one[1] for one in taken], **{name: one[1] for name, one in named.items()})
        return self.wrapped(made, result) if _is_function(result) else result

    def quick(self, func, fun, args, kwargs):
        """Call a function outside all scopes that calls none of the program's: noted only if it fails."""
        self.thread.scope = _INSIDE
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            scope = Scope()
            self._noted(scope, func, args, kwargs, error)
            scope.error = error
            self._tell(scope, error)
            raise
        finally:
            self.thread.scope = None

    def through(self, func, fun, args, kwargs):
        """Call a function that computes nothing itself: noted only if it is what fails."""
        scope = self.scope
        known = len(scope.calls) if scope is not None else 0
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            if scope is None:
                scope = Scope()
                self._noted(scope, func, args, kwargs, error)
                scope.error = error
                self._tell(scope, error)
            elif not any(call.error is error for call in scope.calls[known:]):
                self._noted(scope, func, args, kwargs, error)
            raise

    def _noted(self, scope, func, args, kwargs, error):
        taken = [self.taken(arg)[0] for arg in args]
        call = Call(scope, func, taken, {name: self.taken(value)[0] for name, value in kwargs.items()})
        call.error = error
        scope.calls.append(call)

    def _returned(self, scope, call, result):
        """Remember what a call gave; what the program gets."""
        if _is_function(result):
            scope.calls.remove(call)
            return self.wrapped(Made(call.func, call.args, call.kwargs), result)
        call.result, result = self._known(scope, call, result, ())
        return result

    def _known(self, scope, call, value, path):
        if type(value) in _PLAIN:
            return Constant(value), value
        if _is_array(value) or _is_callable_tree(value):
            ref = Ref(call, path, _like(value))
            scope.know(value, ref)
            return ref, value
        if _is_function(value):
            ref = Ref(call, path)
            return ref, self.wrapped(ref, value)
        parts = children(value)
        if parts is None:
            return Constant(value), value
        kind, keys, items = parts
        known = [self._known(scope, call, item, (*path, key)) for key, item in zip(keys, items)]
        if type(value) in (tuple, list) and any(new is not old for (_, new), old in zip(known, items)):
            value = type(value)(new for _, new in known)
        return Node(kind, keys, [tree for tree, _ in known]), value

    # ---- arguments

    def taken(self, value, functions=False):
        """The expression for an argument, and what JAX gets in its place."""
        kind = type(value)
        if kind in _PLAIN:
            return Constant(value), value
        if _is_array(value):
            return self._ref(value) or Constant(value), value
        known = self._marked(value)
        if known is None and functions and _may_be_traced(value):
            wrapper = self.traced(value)
            known = vars(wrapper)[_MARK][1], wrapper
        if known is not None:
            return known
        parts = children(value)
        if parts is None:
            return self._ref(value) or Constant(value), value
        kind, keys, items = parts
        taken = [self.taken(item, functions) for item in items]
        if kind in (tuple, list) and type(value) is kind and any(new is not old for (_, new), old in zip(taken, items)):
            value = kind(new for _, new in taken)
        return Node(kind, keys, [tree for tree, _ in taken]), value

    def _ref(self, value):
        scope = self.scope
        return scope.find(value) if scope is not None else None

    def _marked(self, value):
        """The expression of an object that has one, and what JAX gets."""
        mark = getattr(value, "__dict__", {}).get(_MARK) if not isinstance(value, type) else None
        if mark is not None and mark[0] is value:
            return mark[1], mark[2]
        if id(value) in self.names:
            return self.names[id(value)], value
        ref = self._ref(value)
        return (ref, value) if ref is not None else None

    def traced(self, fun):
        """The wrapper with which JAX gets a function of the program: always the same, as JAX caches by identity."""
        own = vars(fun).get(_MARK + "_traced") if isinstance(fun, types.FunctionType) else None
        if own is not None and own[0] is fun:
            return own[1]
        if not isinstance(fun, types.FunctionType):
            try:
                if fun in self.wrappers:
                    return self.wrappers[fun]
            except Exception:  # a hash or comparison of the program's own
                return self._new_traced(fun)
        wrapper = self._new_traced(fun)
        if isinstance(fun, types.FunctionType):
            vars(fun)[_MARK + "_traced"] = (fun, wrapper)
        else:
            if len(self.wrappers) >= _CACHED:
                self.wrappers.clear()
            self.wrappers[fun] = wrapper
        return wrapper

    def _new_traced(self, fun):
        function = Function(fun, _name(fun))

        def traced(*args, **kwargs):
            if self.is_on and self.thread.scope is _INSIDE:
                return self._trace(function, args, kwargs)
            return fun(*args, **kwargs)

        return _dressed(traced, fun, function, traced)

    def host(self, fun):
        """A function that runs on the host, and its expression."""
        host = Host(fun)

        def called_back(*args, **kwargs):
            before, self.thread.scope = self.thread.scope, _INSIDE
            try:
                return fun(*args, **kwargs)
            except Exception as error:
                host.error = error
                raise
            finally:
                self.thread.scope = before

        return _dressed(called_back, fun, host, called_back)

    def wrapped(self, expression, fun):
        """What the program gets for a function that JAX made: `expression` stands for it."""

        def made(*args, **kwargs):
            if not self.is_on or self.scope is _INSIDE:
                return fun(*args, **kwargs)
            return self.call(expression, fun, args, kwargs)

        _dressed(made, fun, expression, fun)
        for name in ("lower", "trace", "eval_shape"):  # of a jitted function
            if hasattr(fun, name):
                vars(made)[name] = self.wrapped_method(expression, fun, name)
        for name in ("clear_cache", "_cache_size", "_fun", "_jit_info"):
            if hasattr(fun, name):
                vars(made)[name] = getattr(fun, name)
        return made

    def wrapped_method(self, expression, base, name):
        method = getattr(base, name)

        @functools.wraps(method)
        def made(*args, **kwargs):
            if not self.is_on or self.scope is _INSIDE:
                return method(*args, **kwargs)
            return self.call(Attribute(expression, name), method, args, kwargs)

        return made

    # ---- functions of the program

    def _trace(self, function, args, kwargs):
        parent, owner = self.thread.owners[-1] if self.thread.owners else (None, None)
        scope = Scope(function, parent)
        _bind(scope, args, kwargs)
        self.thread.scope = scope
        try:
            result = function.fun(*args, **kwargs)
            scope.result = self.taken(result)[0]
        except BaseException as error:
            scope.error = error
            raise
        finally:
            self.thread.scope = _INSIDE
            function.add(scope)
            if owner is not None:
                owner.scopes.append(scope)
        return result


def _bind(scope, args, kwargs):
    """Give the arguments of a function the names of its parameters."""
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
    for name, kind, value in pairs:
        scope.params.append((name, kind, _parameter(scope, value, (name,))))


def _parameter(scope, value, path):
    if type(value) in _PLAIN:
        return Constant(value)
    if _is_array(value) or _is_callable_tree(value):
        ref = Ref(scope, path, _like(value))
        scope.know(value, ref)
        return ref
    parts = children(value)
    if parts is None:
        return Constant(value)
    kind, keys, items = parts
    return Node(kind, keys, [_parameter(scope, item, (*path, key)) for key, item in zip(keys, items)])


def _dressed(wrapper, fun, expression, raw):
    """Make a wrapper look like what it wraps, and remember what it stands for and what JAX gets of it."""
    functools.update_wrapper(wrapper, fun, updated=())
    if not hasattr(fun, "__name__"):
        wrapper.__name__ = _name(fun) if isinstance(fun, functools.partial) else "<unnamed function>"
    vars(wrapper).update({k: v for k, v in getattr(fun, "__dict__", {}).items() if not k.startswith(_MARK)})
    wrapper.__wrapped__ = fun
    vars(wrapper)[_MARK] = (wrapper, expression, raw)
    return wrapper


def mark(thing, expression):
    """Remember what stands for an object of JAX's that is not replaced by a wrapper."""
    vars(thing)[_MARK] = (thing, expression, thing)


def _name(fun):
    while isinstance(fun, functools.partial):
        fun = fun.func
    return getattr(fun, "__name__", None) or type(fun).__name__


def _place():
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return (frame.f_code, frame.f_lasti) if frame is not None else None


def _is_array(value):
    kind = type(value)
    if kind.__module__ == "builtins":
        return False
    jax, numpy = sys.modules["jax"], sys.modules["numpy"]
    return issubclass(kind, (jax.core.Tracer, numpy.ndarray)) or isinstance(value, jax.Array)


def _like(value):
    """The abstract value of an array; of NumPy's its own shape and type."""
    aval = getattr(value, "aval", None)
    return aval if aval is not None or not hasattr(value, "dtype") else Shape(value.shape, value.dtype)


def _is_callable_tree(value):
    """What `jax.vjp` gives: a function that is a pytree too."""
    kind = type(value)
    return kind.__module__.startswith("jax._src") and kind.__name__ in ("VJP", "Partial")


def _may_be_traced(value):
    """Whether a callable is one that JAX traces: no class, and none of JAX's own objects that happen to be callable."""
    if isinstance(value, type) or not callable(value):
        return False
    if inspect.isgeneratorfunction(value) or inspect.iscoroutinefunction(value):
        return False
    return isinstance(value, _FUNCTIONS) or type(value).__module__.partition(".")[0] not in ("jax", "jaxlib")


_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_FUNCTION_NAMES = (
    "f", "fun", "func", "fn", "pyfunc", "body_fun", "cond_fun", "true_fun", "false_fun", "branches", "kernel",
    "computation", "policy", "body", "operator", "solve", "transpose_solve", "tangent_solve", "matvec", "callback",
)  # fmt: skip


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


def _is_function(value):
    if isinstance(value, type) or not callable(value):
        return False
    if isinstance(value, (types.FunctionType, functools.partial, types.MethodType)):
        return not _is_callable_tree(value)
    return type(value).__name__ in ("PjitFunction", "PmapFunction")
