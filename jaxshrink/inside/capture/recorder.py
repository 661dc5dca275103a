"""Notes the calls of JAX's public functions, by wrappers in their place.

A thread is in one of three states: outside all calls, in the body of a function that is traced (its `Scope` is open),
or inside JAX, where nothing is noted. JAX gets the program's functions with a wrapper that opens a scope (`tracing`).
Whatever is done for the record alone runs under `guard`: where that fails, the call goes on and is not noted.
"""

import functools
import threading

from . import leaks, tracing, wrappers
from .calls import INSIDE, Call, Constant, Made, Node, Ref, Scope, like
from .failures import is_refusal
from .guard import Guard
from .head import Settings
from .plain import children
from .refusals import Refused, refuse
from .tracebacks import place, raised_by_program
from .values import NONE, PLAIN, is_array, is_function, is_object, is_rules, is_tracer, may_be_traced

_TOLD = "_jaxshrink_told"


class _Thread(threading.local):
    scope = None

    def __init__(self):
        self.owners = []  # (scope, call) of the calls under way
        self.contexts = []  # those that are open outside all functions
        self.refused = None  # the operator that gave NotImplemented last outside all functions


class Session:
    """What is recorded at present. `failed(scope, error)` is told of each error that leaves a call outside all others.

    `top` is the scope of the whole program where all of it is kept. `guard` keeps the recorder's own mistakes.
    """

    def __init__(self):
        self.is_on, self.top, self.failed = False, None, None
        self.guard = Guard()
        self.settings = Settings()
        self.thread = _Thread()
        self.names = {}  # id of a public function -> its Public
        self.originals = {}  # the same -> (function, wrapper)
        self.wrappers = wrappers.Kept()
        self.objects = wrappers.Objects()
        self.left = leaks.Left()

    @property
    def mistakes(self):
        return self.guard.mistakes

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
        wrapper = self.guard(None, self.traced, fun)
        if wrapper is None:
            return self.inside(fun, *args, **kwargs)
        return self._call(self.scope, wrappers.mark_of(wrapper)[1], wrapper, args, kwargs, NONE)

    def prepared(self, func, fun, args, kwargs, functions):
        """Make a function of JAX's while nothing is recorded: what it is called with later may be."""
        given, (args, kwargs) = self.guard((None, (args, kwargs)), self.both, args, kwargs, functions)
        result = fun(*args, **kwargs)
        if given is None or not is_function(result):
            return result
        return self.guard(result, self.wrapped, Made(func, *given), result)

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
            return self.guard(result, self._given, scope, call, result)
        except Exception as error:
            self.complete(call)
            self._tell(scope, error)
            raise
        finally:
            if call.scopes and self.guard(None, self.left.of, call):
                self.complete(call)
            call.given = None
            scope.close()

    def _given(self, scope, call, result):
        """What the program gets of a function that JAX has made."""
        if not any(map(is_object, result if type(result) is tuple else (result,))):
            return result
        self.complete(call)
        return self._returned(scope, call, result) if call in scope.calls else result

    def complete(self, call):
        """Look at the arguments of a call now, if that is still to be done."""
        if call.given is not None:
            (args, kwargs), call.given = call.given, None
            found = self.guard(None, self._expressions, args, kwargs)
            if found is None:
                call.home.calls.remove(call)
            else:
                call.args, call.kwargs = found

    def _tell(self, scope, error):
        scope.error = error
        if scope.calls:  # else it could not be noted
            before, self.thread.scope = self.thread.scope, INSIDE
            self.guard(None, self._told, scope, error)
            self.thread.scope = before

    def _told(self, scope, error):
        scope.left = self.left.found(scope.calls[-1])
        if self.failed is not None and _TOLD not in vars(error):
            vars(error)[_TOLD] = True
            self.failed(scope, error)

    def _call(self, scope, func, fun, args, kwargs, functions):
        nothing = None, (args, kwargs)
        call, (args, kwargs) = self.guard(nothing, self._begun, scope, func, args, kwargs, functions)
        if call is None:
            return self.inside(fun, *args, **kwargs)
        result = self.under(scope, call, fun, args, kwargs)
        return self.guard(result, self._returned, scope, call, result)

    def _begun(self, scope, func, args, kwargs, functions):
        """A call that is about to be made, and what JAX gets."""
        given, raw = self.both(args, kwargs, functions)
        call = Call(scope, func, *given, place())
        call.within = self._within(scope)
        scope.calls.append(call)
        return call, raw

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
            self.guard(None, self._fail, func, args, kwargs, error)
            raise
        finally:
            self.thread.scope = None
        if result is NotImplemented:
            self.thread.refused = self.guard(None, Refused, func, args)
        return result

    def raised(self, error):
        """Look at an error that has left the program: of operators that JAX refuses it comes from Python itself."""
        if is_refusal(error):
            self.guard(None, self._refused, error)

    def _refused(self, error):
        refused, self.thread.refused = self.thread.refused, None
        if self.top is not None:
            refuse(self.top, error)
        elif refused is not None:
            func, args = self.inside(refused.call, error)
            self._fail(func, args, {}, error)

    def through(self, func, fun, args, kwargs):
        """Call a function that computes nothing itself: noted only if it is what fails."""
        scope = self.scope
        known = len(scope.calls) if scope is not None else 0
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            self.guard(None, self._failed_through, scope, known, func, args, kwargs, error)
            raise

    def _failed_through(self, scope, known, func, args, kwargs, error):
        if raised_by_program(error):  # a function that it was given did
            return
        if scope is None:
            self._fail(func, args, kwargs, error)
        elif not any(call.error is error for call in scope.calls[known:]):
            self.note(scope, func, args, kwargs, error)

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
        return self.wrappers.get(fun, functools.partial(tracing.traced, self))

    def wrapped(self, expression, fun):
        """What the program gets for a function that JAX made: `expression` stands for it."""
        return wrappers.made(self, expression, fun)
