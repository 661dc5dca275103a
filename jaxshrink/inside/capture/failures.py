"""Errors and where they came from; and the last moment before a process may die."""

import os
import types

_HERE = os.path.dirname(os.path.abspath(__file__))
_LOWERED = "jaxpr_to_mlir_module_duration"
"""JAX tells how long that took: what comes next is the compiler."""

_REFUSALS = ("unsupported operand type", "not supported between instances")


def causes(error):
    """An exception and those that it came from."""
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def is_refusal(error):
    """Whether an error is Python's, about an operator that neither operand knows."""
    return isinstance(error, TypeError) and any(text in str(error) for text in _REFUSALS)


def before_compiling(session, tell):
    """Call `tell` with the scope of the outermost call whenever JAX is about to compile something for it."""
    import jax

    def listen(event, duration, **rest):
        owners = session.thread.owners
        if session.is_on and owners and event.endswith(_LOWERED):
            session.complete(owners[0][1])
            session.guard(None, tell, owners[0][0])

    jax.monitoring.register_event_duration_secs_listener(listen)


def hide(error, *folders):
    """Take the frames of these folders, and of the recorder, out of the tracebacks of an error and of its causes."""
    folders = (_HERE, *folders)
    for each in causes(error):
        entries = []
        entry = each.__traceback__
        while entry is not None:
            if os.path.dirname(entry.tb_frame.f_code.co_filename) not in folders:
                entries.append(entry)
            entry = entry.tb_next
        traceback = None
        for entry in reversed(entries):
            traceback = types.TracebackType(traceback, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        each.__traceback__ = traceback
