"""Which functions are compiled in a run, and why again.

Runs in the target interpreter.
"""

import os

from recompiles.differences import reason
from recompiles.hooks import MissingHook
from recompiles.watcher import Watcher
from recompiles.whenimported import when_imported

_REASONS = {"first call": "never seen function", "not compiled before": "never seen function"}


def listen(tell, is_outermost=None):
    """Call `tell(name, reason)` for each compilation from now on that this process does.

    `reason` is the kind of difference to the most similar earlier call ("static argument", "input types", "weak type",
    ...: see `recompiles.differences.reason`), "never seen function" for a first one, and empty for functions of JAX's
    own.
    Where this version of JAX cannot be watched, nothing is told.

    `is_outermost`: in an abstract run nothing is compiled, and what is traced where this says yes would be. Gives the
    listener, whose `forget` says that what comes is another program's.
    """
    process = os.getpid()

    def hear(note, step):
        is_counted = step == "compile" if is_outermost is None else step == "trace" and is_outermost()
        if is_counted and os.getpid() == process:
            tell(note["name"], "" if note["owner"] == "jax" else _reason(note))

    watcher = Watcher(hear)
    when_imported("jax", lambda: _begin(watcher))
    return watcher


def _reason(note):
    return _REASONS.get(note["reason"]) or reason(note)


def _begin(watcher):
    try:
        watcher.begin()
    except MissingHook:
        return  # then nothing is compiled too often, and the job says so
