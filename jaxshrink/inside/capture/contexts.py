"""Contexts of JAX's in which calls stand: named scopes, meshes, settings for a while."""

import functools
import sys

from .calls import Constant, Context, Made, Public
from .values import NONE

_FUNCTIONS = {
    "jax": (
        "named_scope", "set_mesh", "disable_jit", "ensure_compile_time_eval", "default_device",
        "default_matmul_precision",
        "default_prng_impl", "debug_nans", "debug_infs", "enable_x64", "enable_checks", "enable_custom_prng",
        "numpy_dtype_promotion", "numpy_rank_promotion", "threefry_partitionable", "transfer_guard",
        "transfer_guard_host_to_device", "transfer_guard_device_to_host", "transfer_guard_device_to_device",
        "checking_leaks", "check_tracer_leaks", "softmax_custom_jvp", "legacy_prng_key", "debug_key_reuse",
    ),
    "jax.sharding": ("set_mesh", "use_mesh", "use_abstract_mesh"),
    "jax.experimental": ("enable_x64", "disable_x64"),
}  # fmt: skip


def install(session):
    """Watch the contexts of the modules that are there."""
    for name, attributes in _FUNCTIONS.items():
        module = sys.modules.get(name)
        for attribute in attributes if module is not None else ():
            original = vars(module).get(attribute)
            if original is not None:
                setattr(module, attribute, _function(session, Public(f"{name}.{attribute}"), original))
    mesh = sys.modules["jax"].sharding.Mesh
    mesh.__enter__, mesh.__exit__ = _entered(session, mesh.__enter__), _left(session, mesh.__exit__)


def opened(session, expression):
    """Note that a context opens; None where nothing is noted."""
    return session.guard(None, _opened, session, expression)


def _opened(session, expression):
    if session.is_idle:
        return None
    scope = session.scope
    stack = session.thread.contexts if scope is None or scope.function is None else scope.contexts
    context = Context(expression)
    stack.append(context)
    return stack, context


def closed(entry):
    """Note that it closes."""
    if entry is not None and entry[1] in entry[0]:
        entry[0].remove(entry[1])


def _function(session, public, original):
    @functools.wraps(original, updated=())
    def context(*args, **kwargs):
        if session.is_idle:
            return original(*args, **kwargs)
        made = session.through(public, original, args, kwargs)
        if not hasattr(type(made), "__enter__"):
            return made
        return session.guard(made, noted, made, args, kwargs)

    def noted(made, args, kwargs):
        found = _Noted(session, Made(public, *session.both(args, kwargs, NONE)[0]), made)
        if public.name == "jax.set_mesh":  # in force from here on, also without `with`
            found.lasting = _opened(session, found.expression)
        return found

    for name in ("get_local", "get_global", "swap_local"):  # of a setting
        if hasattr(original, name):
            setattr(context, name, getattr(original, name))
    return context


class _Noted:
    """A context that is noted too; as a decorator it is JAX's own."""

    lasting = None

    def __init__(self, session, expression, context):
        self.session, self.expression, self.context, self.entries = session, expression, context, []

    def __call__(self, fun):
        return self.context(fun)

    def __getattr__(self, name):
        return getattr(self.context, name)

    def __enter__(self):
        given = self.context.__enter__()
        self.entries.append(self.lasting or opened(self.session, self.expression))
        self.lasting = None
        return given

    def __exit__(self, *raised):
        closed(self.entries.pop())
        return self.context.__exit__(*raised)


_meshes = []  # entries of the meshes that are open


def _entered(session, enter):
    @functools.wraps(enter)
    def entered(self):
        given = enter(self)
        _meshes.append(opened(session, Constant(self)))
        return given

    return entered


def _left(session, leave):
    @functools.wraps(leave)
    def left(self, *raised):
        closed(_meshes.pop() if _meshes else None)
        return leave(self, *raised)

    return left
