"""What flows into the statement by which a program finds that its numbers are wrong.

A program that fails on purpose reduces to `assert False`, or to an `assert` of a number that is plainly wrong. So what
the guard looks at must still come from a derivative, if it did; and where no control tells a wrong number from a right
one, from all the functions, operators and numbers that it came from.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import enum
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from jaxshrink import tree as trees
from jaxshrink.outcome import Outcome
from jaxshrink.scopes import FUNCTION, Binding, Scopes

DERIVATIVES = frozenset({
    "grad", "value_and_grad", "vjp", "jvp", "jacfwd", "jacrev", "jacobian", "hessian", "linearize", "linear_transpose",
})  # fmt: skip
_FINITENESS = frozenset({"isnan", "isfinite", "isinf"})

_ROLES = (
    DERIVATIVES,
    _FINITENESS,
    frozenset({"allclose", "isclose", "array_equal", "assert_allclose", "assert_array_equal", "assert_equal",
               "assert_array_almost_equal", "assert_almost_equal", "assert_close", "assertAllClose"}),
)  # fmt: skip
"""Names of derivatives, and of what tells a wrong number; those of one set may stand for each other."""


_WORD = re.compile(r"\w+")

_PURE = tuple(f"jax.{module}." for module in ("numpy", "lax", "nn", "random", "scipy"))
"""What has no effect but its result."""


class Watched(enum.Enum):
    """What something else than the guard watches over."""

    NOTHING = enum.auto()
    MESSAGE = enum.auto()  # it tells the wrong numbers, and must stay word for word
    VALUES = enum.auto()  # they do not matter: shapes and types are what is wrong
    ALL = enum.auto()  # there is a control


@dataclasses.dataclass(frozen=True)
class Guard:
    """What must flow into the statement that fails: one of each of these sets, and so many of each of these.

    `own`: whether the program fails there by a statement made for that, an `assert` or a `raise`; which.
    """

    wanted: tuple[frozenset[str], ...]
    all: Mapping[str, int]
    own: type[ast.Assert | ast.Raise] | None = None

    @classmethod
    def of(cls, outcome: Outcome, text: str, watched: Watched) -> Self:
        """What flows into it in a program that failed so, and must do so where that much is watched over."""
        flow = _flow(text, _line(outcome))
        found = flow.words
        roles = tuple(names for names in _ROLES if names & found.keys())
        if watched is Watched.ALL:
            roles = tuple(names for names in roles if names is not DERIVATIVES)  # the control sees to it
        called = frozenset(name for name in found if name.isidentifier())
        roles = (*roles, called) if called else roles
        kept = {Watched.NOTHING: found, Watched.VALUES: flow.tests}
        own = next((kind for kind in (ast.Assert, ast.Raise) if isinstance(flow.statement, kind)), None)
        return cls(roles, kept.get(watched, {}), own)

    def kept(self, outcome: Outcome, text: str) -> bool:
        """Whether all that is wanted still flows into the statement that failed."""
        return self._flows(_flow(text, _line(outcome)))

    def is_possible(self, text: str) -> bool:
        """Whether a statement that may fail so has all that is wanted flow into it, as can be seen without a run."""
        if self.own is None:
            words = set(_WORD.findall(text))
            return all(names & words for names in self.wanted)
        lines = (node.lineno for node in trees.walk_statements(ast.parse(text)) if isinstance(node, self.own))
        return any(self._flows(_flow(text, line)) for line in lines)

    def _flows(self, flow: _Flow) -> bool:
        found = flow.words + flow.tests
        enough = all(found[each] >= count for each, count in self.all.items())
        return enough and all(names & found.keys() for names in self.wanted)


def reads_values(outcome: Outcome, text: str) -> bool:
    """Whether, in an abstract run, values of arrays that are not the real ones may have flowed into what failed."""
    return not _flow(text, _line(outcome)).lines.isdisjoint(outcome.reads)


def tests_finiteness(outcome: Outcome, text: str) -> bool:
    """Whether the program fails because of NaNs or infinities, by what it calls or what it says."""
    said = re.search(r"\b(nan|inf)s?\b", outcome.message or "", re.IGNORECASE)
    return said is not None or not _FINITENESS.isdisjoint(into(text, _line(outcome)))


def feeds(other: Outcome, outcome: Outcome, text: str) -> bool:
    """Whether what stands where another run of the text failed flows into the statement that failed in this one."""
    return _line(other) in _flow(text, _line(outcome)).lines


def into(text: str, line: int) -> collections.Counter[str]:
    """What the values that a statement looks at may come from: names of library functions, operators, numbers.

    Of a dotted name the last part. Cautious: each value that a variable may have counts, and whole functions.
    """
    return _flow(text, line).words


@functools.lru_cache(maxsize=64)  # more than are asked about at once
def _flow(text: str, line: int) -> _Flow:
    tree = ast.parse(text)
    statements = [node for node in trees.walk_statements(tree) if node.lineno <= line <= (node.end_lineno or 0)]
    return _Flow(tree, statements[-1:])


class _Flow:
    """What flows into statements: the `words` for what computes it, and the `lines` on which that stands.

    `tests`: words for what stands in the tests themselves.
    """

    def __init__(self, tree: ast.Module, statements: Sequence[ast.stmt]):
        self.parents = trees.parents(tree)
        self.scopes = Scopes(tree)
        self.lines: set[int] = set()
        self.statement = next(iter(statements), None)
        tests = [test for statement in statements for test in self._conditions(statement)]
        self.tests = collections.Counter(word for test in tests for node in ast.walk(test) for word in _tested(node))
        self.words = collections.Counter(word for statement in statements for word in self._into(statement))

    def _into(self, statement: ast.stmt) -> Iterator[str]:
        """What computes in all that the statement reads, directly or not."""
        waiting: list[ast.AST] = [statement, *self._conditions(statement)]
        seen: set[ast.AST] = set()
        while waiting:
            for node in self._parts(waiting.pop()):
                if node in seen:
                    continue
                seen.add(node)
                self.lines.add(getattr(node, "lineno", 0))
                yield from _operation(node)
                binding = self.scopes.of.get(node)
                if binding is not None and isinstance(node, ast.Name):
                    root = self._library(node, binding)
                    if root is not None:
                        yield root
                    for definition in binding.definitions:
                        waiting += (part for part in self._sources(definition) if part not in seen)
                    waiting += (part for part in self._mutations(binding) if part not in seen)

    def _parts(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node and all in it, apart from statements by which nothing but a value is made, and dropped."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += (child for child in ast.iter_child_nodes(node) if not self._is_idle(child))

    def _is_idle(self, node: ast.AST) -> bool:
        match node:
            case ast.Expr(ast.Call(func=function)):
                return self._full_name(function).startswith(_PURE)
            case ast.Expr(ast.Await() | ast.Yield() | ast.YieldFrom()):
                return False
        return isinstance(node, ast.Expr)

    def _full_name(self, node: ast.AST) -> str:
        """The dotted name of what was imported, and of what is taken from it; empty for other things."""
        if isinstance(node, ast.Attribute):
            owner = self._full_name(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        binding = self.scopes.of.get(node)
        imported = [each for each in binding.definitions if isinstance(each, ast.alias)] if binding else []
        for alias in imported:
            above = self.parents[alias]
            module = f"{above.module}." if isinstance(above, ast.ImportFrom) else ""
            return f"{module}{alias.name}" if alias.asname or module else alias.name.partition(".")[0]
        return ""

    def _library(self, name: ast.Name, binding: Binding) -> str | None:
        """The last part of the dotted name that begins here, where that names what a library has and a call takes."""
        imported = next((each for each in binding.definitions if isinstance(each, ast.alias)), None)
        if imported is None:
            return None
        node: ast.AST = name
        while isinstance(above := self.parents.get(node), ast.Attribute):
            node = above
        if not isinstance(self.parents.get(node), ast.Call | ast.keyword | ast.FunctionDef):
            return None
        return node.attr if isinstance(node, ast.Attribute) else imported.name.rpartition(".")[2]

    def _sources(self, definition: ast.AST) -> Iterator[ast.AST]:
        """What a variable gets its value from, by one of its definitions."""
        match definition:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield definition
            case ast.arg():
                yield from self._passed(definition)
            case ast.Name():
                yield from self._assigned(definition)

    def _mutations(self, binding: Binding) -> Iterator[ast.AST]:
        """Statements that put something into what a variable holds: `x[i] = y`, `x.append(y)`."""
        imported = any(isinstance(each, ast.alias) for each in binding.definitions)
        for use in [] if imported else binding.uses:
            node: ast.AST = use
            while isinstance(above := self.parents.get(node), ast.Attribute | ast.Subscript) and above.value is node:
                node = above
            statement = self.parents.get(above) if isinstance(above, ast.Call) and above.func is node else above
            if node is not use and isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign):
                if isinstance(statement, ast.Expr) or isinstance(getattr(node, "ctx", None), ast.Store):
                    yield statement

    def _passed(self, parameter: ast.arg) -> Iterator[ast.AST]:
        function = self.parents[self.parents[parameter]]
        if isinstance(function, ast.FunctionDef) and isinstance(self.parents.get(function), ast.ClassDef):
            yield from self._method_calls(function.name)
        binding = self.scopes.of.get(function)
        for use in [function] if binding is None else binding.uses:
            above = self.parents.get(use)
            if isinstance(above, ast.Call | ast.Assign | ast.keyword):
                yield above

    def _method_calls(self, name: str) -> Iterator[ast.AST]:
        for node in self.parents:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
                yield node

    def _assigned(self, target: ast.AST) -> Iterator[ast.AST]:
        node = target
        while not isinstance(node, ast.stmt | ast.comprehension | ast.NamedExpr | ast.withitem | ast.MatchAs):
            node = self.parents[node]
        match node:
            case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value):
                yield value
            case ast.withitem(context_expr=value) | ast.NamedExpr(value=value):
                yield value
            case ast.stmt():
                yield node

    def _conditions(self, statement: ast.stmt) -> Iterator[ast.AST]:
        """The tests that decide, in the function at hand, whether the statement is reached."""
        node: ast.AST = statement
        if isinstance(statement, ast.Assert):
            yield statement.test
        while (above := self.parents.get(node)) is not None and not isinstance(node, FUNCTION):
            if isinstance(above, ast.If | ast.While):
                yield above.test
            elif isinstance(above, ast.For):
                yield above.iter
            node = above


def _operation(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            yield f"operator {type(op).__name__}"
        case ast.Subscript() | ast.Compare() | ast.UnaryOp():
            yield f"operator {type(node).__name__}"
        case ast.Constant(value=int() | float() | complex() as number) if not isinstance(number, bool):
            yield repr(number)


def _tested(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.BinOp(op=op):
            yield f"test {type(op).__name__}"
        case ast.Attribute(attr=name) if name in ("shape", "ndim", "size", "dtype"):
            yield f"test {name}"
        case ast.Compare(ops=ops):
            yield from (f"test {type(op).__name__}" for op in ops)


def _line(outcome: Outcome) -> int:
    """The line of the program at which it failed, or called what found the failure."""
    return next((frame.line for frame in reversed(outcome.frames) if frame.user), 0)
