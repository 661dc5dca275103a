"""Capture's own frames are none of the program's: JAX leaves them out of its messages and of what it compiles."""

import os
import sys

_HERE = os.path.dirname(__file__)  # as the code objects tell it


_LIBRARIES = ("jax", "jaxlib", "numpy", "functools", "contextlib")


def raised_by_program(error):
    """Whether what JAX's code called, below the frame that has caught an error, is more than JAX's."""
    entry = error.__traceback__.tb_next
    while entry is not None:
        frame = entry.tb_frame
        name = frame.f_globals.get("__name__") or ""
        if name.partition(".")[0] not in _LIBRARIES and os.path.dirname(frame.f_code.co_filename) != _HERE:
            return True
        entry = entry.tb_next
    return False


def install():
    """Have JAX leave out the frames of the files here."""
    for name in sorted(os.listdir(_HERE)):
        if name.endswith(".py"):
            _exclude(os.path.join(_HERE, name))


def _exclude(path):
    for module in ("jax._src.traceback_util", "jax._src.source_info_util"):
        register = getattr(sys.modules.get(module), "register_exclusion", None)
        if register is not None:
            register(path)


def place():
    """The code object and instruction that called capture; None where there is no such frame."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return (frame.f_code, frame.f_lasti) if frame is not None else None
