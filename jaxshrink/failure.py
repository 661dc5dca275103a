"""What a failure is: how a run went wrong, as users are told of it."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Sequence

from jaxshrink.operations import operations
from jaxshrink.outcome import Frame, Outcome

_CALLBACKS = ("jax/_src/callback.py", "jax/_src/debugging.py")
_ASKED = frozenset({"__hash__", "__eq__", "__bool__", "__len__", "__iter__", "__array__", "__jax_array__"})
"""What a library asks of objects that it is given; calls and attributes can go wrong in more ways than one."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """How a run failed.

    `kind` is one of those in `jaxshrink.kinds`, `type` the exception, or the signal (`SIGSEGV`), or empty.
    `site` is where the innermost library frame stood (`module:function:line`), or `user`; then `operations`
    are the names for what the program did there (`subscript`, `call`, `raise`), empty where that is not known.
    `asked`: the special method in which it stood, and where the library stood that had Python call that; or empty.
    """

    kind: str
    type: str
    message: str
    site: str
    operations: frozenset[str] = frozenset()
    asked: str = ""

    @classmethod
    def of(cls, outcome: Outcome, text: str | None = None) -> Failure:
        """The failure of an outcome that is an exception. `text` is the source in which it was raised."""
        innermost = _innermost(outcome.frames)
        kind, message = outcome.type or "", outcome.message or ""
        asked = _asked(outcome.frames)
        if innermost is not None and not innermost.user:
            return cls("exception", kind, message, site(outcome.frames), asked=asked)
        known = innermost is not None and innermost.column >= 0 and text is not None
        found = operations(ast.parse(text), innermost, kind) if known and text and innermost else ()
        return cls("exception", kind, message, "user", frozenset(found), asked)


def site(frames: Sequence[Frame]) -> str:
    """Where the innermost frame stands, if that is library code: `module:function:line`; else `user`."""
    innermost = _innermost(frames)
    if innermost is None or innermost.user:
        return "user"
    module = innermost.file.removesuffix(".py").replace("/", ".")
    return f"{module}:{innermost.function}:{innermost.line}"


def _asked(frames: Sequence[Frame]) -> str:
    """The special method in which an error arose, and the library's place outside of that, if there it was asked for.

    A class of the program's own may have the method, or one of another library: what asked for it is the same.
    """
    shown = [frame for frame in frames if not frame.file.startswith("<")]
    method = shown[-1].function if shown else ""
    outside = list(itertools.dropwhile(lambda frame: frame.function == method, reversed(shown)))
    is_asked = method in _ASKED and outside and not outside[0].user
    return f"{method} from {site(outside[:1])}" if is_asked else ""


def place(site: str) -> str:
    """A site without its line: what waits or turns in a loop is found now at one line, now at another."""
    return re.sub(r":-?\d+(?=,|$)", "", site)


def is_called_back(frames: Sequence[Frame]) -> bool:
    """Whether what stands there was called by JAX from a computation, as `pure_callback` has it done."""
    return any(frame.file in _CALLBACKS for frame in frames)


def _innermost(frames: Sequence[Frame]) -> Frame | None:
    """The frame that raised; generated code (`<string>`) belongs to whoever called it."""
    return next((frame for frame in reversed(frames) if not frame.file.startswith("<")), None)
