"""Whether a program has left a process as it found it, so that another can run there.

A fork costs ten times what tracing a small program does, most of it in copied pages. So abstract runs
follow each other in one, as long as each leaves nothing behind that the next could notice.
"""

import builtins
import os
import sys
import threading
import warnings

import limits

_TELLTALE = ("uplicate", "already", "initialized")  # what is said of things that a process has only one of


class State:
    """What a program may change outside its own module. Made before the fork, for that costs less there."""

    def __init__(self):
        import jax
        import jax.numpy
        import numpy

        self.modules = (builtins, jax, jax.numpy, jax.lax, jax.nn, jax.random, jax.tree_util, numpy)
        self.contents = [dict(vars(module)) for module in self.modules]

    def enter(self, folder):
        """Remember also the state of this process, which has gone to its folder."""
        self.folder = folder
        self.rest, self.config = self._rest(), _config()
        self.threads, self.imported = threads(), set(sys.modules)

    def is_unchanged(self):
        """Whether all is as it was, apart from library modules that are there now and the threads of a backend."""
        try:
            same = self.rest == self._rest() and all(map(_still_has, self.modules, self.contents))
            same = same and self.config.items() <= _config().items()  # modules may define more
        except Exception:  # comparing what a program has put there may do anything
            return False
        if limits.children(os.getpid()):
            return False
        own = any(_file(sys.modules[name]).startswith(self.folder) for name in self.new_modules())
        return same and not own and (threads() == self.threads or backend_started())

    def new_modules(self):
        """Names of the modules that have been imported meanwhile, in this order."""
        return [name for name in list(sys.modules) if name not in self.imported and name != "__main__"]

    def _rest(self):
        import numpy

        return (
            os.getcwd(),
            [names for _, *names in os.walk(self.folder)],
            dict(os.environ),
            list(sys.path),
            [(stream, stream.closed) for stream in (sys.stdin, sys.stdout, sys.stderr)],
            sys.excepthook,
            list(warnings.filters),
            threading.active_count(),
            _trace_context(),
            numpy.geterr(),
        )


def tells_of_another(error):
    """Whether an exception may be due to a program that ran here before."""
    try:
        message = str(error)
    except Exception:  # an exception's own __str__ may do anything
        return True
    return any(word in message for word in _TELLTALE)


def _still_has(module, contents):
    """Whether a module's variables have the values that they had, by identity; it may have got new ones."""
    return list(map(vars(module).get, contents)) == list(contents.values())


def _config():
    import jax

    return dict(jax.config.values)


def _file(module):
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else ""


def threads():
    """The number of this process's threads, those of native code included."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def backend_started():
    """Whether JAX has started a backend in this process."""
    return bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None))


def _trace_context():
    """The settings that are local to a thread and set by context managers, such as the mesh."""
    from jax._src import config

    function = getattr(config, "trace_context", None) or getattr(config.config, "_trace_context", None)
    return function() if function else None
