"""Capture's own frames are none of the program's: they are left out of tracebacks and of JAX's messages."""

import os
import sys

_HERE = os.path.dirname(__file__)  # as the code objects tell it
_hook = sys.excepthook


def install():
    """Have JAX and the interpreter leave out the frames of the files here."""
    for name in sorted(os.listdir(_HERE)):
        if name.endswith(".py"):
            _exclude(os.path.join(_HERE, name))
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _excepthook


def _exclude(path):
    for module in ("jax._src.traceback_util", "jax._src.source_info_util"):
        register = getattr(sys.modules.get(module), "register_exclusion", None)
        if register is not None:
            register(path)


def _excepthook(kind, error, trace):
    sys.__excepthook__(kind, error, cleaned(error).__traceback__)


def cleaned(error):
    """The error, and those that it comes from, without the frames of the files here."""
    seen = set()
    pending = [error]
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _without(one.__traceback__)
        pending += [one.__cause__, one.__context__]
    return error


def _without(trace):
    while trace is not None and _is_own(trace):
        trace = trace.tb_next
    last = trace
    while last is not None and last.tb_next is not None:
        if _is_own(last.tb_next):
            last.tb_next = last.tb_next.tb_next
        else:
            last = last.tb_next
    return trace


def _is_own(trace):
    return trace.tb_frame.f_code.co_filename.startswith(_HERE + os.sep)
