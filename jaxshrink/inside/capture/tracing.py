"""The program's functions as JAX gets them: with a wrapper that opens a scope while JAX traces them."""

from . import values, wrappers
from .calls import CAUGHT, INSIDE, Function, Host, Ref, Scope, is_rerun
from .failures import is_refusal
from .params import bind
from .refusals import refuse
from .values import name_of


def traced(session, fun):
    """The wrapper of a function that JAX traces."""
    function = Function(fun, name_of(fun))
    part = values.without_hash(fun)
    function.unhashable = session.taken(part)[0] if part is not None else None

    def traced(*args, **kwargs):
        if session.is_on and session.thread.scope is INSIDE:
            return _trace(session, function, fun, args, kwargs)
        return fun(*args, **kwargs)

    wrapper = traced if part is None else wrappers.Unhashable(traced, fun)
    return wrappers.dressed(wrapper, fun, function, wrapper)


def host(session, fun):
    """A function that runs on the host, and its expression."""
    host = Host(name_of(fun))

    def called_back(*args, **kwargs):
        try:
            return session.inside(fun, *args, **kwargs)
        except Exception as error:
            host.error = error
            raise

    return wrappers.dressed(called_back, fun, host, called_back)


def _trace(session, function, fun, args, kwargs):
    scope, (args, kwargs) = session.guard((None, (args, kwargs)), _opened, session, function, args, kwargs)
    if scope is None:
        return fun(*args, **kwargs)
    session.thread.scope = scope
    try:
        result = fun(*args, **kwargs)
        scope.result, result = session.guard((Ref(None, ()), result), _taken, session, result)
    except BaseException as error:
        scope.error = error
        session.guard(None, _look, session, scope)
        if is_refusal(error):
            session.guard(None, refuse, scope, error)
        raise
    finally:
        session.thread.scope = INSIDE
        session.guard(None, session.left.keep, scope, tuple(session.thread.owners))
        scope.close()
    function.add(scope)
    for call in scope.calls:
        if call.error is not None:
            call.error = CAUGHT
    return result


def _opened(session, function, args, kwargs):
    """The scope of a trace that begins, and what the function gets."""
    parent, owner = session.thread.owners[-1] if session.thread.owners else (None, None)
    scope = Scope(function, parent)
    given = bind(session, scope, args, kwargs)
    if owner is not None:
        scope.around = (*owner.home.around, *owner.within)
        owner.scopes.append(scope)
    return scope, given


def _look(session, scope):
    """Tell of a function that has failed whether JAX only ran it again."""
    owner = session.thread.owners[-1][1] if session.thread.owners else None
    scope.is_rerun = owner is not None and is_rerun(owner, scope)


def _taken(session, result):
    return session.taken(result, functions=values.gives_function(result))
