"""What a failure is: how a run went wrong, as users are told of it."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Sequence

from jaxshrink.operations import operations
from jaxshrink.outcome import Frame, Outcome

_CALLBACKS = ("jax/_src/callback.py", "jax/_src/debugging.py")


@dataclasses.dataclass(frozen=True)
class Failure:
    """How a run failed.

    `kind` is one of those in `jaxshrink.kinds`, `type` the exception, or the signal (`SIGSEGV`), or empty.
    `site` is where the innermost library frame stood (`module:function:line`), or `user`; then `operations`
    are the names for what the program did there (`subscript`, `call`, `raise`), empty where that is not known.
    """

    kind: str
    type: str
    message: str
    site: str
    operations: frozenset[str] = frozenset()

    @classmethod
    def of(cls, outcome: Outcome, text: str | None = None) -> Failure:
        """The failure of an outcome that is an exception. `text` is the source in which it was raised."""
        innermost = _innermost(outcome.frames)
        kind, message = outcome.type or "", outcome.message or ""
        if innermost is not None and not innermost.user:
            return cls("exception", kind, message, site(outcome.frames))
        known = innermost is not None and innermost.column >= 0 and text is not None
        found = operations(ast.parse(text), innermost, kind) if known and text and innermost else ()
        return cls("exception", kind, message, "user", frozenset(found))


def site(frames: Sequence[Frame]) -> str:
    """Where the innermost frame stands, if that is library code: `module:function:line`; else `user`."""
    innermost = _innermost(frames)
    if innermost is None or innermost.user:
        return "user"
    module = innermost.file.removesuffix(".py").replace("/", ".")
    return f"{module}:{innermost.function}:{innermost.line}"


def place(site: str) -> str:
    """A site without its line: what waits or turns in a loop is found now at one line, now at another."""
    return re.sub(r":-?\d+(?=,|$)", "", site)


def is_called_back(frames: Sequence[Frame]) -> bool:
    """Whether what stands there was called by JAX from a computation, as `pure_callback` has it done."""
    return any(frame.file in _CALLBACKS for frame in frames)


def _innermost(frames: Sequence[Frame]) -> Frame | None:
    """The frame that raised; generated code (`<string>`) belongs to whoever called it."""
    return next((frame for frame in reversed(frames) if not frame.file.startswith("<")), None)
