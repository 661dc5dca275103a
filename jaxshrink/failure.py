"""What a failure is, and when two of them are the same.

A minimiser is as good as its idea of sameness: too loose and it slips to another bug, too tight
and it stops early, because shapes in the message change when shapes shrink.
"""

from __future__ import annotations

import ast
import dataclasses
import re

from jaxshrink.messages import about_key, embedded, first_sentence, masked
from jaxshrink.operations import operations
from jaxshrink.outcome import End, Frame, Outcome


@dataclasses.dataclass(frozen=True)
class Failure:
    """How a run failed.

    `site` is where the innermost library frame raised (`module:function:line`), or `user`; then `operations`
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
        innermost = _innermost(outcome)
        kind, message = outcome.type or "", outcome.message or ""
        if innermost is not None and not innermost.user:
            module = innermost.file.removesuffix(".py").replace("/", ".")
            return cls("exception", kind, message, f"{module}:{innermost.function}:{innermost.line}")
        known = innermost is not None and innermost.column >= 0 and text is not None
        found = operations(ast.parse(text), innermost, kind) if known and text and innermost else ()
        return cls("exception", kind, message, "user", frozenset(found))


@dataclasses.dataclass(frozen=True)
class Signature:
    """The part of a failure that a candidate must reproduce.

    `same` is the level: `type`; `site`, that is the type, the raise site and the message's first sentence;
    `message`, all of it; `exact`, nothing masked. `match` stands for the message where it is given.
    `names` are those that the program gives to its things (see `names_of`): they are masked in messages.
    """

    failure: Failure
    same: str = "site"
    match: str | None = None
    names: frozenset[str] = frozenset()

    def matches(self, outcome: Outcome, text: str) -> bool:
        """Is this the same failure? `text` is the candidate's."""
        if outcome.end is not End.EXCEPTION or not self._same_type(outcome.type or ""):
            return False
        if self.match is not None and not re.search(self.match, outcome.message or "", re.DOTALL):
            return False
        if self.same == "type":
            return True
        new = Failure.of(outcome, text)
        return self._same_site(new) and (self.match is not None or self._same_message(new))

    def _same_type(self, type_: str) -> bool:
        """A class that comes from a module of the program is a class of `__main__` in a candidate."""
        main, _, name = type_.rpartition(".")
        return type_ == self.failure.type or (main == "__main__" and name == self.failure.type.rpartition(".")[2])

    def _same_site(self, new: Failure) -> bool:
        old = self.failure
        if new.site == old.site == "user":
            return not (old.operations and new.operations) or bool(old.operations & new.operations)
        return new.site == old.site or self._twins(new)

    def _twins(self, new: Failure) -> bool:
        """Whether one public API has raised from Python there and from C++, which leaves no frame, here.

        Then all of a message that says more than a few words is the same.
        """
        old = self.failure
        called = "user" in (new.site, old.site) and "call" in old.operations | new.operations
        return called and len(old.message) > 60 and masked(new.message, self.names) == masked(old.message, self.names)

    def _same_message(self, new: Failure) -> bool:
        old = self.failure
        if self.same == "exact":
            return new.message == old.message
        if old.site == "user" and old.operations & {"subscript", "attribute", "name"}:
            return about_key(new.message, self.names) == about_key(old.message, self.names)
        if self.same == "message":
            return masked(new.message, self.names) == masked(old.message, self.names)
        return _sentences(new.message, self.names) == _sentences(old.message, self.names)


def _sentences(message: str, names: frozenset[str]) -> tuple[object, ...]:
    return first_sentence(message, names), embedded(message, names)


def names_of(text: str) -> frozenset[str]:
    """What a program calls its things: functions, classes, variables, parameters, attributes, keys, other strings."""
    found: set[str] = {"<lambda>"}
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.Constant(value=str(name)) | ast.keyword(arg=str(name)):
                found.add(name)
    return frozenset(found)


def _innermost(outcome: Outcome) -> Frame | None:
    """The frame that raised; generated code (`<string>`) belongs to whoever called it."""
    return next((frame for frame in reversed(outcome.frames) if not frame.file.startswith("<")), None)
