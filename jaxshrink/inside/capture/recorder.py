"""Notes the calls of JAX's public functions, by wrappers in their place.

A thread is in one of three states: outside all calls, in the body of a function that is traced (its `Scope` is open),
or inside JAX, where nothing is noted. JAX gets the program's functions with a wrapper that opens a scope.
"""

import threading

from . import leaks, values, wrappers
from .calls import CAUGHT, Call, Constant, Function, Host, Made, Node, Ref, Scope, is_rerun, like
from .failures import is_refusal
from .head import Settings
from .params import bind
from .plain import children
from .tracebacks import place, raised_by_program
from .values import NONE, PLAIN, is_array, is_function, is_object, is_rules, is_tracer, may_be_traced, name_of

INSIDE = Scope()
_TOLD = "_jaxshrink_told"


class _Thread(threading.local):
    scope = None

    def __init__(self):
        self.owners = []  # (scope, call) of the calls under way
        self.contexts = []  # those that are open outside all functions
        self.refused = None  # the operator that gave NotImplemented last outside all functions, and its arguments


class Session:
    """What is recorded at present. `failed(scope, error)` is told of each error that leaves a call outside all others.

    `top` is the scope of the whole program where all of it is kept. `mistakes` are errors of `failed` itself, which
    must not take the place of the program's.
    """

    def __init__(self):
        self.is_on, self.top, self.failed = False, None, None
        self.mistakes = []
        self.settings = Settings()
        self.thread = _Thread()
        self.names = {}  # id of a public function -> its Public
        self.originals = {}  # the same -> (function, wrapper)
        self.wrappers = wrappers.Kept()
        self.objects = wrappers.Objects()
        self.left = leaks.Left()

    @property
    def scope(self):
        scope = self.thread.scope
        return self.top if scope is None else scope

    @property
    def is_idle(self):
        """Whether a call is not to be noted."""
        return not self.is_on or self.thread.scope is INSIDE

    @property
    def is_inside(self):
        """Whether JAX itself is running."""
        return self.thread.scope is INSIDE

    def public_name(self, value):
        """The public name of an object of JAX that is no function, or None."""
        return self.names[id(value)].name if id(value) in self.names else None

    # ---- calls of JAX

    def call(self, func, fun, args, kwargs, functions=NONE):
        """Call `fun`, which the expression `func` stands for.

        `functions` tells of the place (index or name) of an argument whether JAX calls what is given there.
        """
        scope = self.scope
        if scope is not None:
            return self._call(scope, func, fun, args, kwargs, functions)
        scope = Scope()
        try:
            result = self._call(scope, func, fun, args, kwargs, functions)
        except Exception as error:
            self._tell(scope, error)
            raise
        scope.close()
        return result

    def call_function(self, fun, args, kwargs):
        """Call a function of the program in the open scope, as JAX would call it."""
        wrapper = self.traced(fun)
        return self._call(self.scope, wrappers.mark_of(wrapper)[1], wrapper, args, kwargs, NONE)

    def prepared(self, func, fun, args, kwargs, functions):
        """Make a function of JAX's while nothing is recorded: what it is called with later may be."""
        given, (args, kwargs) = self.both(args, kwargs, functions)
        result = fun(*args, **kwargs)
        return self.wrapped(Made(func, *given), result) if is_function(result) else result

    def run(self, func, fun, args, kwargs):
        """Call a function that JAX has made: outside all scopes its arguments are looked at only if it fails."""
        scope = self.scope
        if scope is not None:
            return self._call(scope, func, fun, args, kwargs, NONE)
        scope = Scope()
        call = Call(scope, func, (), {})
        call.given = args, kwargs
        scope.calls.append(call)
        call.within = tuple(self.thread.contexts)
        try:
            result = self.under(scope, call, fun, args, kwargs)
            if any(map(is_object, result if type(result) is tuple else (result,))):
                self.complete(call)
                result = self._returned(scope, call, result)
            return result
        except Exception as error:
            self.complete(call)
            self._tell(scope, error)
            raise
        finally:
            if call.scopes and self.left.of(call):
                self.complete(call)
            call.given = None
            scope.close()

    def complete(self, call):
        """Look at the arguments of a call now, if that is still to be done."""
        if call.given is not None:
            (args, kwargs), call.given = call.given, None
            call.args, call.kwargs = self._expressions(args, kwargs)

    def _tell(self, scope, error):
        scope.error = error
        scope.left = self.left.found(scope.calls[-1]) if scope.calls else ()
        if self.failed is None or _TOLD in vars(error):
            return
        vars(error)[_TOLD] = True
        before, self.thread.scope = self.thread.scope, INSIDE
        try:
            self.failed(scope, error)
        except Exception as mistake:  # of capture's own
            self.mistakes.append(mistake)
        finally:
            self.thread.scope = before

    def _call(self, scope, func, fun, args, kwargs, functions):
        given, (args, kwargs) = self.both(args, kwargs, functions)
        call = Call(scope, func, *given, place())
        call.within = self._within(scope)
        scope.calls.append(call)
        return self._returned(scope, call, self.under(scope, call, fun, args, kwargs))

    def under(self, scope, call, fun, args=(), kwargs={}):  # noqa: B006
        """Call a function of JAX's: what it traces belongs to `call`."""
        before, self.thread.scope = self.thread.scope, INSIDE
        self.thread.owners.append((scope, call))
        try:
            return fun(*args, **kwargs)
        except BaseException as error:
            call.error = error
            raise
        finally:
            self.thread.owners.pop()
            self.thread.scope = before

    def inside(self, fun, *args, **kwargs):
        """Call a function of JAX's without looking."""
        before, self.thread.scope = self.thread.scope, INSIDE
        try:
            return fun(*args, **kwargs)
        finally:
            self.thread.scope = before

    def _within(self, scope):
        return tuple(self.thread.contexts if scope.function is None else scope.contexts)

    def quick(self, func, fun, args, kwargs):
        """Call a function outside all scopes that calls none of the program's: noted only if it fails."""
        self.thread.scope = INSIDE
        try:
            result = fun(*args, **kwargs)
        except Exception as error:
            self._fail(func, args, kwargs, error)
            raise
        finally:
            self.thread.scope = None
        if result is NotImplemented:
            self.thread.refused = func, args, kwargs
        return result

    def raised(self, error):
        """Look at an error that has left the program: of operators that JAX refuses it comes from Python itself."""
        if not is_refusal(error):
            return
        if self.top is not None and self.top.refused is not None:
            self.top.refuse(error)
        elif self.thread.refused is not None:
            refused, self.thread.refused = self.thread.refused, None
            self._fail(*refused, error)

    def through(self, func, fun, args, kwargs):
        """Call a function that computes nothing itself: noted only if it is what fails."""
        scope = self.scope
        known = len(scope.calls) if scope is not None else 0
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            if raised_by_program(error):  # a function that it was given did
                pass
            elif scope is None:
                self._fail(func, args, kwargs, error)
            elif not any(call.error is error for call in scope.calls[known:]):
                self.note(scope, func, args, kwargs, error)
            raise

    def _fail(self, func, args, kwargs, error):
        scope = Scope()
        self.note(scope, func, args, kwargs, error)
        self._tell(scope, error)

    def note(self, scope, func, args, kwargs, error=None):
        """Add a call that has been made already."""
        call = Call(scope, func, *self._expressions(args, kwargs, functions=True))
        call.error, call.within = error, self._within(scope)
        scope.calls.append(call)
        return call

    def _expressions(self, args, kwargs, functions=False):
        args = [self.taken(arg, functions and is_function(arg))[0] for arg in args]
        return args, {name: self.taken(arg, functions and is_function(arg))[0] for name, arg in kwargs.items()}

    def _returned(self, scope, call, result):
        """Remember what a call gave; what the program gets."""
        if result is NotImplemented:
            scope.calls.remove(call)
            scope.refused = call
            return result
        if is_function(result):
            scope.calls.remove(call)
            return self.wrapped(Made(call.func, call.args, call.kwargs), result)
        if is_rules(result) and wrappers.mark_of(result) is None:  # of `jax.custom_gradient`
            scope.calls.remove(call)
            wrappers.mark(result, Made(call.func, call.args, call.kwargs))
            return result
        call.result, result = self._known(scope, call, result, ())
        return result

    def _known(self, scope, call, value, path):
        if type(value) in PLAIN:
            return Constant(value), value
        if is_array(value):
            ref = Ref(call, path, like(value))
            scope.know(value, ref)
            return ref, value
        if is_object(value):
            ref = Ref(call, path)
            scope.know(value, ref)
            self.objects.keep(value, ref)
            return ref, value
        if is_function(value):
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
        if kind in PLAIN:
            # A number that a function of the program was given is the same object where it is used.
            return (kind is float and self._ref(value)) or Constant(value), value
        if is_array(value):
            return self._ref(value) or (self._unknown(value) if is_tracer(value) else Constant(value)), value
        known = self._marked(value)
        if known is None and functions and may_be_traced(value):
            wrapper = self.traced(value)
            known = wrappers.mark_of(wrapper)[1], wrapper
        if known is not None:
            return known
        parts = children(value)
        if parts is None:
            return Constant(value), value
        kind, keys, items = parts
        taken = [self.taken(item, functions) for item in items]
        if kind in (tuple, list) and type(value) is kind and any(new is not old for (_, new), old in zip(taken, items)):
            value = kind(new for _, new in taken)
        return Node(kind, keys, [tree for tree, _ in taken]), value

    def both(self, args, kwargs, functions):
        """The expressions of arguments, and what JAX gets in their place, each as (args, kwargs)."""
        taken = [self.taken(arg, functions(i)) for i, arg in enumerate(args)]
        named = {name: self.taken(value, functions(name)) for name, value in kwargs.items()}
        expressions, given = (
            ([one[part] for one in taken], {name: one[part] for name, one in named.items()}) for part in (0, 1)
        )
        return expressions, given

    def _ref(self, value):
        scope = self.scope
        return scope.find(value) if scope is not None else None

    def _unknown(self, tracer):
        """The expression of a tracer that is none of the open functions'."""
        return self.left.find(tracer) or Ref(None, (), like(tracer))

    def reference(self, value):
        """The Ref of an object of JAX's that a call of the program gave, or None."""
        return self._ref(value) or self.objects.find(value)

    def _marked(self, value):
        """The expression of an object that has one, and what JAX gets."""
        mark = wrappers.mark_of(value) if not isinstance(value, type) else None
        if mark is not None:
            return mark[1], mark[2]
        if id(value) in self.names:
            return self.names[id(value)], value
        ref = self.reference(value)
        return (ref, value) if ref is not None else None

    # ---- functions

    def traced(self, fun):
        """The wrapper with which JAX gets a function of the program: always the same, as JAX caches by identity."""
        return self.wrappers.get(fun, self._new_traced)

    def _new_traced(self, fun):
        function = Function(fun, name_of(fun))
        part = values.without_hash(fun)
        function.unhashable = self.taken(part)[0] if part is not None else None

        def traced(*args, **kwargs):
            if self.is_on and self.thread.scope is INSIDE:
                return self._trace(function, fun, args, kwargs)
            return fun(*args, **kwargs)

        wrapper = traced if part is None else wrappers.Unhashable(traced, fun)
        return wrappers.dressed(wrapper, fun, function, wrapper)

    def host(self, fun):
        """A function that runs on the host, and its expression."""
        host = Host(name_of(fun))

        def called_back(*args, **kwargs):
            try:
                return self.inside(fun, *args, **kwargs)
            except Exception as error:
                host.error = error
                raise

        return wrappers.dressed(called_back, fun, host, called_back)

    def wrapped(self, expression, fun):
        """What the program gets for a function that JAX made: `expression` stands for it."""
        return wrappers.made(self, expression, fun)

    def _trace(self, function, fun, args, kwargs):
        parent, owner = self.thread.owners[-1] if self.thread.owners else (None, None)
        scope = Scope(function, parent)
        if owner is not None:
            scope.around = (*owner.home.around, *owner.within)
            owner.scopes.append(scope)
        self.thread.scope = scope
        try:
            args, kwargs = bind(self, scope, args, kwargs)
            result = fun(*args, **kwargs)
            scope.result, result = self.taken(result, functions=values.gives_function(result))
        except BaseException as error:
            scope.error = error
            scope.is_rerun = owner is not None and is_rerun(owner, scope)
            if is_refusal(error):
                scope.refuse(error)
            raise
        finally:
            self.thread.scope = INSIDE
            self.left.keep(scope, tuple(self.thread.owners))
            scope.close()
        function.add(scope)
        for call in scope.calls:
            if call.error is not None:
                call.error = CAUGHT
        return result
