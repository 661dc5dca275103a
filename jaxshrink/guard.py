"""What flows into the statement by which a program finds that its numbers are wrong.

A program that fails on purpose reduces to `assert False`, or to an `assert` of a number that is plainly wrong. So what
the guard looks at must still come from a derivative, if it did; and where no control tells a wrong number from a right
one, from all the functions, operators and numbers that it came from.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Self

from jaxshrink import tree as trees
from jaxshrink.outcome import Outcome
from jaxshrink.scopes import FUNCTION, Binding, Scopes

DERIVATIVES = frozenset({
    "grad", "value_and_grad", "vjp", "jvp", "jacfwd", "jacrev", "jacobian", "hessian", "linearize", "linear_transpose",
})  # fmt: skip
_ROLES = (
    DERIVATIVES,
    frozenset({"isnan", "isfinite", "isinf"}),
    frozenset({"allclose", "isclose", "array_equal", "assert_allclose", "assert_array_equal", "assert_equal",
               "assert_array_almost_equal", "assert_almost_equal", "assert_close", "assertAllClose"}),
)  # fmt: skip
"""Names of derivatives, and of what tells a wrong number; those of one set may stand for each other."""

@dataclasses.dataclass(frozen=True)
class Guard:
    """What must flow into the statement that fails: one of each of these sets, and so many of each of these."""

    wanted: tuple[frozenset[str], ...]
    all: Mapping[str, int]

    @classmethod
    def of(cls, outcome: Outcome, text: str, *, controlled: bool) -> Self:
        """What flows into it in a program that failed so. `controlled`: a control watches over the rest."""
        found = into(text, _line(outcome))
        roles = tuple(names for names in _ROLES if names & found.keys())
        return cls(roles, {} if controlled else found)

    def kept(self, outcome: Outcome, text: str) -> bool:
        """Whether all that is wanted still flows into the statement that failed, and something of a library does."""
        found = into(text, _line(outcome))
        enough = all(found[each] >= count for each, count in self.all.items())
        return bool(found) and enough and all(names & found.keys() for names in self.wanted)


@functools.lru_cache(maxsize=4)
def into(text: str, line: int) -> collections.Counter[str]:
    """What the values that a statement looks at may come from: names of library functions, operators, numbers.

    Of a dotted name the last part. Cautious: each value that a variable may have counts, and whole functions.
    """
    tree = ast.parse(text)
    statements = [node for node in trees.walk_statements(tree) if node.lineno <= line <= (node.end_lineno or 0)]
    return collections.Counter(_Flow(tree).into(statements[-1]) if statements else ())


class _Flow:
    def __init__(self, tree: ast.Module):
        self.parents = trees.parents(tree)
        self.scopes = Scopes(tree)

    def into(self, statement: ast.stmt) -> Iterator[str]:
        """What computes in all that the statement reads, directly or not."""
        waiting: list[ast.AST] = [statement, *self._conditions(statement)]
        seen: set[ast.AST] = set()
        while waiting:
            for node in ast.walk(waiting.pop()):
                if node in seen:
                    continue
                seen.add(node)
                yield from _operation(node)
                binding = self.scopes.of.get(node)
                if binding is not None and isinstance(node, ast.Name):
                    root = self._library(node, binding)
                    if root is not None:
                        yield root
                    for definition in binding.definitions:
                        waiting += (part for part in self._sources(definition) if part not in seen)

    def _library(self, name: ast.Name, binding: Binding) -> str | None:
        """The last part of the dotted name that begins here, where that names something in a library."""
        if not any(isinstance(definition, ast.alias) for definition in binding.definitions):
            return None
        node: ast.AST = name
        while isinstance(above := self.parents.get(node), ast.Attribute):
            node = above
        return node.attr if isinstance(node, ast.Attribute) else name.id

    def _sources(self, definition: ast.AST) -> Iterator[ast.AST]:
        """What a variable gets its value from, by one of its definitions."""
        match definition:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield definition
            case ast.arg():
                yield from self._passed(definition)
            case ast.Name():
                yield from self._assigned(definition)

    def _passed(self, parameter: ast.arg) -> Iterator[ast.AST]:
        function = self.parents[self.parents[parameter]]
        binding = self.scopes.of.get(function)
        for use in [function] if binding is None else binding.uses:
            above = self.parents.get(use)
            if isinstance(above, ast.Call | ast.Assign | ast.keyword):
                yield above

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
        while (above := self.parents.get(node)) is not None and not isinstance(node, FUNCTION):
            if isinstance(above, ast.If | ast.While):
                yield above.test
            elif isinstance(above, ast.For):
                yield above.iter
            node = above


def _operation(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            yield type(op).__name__
        case ast.Subscript() | ast.Compare() | ast.UnaryOp():
            yield type(node).__name__
        case ast.Constant(value=int() | float() | complex() as number) if not isinstance(number, bool):
            yield repr(number)


def _line(outcome: Outcome) -> int:
    """The line of the program at which it failed, or called what found the failure."""
    return next((frame.line for frame in reversed(outcome.frames) if frame.user), 0)
