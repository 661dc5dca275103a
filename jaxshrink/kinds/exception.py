"""Exceptions: the same type, from the same place in a library, with a message of the same shape."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from typing import Self

from jaxshrink.failure import Failure
from jaxshrink.kinds.signature import Needs
from jaxshrink.messages import about_key, embedded, first_sentence, masked, mismatches
from jaxshrink.options import Options
from jaxshrink.outcome import End, Outcome, Tier

OWN = frozenset({"assert", "assert of a value", "raise", "raise under a condition"})
"""Operations by which a program fails on purpose."""


@dataclasses.dataclass(frozen=True)
class Raised:
    """An uncaught exception.

    `same` is the level: `type`; `site`, that is the type, the raise site and the message's first sentence;
    `message`, all of it; `exact`, nothing masked. `match` stands for the message where it is given.
    `names` are those that the program gives to its things (see `names_of`): they are masked in messages.
    """

    failure: Failure
    same: str = "site"
    match: str | None = None
    names: frozenset[str] = frozenset()

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        return Failure.of(outcome, text) if outcome.end is End.EXCEPTION else None

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        return cls(failure, options.same, options.match, names_of(original))

    @property
    def needs(self) -> Needs:
        """Numbers must be computed to be found wrong, by programs that take less time than their process's start."""
        return Needs(floor=Tier.ABSTRACT, shared=self.is_about_values)

    @property
    def is_about_values(self) -> bool:
        """Whether the program itself, or a test library for it, found that a value is wrong."""
        own = self.failure.site == "user" and bool(self.failure.operations & OWN)
        return own or self.failure.type == "AssertionError"

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
        return new.site == old.site or self._twins(new) or self._in_a_method(new)

    def _in_a_method(self, new: Failure) -> bool:
        """Whether a special method fails that the library has asked for at the same place, of another class, here.

        It is the program's own in one case; a library's may raise what it finds wrong, so all of the message counts.
        """
        old = self.failure
        has_own = "user" in (new.site, old.site) and not OWN & (old.operations | new.operations)
        is_asked_alike = old.asked != "" and new.asked == old.asked
        return has_own and is_asked_alike and masked(new.message, self.names) == masked(old.message, self.names)

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
        if mismatches(old.message) and not frozenset() < mismatches(new.message) <= mismatches(old.message):
            return False
        return _sentences(new.message, self.names) == _sentences(old.message, self.names)


def _sentences(message: str, names: frozenset[str]) -> tuple[object, ...]:
    return first_sentence(message, names), embedded(message, names)


@functools.lru_cache(maxsize=4)
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
