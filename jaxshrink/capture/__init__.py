"""A JAX-only program from a live one: what a function, or a whole program, asks of JAX.

    from jaxshrink import capture

    program = capture(fun, *args, **kwargs)
    print(program.source, program.failure)
    program.save("repro.py")

    with capture.recording("repros/"):
        train()                             # each error that leaves a call of JAX is saved there

`python -m jaxshrink.capture train.py` runs a program and saves to the folder that JAX_REPRO_DIR names.
JAX's functions get their wrappers with this import; nothing is recorded before the first use. Runs in the user's
process, on JAX 0.4.20 and newer.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from jaxshrink.capture.captured import Captured as Captured
from jaxshrink.capture.captured import captured as _captured
from jaxshrink.capture.recording import recording as recording
from jaxshrink.capture.session import session as _session

__all__ = ["Captured", "recording"]


class _Callable(types.ModuleType):
    """`jaxshrink.capture` is a function as well as a package."""

    def __call__(self, fun: Any, /, *args: Any, **kwargs: Any) -> Captured:
        """Call a function and capture every call of JAX that it makes, whether it fails or not.

        Arguments and what they hold may be any pytrees. The function's own error is not raised, it is told as
        `failure`; KeyboardInterrupt and SystemExit go through.
        """
        return _captured(fun, args, kwargs)


sys.modules[__name__].__class__ = _Callable
_session()  # the sooner, the more of the program's functions can be recorded
