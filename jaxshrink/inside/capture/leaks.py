"""Tracers that have left the function that they belong to: in a list, an attribute, a global."""

import sys
import weakref

from .calls import Leaked
from .values import is_tracer


class Left:
    """The tracers of functions whose trace has ended, as long as the program keeps them."""

    def __init__(self):
        self.held = {}  # id -> (weak reference, Leaked)

    def keep(self, scope, owners):
        """Remember the tracers of a scope that is about to close; `owners` are the calls under way."""
        for value, ref in scope.values.values():
            if is_tracer(value):
                key = id(value)
                gone = weakref.ref(value, lambda _, key=key: self.held.pop(key, None))
                self.held[key] = gone, Leaked(ref, scope, owners)

    def find(self, value):
        """The Leaked of a tracer, or None."""
        found = self.held.get(id(value))
        return found[1] if found is not None and found[0]() is value else None

    def of(self, call):
        """Those that came of an outermost call, the latest first."""
        held = [leaked for _, leaked in list(self.held.values())]
        return [leaked for leaked in reversed(held) if leaked.owners and leaked.owners[0][1] is call]

    def found(self, call):
        """Those that JAX has failed because of, if it looks for them: of each trace the latest, as it holds others."""
        if not getattr(sys.modules["jax"].config, "jax_check_tracer_leaks", False):
            return ()
        latest = {}
        for leaked in self.of(call):
            latest.setdefault(leaked.scope, leaked)
        return tuple(latest.values())


def way(leaked, call):
    """The calls in which a leaked value came to be, as far as they are not around `call`: (call, the trace in it)."""
    around = call.around
    start = max((i for i, (scope, _) in enumerate(leaked.owners) if scope in around), default=0)
    owners = leaked.owners[start:]
    inner = [*(scope for scope, _ in owners[1:]), leaked.scope]
    return [(owner, scope) for (_, owner), scope in zip(owners, inner)]
