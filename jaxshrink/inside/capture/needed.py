"""Which of the recorded calls a program needs: those that its failure depends on, or all of them."""

from .calls import Attribute, Call, Function, Made, Node, Ref, Rules

_EFFECTS = (
    "jax.debug.print", "jax.debug.callback", "jax.experimental.io_callback", "jax.ref.set", "jax.ref.swap",
    "jax.ref.addupdate", "jax.experimental.pallas.debug_print", "jax.experimental.checkify.check",
)  # fmt: skip


class Needed:
    """The calls that are needed, and which trace of a function stands for it.

    `everything`: also the calls whose results are not used. `hollow`: none within functions that ended well;
    `skeleton`: besides, none of those whose results others use. `only`: a scope, and the one call that it is to hold
    in place of all others.
    """

    def __init__(self, calls, everything=False, hollow=False, skeleton=False, only=(None, None)):
        self.everything, self.hollow, self.skeleton, self.only = everything, hollow or skeleton, skeleton, only
        self.calls, self.scopes, self.failing = set(), set(), set()
        for call in calls:
            self._fail(call)
        for call in calls:
            self.call(call)

    def _fail(self, call):
        """Follow an error inwards, to the call or the statement that raised it."""
        while call is not None and call.error is not None:
            failed = [scope for scope in call.scopes if scope.is_failed]
            if not failed:
                return
            self.failing.add(failed[-1])
            call = failed[-1].failing

    def call(self, call):
        if call in self.calls:
            return
        self.calls.add(call)
        self.expression(call.func, call)
        for argument in call.args:
            self.expression(argument, call)
        for argument in call.kwargs.values():
            self.expression(argument, call)

    def expression(self, part, call):
        """Need what an expression of a call needs."""
        if isinstance(part, Ref):
            if isinstance(part.source, Call) and (not self.skeleton or part.source.error is not None):
                self.call(part.source)
        elif isinstance(part, Node):
            for item in part.items:
                self.expression(item, call)
        elif isinstance(part, Attribute):
            self.expression(part.base, call)
        elif isinstance(part, Made):
            self.expression(part.func, call)
            for argument in (*part.args, *part.kwargs.values()):
                self.expression(argument, call)
        elif isinstance(part, Rules):
            for each in (part.fun, *part.args, *part.kwargs.values()):
                self.expression(each, call)
            for _, args, kwargs in part.definitions:
                for each in (*args, *kwargs.values()):
                    self.expression(each, call)
        elif isinstance(part, Function):
            self.function(part, call)

    def function(self, function, call):
        scope = self.scope_of(function, call)
        if scope is None or (function, scope) in self.scopes:
            return
        self.scopes.add((function, scope))
        if scope is self.only[0]:
            self.call(self.only[1])
            return
        if self.hollow and scope not in self.failing:
            return
        if scope in self.failing:
            if scope.failing is not None:
                self.call(scope.failing)
            if not self.everything:
                for each in scope.calls:
                    if is_effect(each) and each.error is None and scope.failing is None:
                        self.call(each)
                return
        else:
            self.expression(scope.result, call)
        for each in scope.calls:
            if each.error is None and (self.everything or is_effect(each)):
                self.call(each)

    def scope_of(self, function, call):
        """The trace that stands for a function where a call uses it: never one that the call is part of."""
        around = set()
        home = call.home if call is not None else None
        while home is not None:
            around.add(home)
            home = home.parent
        caused = [scope for scope in call.scopes if scope.function is function] if call is not None else []
        failing = [scope for scope in self.failing if scope.function is function and scope not in around]
        if failing:
            return failing[0]
        for scopes in (caused, function.scopes):
            good = [scope for scope in scopes if not scope.is_failed and scope not in around]
            if good:
                return good[-1]
        return None


def chain(call):
    """The calls through which an error came, the innermost first."""
    found = []
    while call is not None and call.error is not None:
        found.insert(0, call)
        failed = [scope for scope in call.scopes if scope.is_failed]
        call = failed[-1].failing if failed else None
    return found


def suspects(call):
    """(scope, call) of calls, anywhere below the functions that a call has traced, that it may have failed because of.

    A transformation fails on what it finds in the traced function. Each function of JAX, and each with rules of its
    own, is told of once: those with rules first, then those that call others.
    """
    found = {}
    for scope in call.scopes[-1:]:
        for each in _below(scope):
            func = each.func
            key = func if isinstance(func, (Rules, Made)) else getattr(func, "name", None)
            if each.error is None and key is not None:
                found.setdefault(key, (scope, each))
    return sorted(found.values(), key=lambda pair: (not isinstance(pair[1].func, Rules), not pair[1].scopes))


def _below(scope):
    for call in scope.calls:
        yield call
        for inner in call.scopes:
            yield from _below(inner)


def is_effect(call):
    """Whether a call does something besides what it returns."""
    func = call.func
    name = getattr(func, "name", "")
    return name in _EFFECTS or name == "setitem"
