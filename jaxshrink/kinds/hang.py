"""Hangs: a run that has not ended when the time is up which the user gave, and sits where the original sat."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import Self

from jaxshrink import tree as trees
from jaxshrink.failure import Failure, is_called_back, place, site
from jaxshrink.kinds.signature import Needs
from jaxshrink.options import Options
from jaxshrink.outcome import End, Frame, Outcome

TRACING = "tracing"
"""The site of a run in which JAX traces, transforms or lowers: it is found in ever other functions, JAX's or called."""

_WAITS = re.compile(
    r"jax/_src/(api|array|callback|compilation_cache|compiler|debugging|dispatch|distributed|interpreters/pxla"
    r"|runtime_tokens|xla_bridge)\.py|(asyncio|concurrent|multiprocessing|queue|selectors|socket|subprocess|threading)\b"
)
"""Where Python waits for something else: for the compiler, a computation, a lock, a process."""

EXECUTING = "executing"
"""The site of a run that waits for a computation: at whichever call comes when no more of them may be under way."""

_EXECUTES = re.compile(r"jax/_src/(api|array|dispatch|interpreters/pxla|runtime_tokens)\.py")

_BLOCKS = frozenset({
    "acquire", "recv", "recv_bytes", "accept", "read", "readline", "poll", "select", "sleep", "wait", "join", "get",
    "put",
})  # fmt: skip
"""Names of methods that are no compiled functions and may take for ever."""

_TRACEBACK = "Traceback (most recent call last)"


@dataclasses.dataclass(frozen=True)
class Hung:
    """Still running after `seconds` of wall time, in the same function of the library, or outside of all libraries.

    A hang in what JAX calls back stays one; where no exception was shown before, none is.
    """

    failure: Failure
    seconds: float

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        if outcome.end is not End.TIMEOUT or options.hang is None:
            return None
        return Failure("hang", "hang", f"still running after {options.hang:g} s", _site(outcome, text or ""))

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        assert options.hang is not None
        return cls(failure, options.hang)

    @property
    def needs(self) -> Needs:
        """What comes from a cache is not compiled, so it does not do where compiling takes for ever."""
        return Needs(cache="compil" not in self.failure.site, sizes=False, hang=self.seconds)

    @property
    def is_about_values(self) -> bool:
        return False

    def matches(self, outcome: Outcome, text: str) -> bool:
        return outcome.end is End.TIMEOUT and place(_site(outcome, text)) == place(self.failure.site)


def _site(outcome: Outcome, text: str) -> str:
    """Where it stands, and what else can be told from a program that hangs for another reason."""
    called_back = ", called back" if is_called_back(outcome.stack) else ""
    raised = ", after an exception" if _TRACEBACK in outcome.stderr else ""  # in another thread or process
    return _where(outcome.stack, text) + called_back + raised


def _where(stack: Sequence[Frame], text: str) -> str:
    in_jax = [frame.file for frame in stack if frame.file.startswith(("jax/", "jaxlib/"))]
    ends = *in_jax[-1:], *(frame.file for frame in stack[-1:])
    if in_jax and not any(map(_WAITS.match, ends)):
        return TRACING
    innermost = stack[-1] if stack else None
    if innermost is not None and innermost.user and _calls_compiled(text, innermost.line):
        return EXECUTING
    return EXECUTING if innermost is not None and _EXECUTES.match(innermost.file) else site(stack)


@functools.lru_cache(maxsize=64)
def _calls_compiled(text: str, line: int) -> bool:
    """Whether a line of a program, where it stands in no function of Python, may be in one that JAX has compiled."""
    nodes = list(ast.walk(ast.parse(text)))
    imported = {alias.asname or alias.name for node in nodes for alias in _not_of_jax(node)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0)]
    names = ((_root(call.func), trees.last_name(call.func)) for call in calls)
    return any(root and root not in imported and name not in _BLOCKS for root, name in names)


def _root(node: ast.expr) -> str:
    """The first part of a dotted name that is no builtin; of other expressions that are called a name that none has."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return "()"
    return "" if hasattr(builtins, node.id) else node.id


def _not_of_jax(node: ast.AST) -> list[ast.alias]:
    match node:
        case ast.ImportFrom(module=str(module), names=names):
            return [] if module.partition(".")[0] == "jax" else names
        case ast.Import(names=names):
            return [alias for alias in names if alias.name.partition(".")[0] != "jax"]
    return []
