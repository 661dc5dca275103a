"""What a failure is, and when two of them are the same.

A minimiser is as good as its idea of sameness: too loose and it slips to another bug, too tight
and it stops early, because shapes in the message change when shapes shrink.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import re

from jaxshrink.outcome import End, Frame, Outcome


@dataclasses.dataclass(frozen=True)
class Failure:
    """How a run failed.

    `site` is where the innermost library frame raised (`module:function:line`), or `user`; then `operation`
    is the kind of syntax node that failed there.
    """

    kind: str
    type: str
    message: str
    site: str
    operation: str = ""

    @classmethod
    def of(cls, outcome: Outcome, text: str | None = None) -> Failure:
        """The failure of an outcome that is an exception. `text` is the source in which it was raised."""
        innermost = _innermost(outcome)
        site, operation = "user", ""
        if innermost is not None and not innermost.user:
            module = innermost.file.removesuffix(".py").replace("/", ".")
            site = f"{module}:{innermost.function}:{innermost.line}"
        elif innermost is not None and text is not None:
            operation = _operation(text, innermost)
        return cls("exception", outcome.type or "", outcome.message or "", site, operation)


@dataclasses.dataclass(frozen=True)
class Signature:
    """The part of a failure that a candidate must reproduce. `same` is the level: type, site, message or exact."""

    failure: Failure
    same: str = "site"
    match: str | None = None

    @classmethod
    def of(cls, failure: Failure, same: str = "site", match: str | None = None) -> Signature:
        return cls(failure, same, match)

    def matches(self, outcome: Outcome, text: str) -> bool:
        """Is this the same failure? `text` is the candidate's."""
        if outcome.end is not End.EXCEPTION or outcome.type != self.failure.type:
            return False
        if self.match is not None and not re.search(self.match, outcome.message or "", re.DOTALL):
            return False
        if self.same == "type":
            return True
        new = Failure.of(outcome, text)
        if not self._same_site(new):
            return False
        return self.match is not None or self._same_message(new)

    def _same_site(self, new: Failure) -> bool:
        if new.site == self.failure.site and new.operation == self.failure.operation:
            return True
        # One public API that raises from Python and from C++ (which leaves no frame) says the same in full.
        twins = "user" in (new.site, self.failure.site) and "Call" in (new.operation, self.failure.operation)
        return twins and self._detailed and masked(new.message) == masked(self.failure.message)

    @property
    def _detailed(self) -> bool:
        return len(self.failure.message) > 60

    def _same_message(self, new: Failure) -> bool:
        old = self.failure
        if self.same == "exact":
            return new.message == old.message
        if old.site == "user" and old.operation in ("Subscript", "Attribute", "Name"):
            return _NUMBER.sub("#", new.message) == _NUMBER.sub("#", old.message)  # the key is what it is about
        if self.same == "message":
            return masked(new.message) == masked(old.message)
        return first_sentence(new.message) == first_sentence(old.message)


_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?")
_DTYPE = r"(?:bool|u?int\d+|b?float\d+\w*|complex\d+|key<\w+>|(?:bf|f|s|i|u|c|pred)\d+|pred)"
_MASKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"0x[0-9a-fA-F]+"), "#"),
    (re.compile(r"<(?:function|class|bound method|module)\b[^>]*>+"), "<#>"),
    (re.compile(r"<[\w. ]*object at #>"), "<#>"),
    (re.compile(r"(?:\S+ at )?(?:[A-Za-z]:)?[\w.\-\\/]+\.py(?::\d+)*(?:, line \d+)?"), "#path"),
    (re.compile(rf"\b{_DTYPE}\[[^\]]*\](?:\{{[^}}]*\}})?"), "#array"),
    (re.compile(rf"\b{_DTYPE}\b"), "#dtype"),
    (re.compile(r"\b[A-Za-z_]\w*(?:\[[^\]\s]*\])+"), "#part"),
    (re.compile(r"[\[(](?:[-+]?[\d.]+(?:,\s*)?)*[\])]"), "#shape"),
    (re.compile(r"(['\"`])(?:<lambda>|[A-Za-z_][\w.]*)\1"), "#name"),
    (_NUMBER, "#"),
    (re.compile(r"#(?:shape)?(?:,\s*#(?:shape)?)+"), "#"),
    (re.compile(r"\s+"), " "),
)


def masked(message: str) -> str:
    """The message without what may change when the program shrinks: sizes, types, addresses, paths, names."""
    for pattern, by in _MASKS:
        message = pattern.sub(by, message)
    return message.strip()


def first_sentence(message: str) -> str:
    """The masked first sentence: up to a full stop or the end of the line, what follows tells the sizes and parts."""
    head = message.strip().split("\n")[0].rstrip(":")
    return re.split(r"(?<=[^.])\.(?:\s|$)", masked(head), maxsplit=1)[0]


_SUSPICIOUS = frozenset({"exit", "_exit", "abort", "kill", "broadcast_shapes", "result_type", "nan", "quit"})


def slips(original: str, candidate: str) -> str | None:
    """Why a candidate cannot count, whatever its failure: it has more of something that fails by itself than the input."""
    old, new = _suspicious(original), _suspicious(candidate)
    return next((what for what, count in new.items() if count > old[what]), None)


def _suspicious(text: str) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Raise() | ast.Assert():
                found[type(node).__name__.lower()] += 1
            case ast.While(test=ast.Constant()):
                found["while True"] += 1
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _SUSPICIOUS:
                found[name] += 1
            case ast.Constant(value="nan"):
                found["nan"] += 1
    return found


def _innermost(outcome: Outcome) -> Frame | None:
    """The frame that raised; generated code (`<string>`) belongs to whoever called it."""
    return next((frame for frame in reversed(outcome.frames) if not frame.file.startswith("<")), None)


def _operation(text: str, frame: Frame) -> str:
    """The kind of the syntax node at a frame's position."""
    place = (frame.line, frame.column, frame.end_line, frame.end_column)
    by_line = ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.expr | ast.stmt) and not isinstance(node, ast.Expr):
            if (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == place:
                return type(node).__name__
            if node.lineno == frame.line and isinstance(node, ast.stmt):
                by_line = type(node).__name__
    return by_line
