"""What reaches JAX past the wrappers, in functions that it traces: noted where a primitive is bound.

So do functions of JAX that something has kept since before there were wrappers, such as the default of an argument. A
compiled one is traced once more, for what is in it.
"""

import functools
import sys

from . import wrappers
from .calls import Attribute, Call, Made, Public

_JITTED = ("jit", "pjit")


def install(session):
    """Watch the binding of primitives."""
    core = sys.modules.get("jax._src.core")
    primitive = getattr(core, "Primitive", None)
    if primitive is None or not hasattr(primitive, "bind"):
        return
    bind = primitive.bind

    @functools.wraps(bind)
    def called(self, *args, **params):
        scope = session.thread.scope
        if scope is None or session.is_idle:
            return bind(self, *args, **params)
        return _bound(session, scope, bind, self, args, params)

    primitive.bind = called


def _bound(session, scope, bind, primitive, args, params):
    call = functools.partial(bind, primitive, **params)
    if primitive.name in _JITTED and "jaxpr" in params:
        return _jitted(session, scope, call, args, params)
    expression, given = session.guard((None, {}), _expression, primitive, params)
    if expression is None:
        return session.inside(call, *args)
    return session.call(expression, lambda *args, **_: call(*args), args, given)


def _expression(primitive, params):
    """The public function of a primitive or, where it has options, its own `bind`; None where it is not public."""
    lax = sys.modules["jax.lax"]
    name = primitive.name.replace("-", "_")
    if getattr(lax, name + "_p", None) is not primitive:
        return None, {}
    if not any(value is not None for value in params.values()) and callable(getattr(lax, name, None)):
        return Public(f"jax.lax.{name}"), {}
    return Attribute(Public(f"jax.lax.{name}_p"), "bind"), params


def _jitted(session, scope, bound, args, params):
    """A call of a compiled function: what it does is told by its jaxpr."""
    wrapper = session.guard(None, _function, session, params)
    if wrapper is None:
        return session.inside(bound, *args)
    expression = Made(Public("jax.jit"), [wrappers.mark_of(wrapper)[1]], {})
    known = len(scope.calls)
    result = session.call(expression, lambda *args: bound(*args), args, {})
    call = next((one for one in scope.calls[known:] if isinstance(one, Call) and one.func is expression), None)
    if call is not None:
        session.guard(None, _looked_inside, session, scope, call, wrapper, args)
    return result


def _function(session, params):
    """The wrapper of a function that does what a jaxpr tells."""
    evaluate = sys.modules["jax._src.core"].jaxpr_as_fun(params["jaxpr"])

    def fun(*args):
        return evaluate(*args)

    fun.__name__ = params.get("name") or "f"
    return session.taken(fun, functions=True)[1]


def _looked_inside(session, scope, call, wrapper, args):
    """Trace what a call has called once more, for what is in it."""
    try:
        session.under(scope, call, lambda: sys.modules["jax"].eval_shape(wrapper, *args))
    finally:
        call.error = None  # the call itself has ended well
