"""What a failure is, and when two of them are the same.

A minimiser is as good as its idea of sameness: too loose and it slips to another bug, too tight
and it stops early, because shapes in the message change when shapes shrink.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools
import re
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.messages import about_key, embedded, first_sentence, masked
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
        operations = _operations(ast.parse(text), innermost, kind) if known and text and innermost else ()
        return cls("exception", kind, message, "user", frozenset(operations))


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


# -- slips

_SUSPICIOUS = frozenset({
    "exit", "_exit", "quit", "abort", "kill", "raise_signal", "throw", "nan",
    "broadcast_shapes", "result_type", "promote_types", "promote_shapes",
})  # fmt: skip
"""What fails, or says the words of a failure, by itself."""


def slips(original: str, candidate: str) -> str | None:
    """Why a candidate cannot count, whatever its failure: it has more of what fails by itself than the input."""
    old, new = _suspicious(original), _suspicious(candidate)
    return next((what for what, count in new.items() if count > old[what]), None)


@functools.lru_cache(maxsize=16)
def _suspicious(text: str) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Raise() | ast.Assert():
                found[type(node).__name__.lower()] += 1
            case ast.While(test=test) if _is_constant(test):
                found["while True"] += 1
            case ast.Call() if _is_endless(node):
                found["endless while_loop"] += 1
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in _SUSPICIOUS:
                found[name] += 1
            case ast.Constant(value=str(word)) if word.lower().strip("+-") in ("nan", *_SUSPICIOUS):
                found[word] += 1
    return found


# -- where and by what it was raised


def _innermost(outcome: Outcome) -> Frame | None:
    """The frame that raised; generated code (`<string>`) belongs to whoever called it."""
    return next((frame for frame in reversed(outcome.frames) if not frame.file.startswith("<")), None)


_OPERATIONS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.AugAssign: ("binary",),
    ast.BinOp: ("binary",),
    ast.FormattedValue: ("format",),
    ast.JoinedStr: ("format",),
    ast.For: ("iteration",),
    ast.AsyncFor: ("iteration",),
    ast.ListComp: ("iteration", "truth"),
    ast.SetComp: ("iteration", "truth"),
    ast.DictComp: ("iteration", "truth"),
    ast.GeneratorExp: ("iteration", "truth"),
    ast.If: ("truth",),
    ast.While: ("truth",),
    ast.IfExp: ("truth",),
    ast.BoolOp: ("truth",),
    ast.Import: ("import",),
    ast.ImportFrom: ("import",),
}
"""How operations are called; others by the name of their node in lower case.

Which node an operation is reported for differs from one Python to another: the test of an `if` or the `if`.
"""


def _operations(tree: ast.Module, frame: Frame, type_: str) -> Iterator[str]:
    """Names for the operation that raised at a frame's position."""
    above = trees.parents(tree)
    place = (frame.line, frame.column, frame.end_line, frame.end_column)
    for node, parent in above.items():
        span = [getattr(node, name, -1) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")]
        if tuple(span) != place or isinstance(node, ast.Expr):
            continue
        assertion = node if isinstance(node, ast.Assert) else parent
        if type_ == "AssertionError" and isinstance(assertion, ast.Assert):
            yield "assert" if _is_constant(assertion.test) else "assert of a value"
        elif isinstance(node, ast.Raise):
            yield "raise under a condition" if _is_conditional(node, above) else "raise"
        else:
            yield from _OPERATIONS.get(type(node), [type(node).__name__.lower()])
            yield from _roles(node, parent)


def _roles(node: ast.AST, parent: ast.AST) -> Iterator[str]:
    """What is done with a value where it stands: for that, too, some Pythons report the value's expression."""
    match parent:
        case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value) if value is node:
            yield "iteration"
        case ast.withitem(context_expr=value) if value is node:
            yield "with"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) if test is node:
            yield "truth"
        case ast.comprehension(ifs=conditions) if node in conditions:
            yield "truth"
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            yield "truth"
        case ast.FunctionDef(decorator_list=decorators) if node in decorators:
            yield "call"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "truth"
    if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
        yield "unpack"


def _is_conditional(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """Does something decide at run time, in the function at hand, whether the statement is reached?"""
    while (parent := above.get(node)) is not None:
        match parent:
            case ast.If(test=test) | ast.While(test=test) if not _is_constant(test):
                return True
            case ast.ExceptHandler() | ast.match_case() | ast.For() | ast.AsyncFor():
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return False
        node = parent
    return False


def _is_endless(call: ast.Call) -> bool:
    """Is it a `while_loop` whose condition does not look at the state and is not plainly false?"""
    match call:
        case ast.Call(func=ast.Attribute(attr="while_loop") | ast.Name(id="while_loop"), args=[ast.Lambda() as condition, *_]):
            state = {arg.arg for arg in condition.args.args}
            looks = any(isinstance(part, ast.Name) and part.id in state for part in ast.walk(condition.body))
            return not looks and not _is_false(condition.body)
    return False


def _is_false(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not value
        case ast.Compare(left=ast.Constant(value=a), ops=[ast.Lt() | ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=b)]):
            return bool(a == b)
    return False


def _is_constant(node: ast.expr) -> bool:
    """Can a reader tell the value at sight: does nothing in it stand for something else?"""
    return not any(isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in ast.walk(node))
