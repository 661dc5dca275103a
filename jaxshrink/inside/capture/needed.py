"""Which of the recorded calls a program needs: those that its failure depends on, or all of them."""

from .calls import Attribute, Call, Constant, Function, Leaked, Made, Node, Ref, Rules
from .leaks import way
from .values import PLAIN

_EFFECTS = (
    "jax.debug.print", "jax.debug.callback", "jax.experimental.io_callback", "jax.ref.set", "jax.ref.swap",
    "jax.ref.addupdate", "jax.experimental.pallas.debug_print", "jax.experimental.checkify.check",
)  # fmt: skip


class Needed:
    """The calls that are needed, and which trace of a function stands for it.

    `everything`: also the calls whose results are not used. `hollow`: none within functions that ended well;
    `skeleton`: besides, none of those whose results others use. `only`: a scope, and the one call that it is to hold
    in place of all others.

    `before` are calls of the outermost level that come first, `leaks` what has left the traces of functions: (source,
    Refs) of each.
    """

    def __init__(self, calls, everything=False, hollow=False, skeleton=False, only=(None, None)):
        self.everything, self.hollow, self.skeleton, self.only = everything, hollow or skeleton, skeleton, only
        self.calls, self.scopes, self.failing, self.found = set(), set(), set(), {}
        self.top, self.before, self.leaks = tuple(calls), [], {}
        for call in calls:
            self.failing.update(failing_traces(call))
        self.pending = []  # calls whose parts are to come, as chains of calls may be long
        for call in calls:
            self.call(call)
            for leaked in call.home.left:
                self._leaked(leaked, call)
        while self.pending:
            self._parts(self.pending.pop())

    def call(self, call):
        """Need a call."""
        if call in self.calls:
            return
        self.calls.add(call)
        self.pending.append(call)

    def _parts(self, call):
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
        elif isinstance(part, Leaked):
            self._leaked(part, call)
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
            self.rule_scopes(part, call)
            for each in (part.fun, *part.args, *part.kwargs.values()):
                self.expression(each, call)
            for _, args, kwargs in part.definitions:
                for each in (*args, *kwargs.values()):
                    self.expression(each, call)
        elif isinstance(part, Function):
            self.function(part, call)

    def _leaked(self, part, call):
        """Need a value that has left its function, and the calls in which it came to be."""
        steps = way(part, call)  # none where the value's function is still open
        refs = self.leaks.setdefault(part.ref.source, [])
        if part.ref in refs or not steps:
            return
        refs.append(part.ref)
        home = steps[0][0].home
        if home not in call.around or any(home in one.around for one in self.top):
            self.before.insert(0, steps[0][0])
        for owner, scope in steps:
            self.found[scope.function, owner] = scope
            self.call(owner)
            self.function(scope.function, owner)
        if isinstance(part.ref.source, Call):
            self.call(part.ref.source)

    def function(self, function, call):
        scope = self.scope_of(function, call)
        if scope is None and function.unhashable is not None:
            self.expression(function.unhashable, call)
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
        """The trace that stands for a function where a call uses it: never one that the call is part of.

        It is one that the call caused; or else, as JAX remembers traces, the latest that got what the call was given.
        """
        key = function, call
        if key not in self.found:
            self.found[key] = self._scope_of(function, call)
        return self.found[key]

    def _scope_of(self, function, call):
        around = call.around if call is not None else ()
        caused = [scope for scope in call.scopes if scope.function is function] if call is not None else []
        failing = [scope for scope in self.failing if scope.function is function and scope not in around]
        if failing:
            return failing[0]
        for scopes in (caused, function.scopes):
            good = [scope for scope in scopes if scope.is_whole and scope not in around]
            if good:
                given = [*call.args, *call.kwargs.values()] if scopes is not caused and call is not None else []
                return alike(good, given)
        return None

    def rule_scopes(self, rules, call):
        """(function, its trace) of each function of a Rules, as a call uses it. What goes back gets what came out."""
        for name, args, _ in rules.definitions:
            if name == "defvjp" and len(args) == 2:
                self._backward(args[0], args[1], call)
        functions = [rules.fun, *(arg for _, args, kwargs in rules.definitions for arg in (*args, *kwargs.values()))]
        return tuple((each, self.scope_of(each, call)) for each in functions if isinstance(each, Function))

    def _backward(self, forward, backward, call):
        """The trace of a backward rule that got what the trace of the forward rule gave."""
        if not isinstance(forward, Function) or not isinstance(backward, Function) or (backward, call) in self.found:
            return
        scope = self.scope_of(forward, call)
        result = scope.result if scope is not None else None
        if not isinstance(result, Node) or len(result.items) != 2:
            return
        good = [one for one in backward.scopes if one.is_whole and one is not scope]
        if good and not any(one.function is backward for one in self.failing):
            count = max(0, len(good[-1].params) - 2)  # arguments that are not differentiated come first
            self.found[backward, call] = alike(good, result.items[1:], count)


