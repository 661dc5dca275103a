"""Output: what a program that ends well has written, a warning or a `nan`."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable
from typing import Self

from jaxshrink.failure import Failure
from jaxshrink.kinds.signature import Needs
from jaxshrink.options import Options
from jaxshrink.outcome import End, Outcome

_INSTALLED = re.compile(r"(?<!\S)/\S*/(?:site|dist)-packages/")
"""Where libraries lie, before the names of their files."""

_NATIVE = re.compile(r"^[EFIW]\d{4} |\.(cc|cpp|h):\d+")
"""What a line of a log of native code has."""

_REPR = re.compile(r"<[^<>\n]* at 0x[0-9a-f]+>|<(?:module|class|function|built-in|PjitFunction)\b[^<>\n]*>")
"""What objects are shown as that have no text of their own: the name of a function says nothing."""


_FIELD = re.compile(r"%[-+ #0-9.]*[a-zA-Z]|\{[^{}]*\}")
"""What a string has in the place of values."""


@dataclasses.dataclass(frozen=True)
class Printed:
    """Something on stdout or stderr matches, which the program's own text does not say."""

    failure: Failure
    match: str
    said: frozenset[str]  # texts of the original that match
    computed: bool  # whether what matches is none of these

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        if options.match is None or outcome.end is not End.EXIT or outcome.code:
            return None
        found = _found(options.match, outcome, text or "", True) or _found(options.match, outcome, text or "", False)
        return Failure("output", "output", found, "user") if found is not None else None

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        assert options.match is not None
        said = _said(options.match, original)
        computed = re.search(options.match, _hidden(options.match, failure.message, said), re.MULTILINE) is not None
        return cls(failure, options.match, said, computed)

    @property
    def needs(self) -> Needs:
        """What is written at exit counts, and what the compiler writes, which is silent where nothing is compiled."""
        return Needs(cache=_NATIVE.search(self.failure.message) is None, finish=True)

    @property
    def is_about_values(self) -> bool:
        return False

    def matches(self, outcome: Outcome, text: str) -> bool:
        if outcome.end is not End.EXIT or outcome.code or _found(self.match, outcome, text, self.computed) is None:
            return False
        return _said(self.match, text) <= self.said


def _found(match: str, outcome: Outcome, text: str, computed: bool) -> str | None:
    """The first line with what matches, and is neither a line of the program, as warnings show it, nor a mere name.

    `computed`: nor is it in a string of the program.
    """
    said = _said(match, text) if computed else frozenset()
    source = {line.strip() for line in text.splitlines()}
    for written in (outcome.stdout, outcome.stderr):
        lines = (line for line in written.splitlines() if line.strip() not in source)
        stream = _REPR.sub("<>", "\n".join(lines))
        found = re.search(match, _hidden(match, stream, said), re.MULTILINE)
        if found is not None:
            start = stream.rfind("\n", 0, found.start()) + 1
            line = stream[start:].split("\n", 1)[0].strip()
            return _INSTALLED.sub("", line) or found[0]
    return None


def _said(match: str, text: str) -> frozenset[str]:
    """The strings in a program that match by themselves: `print("nan")` is no reduction."""
    strings = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return frozenset(string for string in strings if isinstance(string, str) and re.search(match, string, re.MULTILINE))


def _hidden(match: str, stream: str, said: Iterable[str]) -> str:
    """What was written, without what is in these strings and matches by itself; the rest stays where it is."""
    parts = {part for string in said for part in _FIELD.split(string) if re.search(match, part, re.MULTILINE)}
    for part in sorted(parts, key=len, reverse=True):
        stream = stream.replace(part, re.sub(r"[^\n]", "\0", part))
    return stream