def alike(scopes, given, first=0):
    """The latest scope that got these arguments, from the `first` of its own on, as far as can be told."""
    wanted = [_form(tree, True) for tree in given], [_form(tree, False) for tree in given]

    def likeness(scope):
        trees = [tree for _, _, tree in scope.params][first : first + len(given)]
        return [_form(tree, True) for tree in trees] == wanted[0], [_form(tree, False) for tree in trees] == wanted[1]

    best = max(map(likeness, scopes))
    return next(scope for scope in reversed(scopes) if likeness(scope) == best)


def _form(tree, exact):
    """What tells trees apart: their structure, with shapes and plain values if it is to be exact."""
    if isinstance(tree, Node):
        return (tree.kind, tuple(tree.keys), tuple(_form(item, exact) for item in tree.items))
    value = tree.value if isinstance(tree, Constant) else None
    if isinstance(tree, Constant) and type(value) in PLAIN:
        return repr(value) if exact or value is None else "leaf"
    of = tree.like if isinstance(tree, Ref) else value
    return (str(getattr(of, "shape", None)), str(getattr(of, "dtype", None))) if exact else "leaf"


def chain(call):
    """The calls through which an error came, the innermost first."""
    found = []
    while call is not None and call.error is not None:
        found.insert(0, call)
        scope = failed_scope(call)
        call = scope.failing if scope is not None else None
    return found


def failed_scope(call):
    """The trace of a function through which a call's error came, or None if it came from JAX itself."""
    failed = [scope for scope in call.scopes if scope.is_failed]
    return failed[-1] if failed else None


def failing_traces(call):
    """The traces through which a call's error came, as far as a program of it takes them.

    Not one that ran a function again after it was traced well: the good trace computes what is wrong, and is whole.
    """
    found = []
    while call is not None and call.error is not None:
        scope = failed_scope(call)
        if scope is None or scope.is_rerun:
            break
        found.append(scope)
        call = scope.failing
    return found


def suspects(call):
    """(scope, call) of calls, anywhere below the functions that a call has traced, that it may have failed because of.

    A transformation fails on what it finds in the traced function, now or, as JAX remembers traces, before. Each
    function of JAX, and each with rules of its own, is told of once: those with rules first, then those that call
    others.
    """
    found = {}
    functions = [each for part in (call.func, *call.args, *call.kwargs.values()) for each in _functions(part)]
    traces = filter(None, (Needed([call]).scope_of(function, call) for function in functions))
    for scope in dict.fromkeys((*traces, *call.scopes[-1:])):
        for each in _below(scope):
            func = each.func
            key = func if isinstance(func, (Rules, Made)) else getattr(func, "name", None)
            if each.error is None and key is not None:
                found.setdefault(key, (scope, each))
    return sorted(found.values(), key=lambda pair: (not isinstance(pair[1].func, Rules), not pair[1].scopes))


def _functions(part):
    """The functions of the program in an expression."""
    if isinstance(part, Function):
        yield part
    inner = (*part.args, *part.kwargs.values()) if isinstance(part, Made) else getattr(part, "items", ())
    for each in inner:
        yield from _functions(each)


def _below(scope):
    for call in scope.calls:
        yield call
        for inner in call.scopes:
            yield from _below(inner)


def is_effect(call):
    """Whether a call does something besides what it returns: JAX may complain of a value that has left its function."""
    name = getattr(call.func, "name", "")
    return name in _EFFECTS or name == "setitem" or any(map(_is_leaked, (*call.args, *call.kwargs.values())))


def _is_leaked(part):
    return isinstance(part, Leaked) or (isinstance(part, Node) and any(map(_is_leaked, part.items)))
