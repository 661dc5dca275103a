"""A jaxpr as the text of functions.

While text is written, every name is one of its own kind (see `inside.capture.naming`), so no two clash.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from jaxshrink.inside.capture import names
from jaxshrink.inside.capture.env import placeholder
from jaxshrink.jaxprs import contexts, internals
from jaxshrink.jaxprs.arrays import Arrays
from jaxshrink.jaxprs.equations import Speller, typed_number
from jaxshrink.jaxprs.errors import Inexpressible
from jaxshrink.jaxprs.expanding import expansion, is_high
from jaxshrink.jaxprs.references import place
from jaxshrink.jaxprs.spelling import CALLS

Pack = Callable[[list[str]], str]
"""Makes what a function returns of its flat results."""

Group = tuple[str, int]
"""A parameter that holds so many arguments, and its name if there is not exactly one."""

Lines: TypeAlias = "list[str | Lines]"
"""Lines of text, and places among them that are filled later."""

INDENT = "    "


@dataclasses.dataclass(frozen=True)
class Later:
    """Derivative rules to be written when all that they are for has been: what does it, and for derivatives of which
    order. `before` is where the module has room for what they need, `axes` are the names of mapped axes around, `mesh`
    is the mesh."""

    write: Callable[[], None]
    order: int
    before: Lines
    axes: list[tuple[Any, int]]
    mesh: Any


class Writer:
    """The module: definitions that close over nothing, in order, and the arrays that they read."""

    def __init__(self) -> None:
        self.speller = Speller()
        self.lines: Lines = []
        self.later: collections.deque[Later] = collections.deque()
        self.order = 1
        self.mesh: Any = None  # under which functions are called that are written now
        self.arrays = Arrays(self.new)
        self.defined: dict[Any, str] = {}
        self.kept: list[Any] = []  # the identities of jaxprs are keys
        self.count = 0

    def new(self, wanted: str | None) -> str:
        """A name of its own."""
        self.count += 1
        return str(placeholder(wanted, self.count))

    def module(self) -> Body:
        """Where definitions of the module go."""
        return Body(self, {}, 0, self.lines)

    def postpone(self, write: Callable[[], None]) -> None:
        """Let derivative rules be written later: those for lower derivatives first, so that each function is met first
        where most of its rules' own rules count."""
        before: Lines = []
        self.lines.append(before)
        self.later.append(Later(write, self.order, before, self.speller.axes, self.mesh))

    def finished(self) -> list[str]:
        """Write what was postponed. Returns the lines of the module."""
        whole = self.lines
        while self.later:
            later = self.later.popleft()
            self.lines, self.order, self.speller.axes = later.before, later.order + 1, later.axes
            self.mesh = later.mesh
            later.write()
        return list(_flat(whole))


class Body:
    """Statements of a function, or of the module. `known` are the expressions of variables.

    `contexts` are the expressions of those in which statements stand from here on, `entered` those of the last one.
    """

    def __init__(self, writer: Writer, known: Mapping[Any, str], depth: int, lines: Lines) -> None:
        self.writer, self.known, self.outer, self.lines = writer, dict(known), depth, lines
        self.contexts: tuple[str, ...] = ()
        self.entered: tuple[str, ...] = ()
        self.definitions: dict[Any, Any] = {}
        self.uses: collections.Counter[Any] = collections.Counter()
        self.skipped: set[int] = set()
        self.wanted: dict[Any, str] = {}

    # -- text

    @property
    def depth(self) -> int:
        """How far statements are indented."""
        return self.outer + len(self.contexts)

    def line(self, text: str) -> None:
        """A statement, in its contexts."""
        pairs = zip(self.entered, self.contexts, strict=False)
        shared = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
        for depth, context in enumerate(self.contexts[shared:], self.outer + shared):
            self.lines.append(f"{INDENT * depth}with {context}:")
        self.entered = self.contexts
        self.lines.append(INDENT * self.depth + text)

    def operand(self, atom: Any) -> str:
        """The expression of a variable or literal."""
        known: str = typed_number(atom) if isinstance(atom, internals.Literal) else self.known[atom]
        return known

    def operands(self, atoms: Sequence[Any]) -> list[str]:
        """The expressions of several."""
        return [self.operand(atom) for atom in atoms]

    def target(self, var: Any) -> str:
        """A name for a result."""
        if isinstance(var, internals.DropVar) or not self.uses[var]:
            return "_"
        name = self.known[var] = self.writer.new(self.wanted.get(var))
        return name

    def assign(self, outvars: Sequence[Any], sizes: Sequence[int] | None, value: str) -> None:
        """Assign results: each a part of a sequence, grouped by sizes where these are given; one alone as it is."""
        targets = [self.target(var) for var in outvars]
        if sizes is not None:
            groups = grouped(targets, sizes)
            targets = [tupled(group) if group else "_" for group in groups]
        if all(target == "_" for target in targets):
            self.line(value)
        else:
            self.line(f"{', '.join(targets)}{',' if sizes is None and len(targets) == 1 else ''} = {value}")

    def below(self) -> Body:
        """Statements below the last one, in the same lines."""
        return Body(self.writer, self.known, self.depth + 1, self.lines)

    # -- equations

    def equations(self, parts: internals.Opened, paths: Sequence[str] = ()) -> list[str]:
        """Write all equations. Returns the expressions of the results. `paths` tell what the results are called."""
        from jaxshrink.jaxprs.higher import swallowed
        from jaxshrink.jaxprs.idioms import idioms

        parts = internals.without_identities(parts)
        self.wanted.update({var: _wanted(path) for var, path in zip(parts.outvars, paths, strict=False)
                            if _wanted(path) and not isinstance(var, internals.Literal)})  # fmt: skip
        self.definitions.update({var: eqn for eqn in parts.eqns for var in eqn.outvars})
        read = (atom for eqn in parts.eqns for atom in eqn.invars)
        self.uses.update(atom for atom in (*read, *parts.outvars) if not isinstance(atom, internals.Literal))
        for var, value in zip(parts.constvars, parts.consts, strict=True):
            if self.uses[var]:
                self.known[var] = self.writer.arrays.expression(value, self.uses[var] <= 1)
        whole = idioms(self, parts.eqns)
        self.skipped |= {id(eqn) for eqn in swallowed(self, parts.eqns)}
        self.skipped |= {id(eqn) for idiom in whole.values() for eqn in idiom.eqns[:-1]}
        outside = self.contexts
        for eqn in parts.eqns:
            if id(eqn) not in self.skipped:
                self.contexts = outside + contexts.around(self, eqn)
                with contexts.known_mesh(self.writer, internals.context_mesh(eqn)):
                    if id(eqn) in whole:
                        self.assign(eqn.outvars, (1,), whole[id(eqn)].text(self.operand))
                    else:
                        self.equation(eqn)
        self.contexts = outside
        return self.operands(parts.outvars)

    def equation(self, eqn: Any) -> None:
        """Write one equation. Raises Inexpressible."""
        from jaxshrink.jaxprs.higher import HIGHER, generic

        write = HIGHER.get(eqn.primitive.name)
        may_be_plain = write is None or eqn.primitive.name in CALLS
        if (may_be_plain and self.plain(eqn)) or (write is not None and write(self, eqn)):
            pass
        elif is_high(eqn):
            self.known.update(zip(eqn.outvars, self.inlined(expansion(eqn), eqn), strict=True))
        else:
            generic(self, eqn)

    def inlined(self, parts: internals.Opened, eqn: Any) -> list[str]:
        """Write the equations that one stands for. Returns the expressions of its results."""
        self.known.update(zip(parts.invars, self.operands(eqn.invars), strict=True))
        return self.equations(internals.with_literals(parts, eqn.invars))

    def plain(self, eqn: Any) -> bool:
        """Write an equation as one expression, if there is one."""
        spelled = self.writer.speller.spelled(eqn)
        if spelled is None:
            return False
        stored = self._stored(eqn)
        if stored is not None:
            self.line(stored)
            return True
        value = spelled.of(eqn, self.operand)
        if spelled.is_sequence or len(eqn.outvars) == 1:
            self.assign(eqn.outvars, None if spelled.is_sequence else (1,), value)
        else:
            self.line(value)
        return True

    def _stored(self, eqn: Any) -> str | None:
        """The statement that writes to a reference, where nobody asks what was there before."""
        if eqn.primitive.name != "swap" or any(self.uses[var] for var in eqn.outvars):
            return None
        where = place(eqn, self.operands(eqn.invars))
        return None if where is None else f"{where} = {self.operand(eqn.invars[1])}"

    # -- functions

    def define(
        self, jaxpr: Any, wanted: str, groups: Sequence[Group] | None = None, pack: Pack | None = None,
        given: Sequence[Any] = (), decorator: str | None = None,
        args_seen: Callable[[list[str]], None] | None = None, exact: str | None = None,
        places: Sequence[int] | None = None,
    ) -> str:  # fmt: skip
        """Define the function of a jaxpr here, and return its name.

        `given` are variables and literals for its first arguments, which it closes over. The other arguments are
        parameters, or parts of them (a negative count: also where it is only one); `args_seen` gets their names.
        `exact` is the name of the function, where that is no matter of wishes. It returns what `pack` gives.
        `places` are those of the arguments in the groups, where these hold others too.
        """
        parts = internals.with_literals(internals.opened(jaxpr), given)
        arg_names, paths = internals.names(jaxpr)
        name = self.writer.new(names.identifier(wanted)) if exact is None else exact
        inner = Body(self.writer, self.known if given else {}, self.depth + 1, [])
        inner.known.update(zip(parts.invars, self.operands(given), strict=False))
        free = parts.invars[len(given) :]
        for var, arg in zip(free, arg_names[len(given) :], strict=True):
            inner.known[var] = self.writer.new(_wanted(arg))
        args = [inner.known[var] for var in free]
        if args_seen is not None:
            args_seen(args)
        if places is not None and groups is not None:
            taken = dict(zip(places, args, strict=True))
            args = [taken.get(i, "_") for i in range(sum(abs(count) for _, count in groups))]
        parameters = inner.parameters(args, groups)
        results = inner.equations(parts, paths)
        packed = (pack or plain_results)(results)
        if decorator:
            self.line(f"@{decorator}")
        self.line(f"def {name}({', '.join(parameters)}):")
        self.lines.extend(inner.lines)
        inner.lines = self.lines
        if packed or not inner.lines:
            inner.line(f"return {packed}".rstrip())
        return name

    def parameters(self, args: list[str], groups: Sequence[Group] | None) -> list[str]:
        """The parameters that hold these arguments; those that hold several are taken apart first."""
        if groups is None:
            return args
        found, start = [], 0
        for wanted, count in groups:
            part = args[start : start + abs(count)]
            start += abs(count)
            if count == 1:
                found += part
                continue
            found.append(self.writer.new(wanted))
            if part:
                self.line(f"{', '.join(part)}{',' if len(part) == 1 else ''} = {found[-1]}")
        return found

    def once(self, key: Any, define: Callable[[Body], str], keep: Any = None) -> str:
        """A definition of the module that may be asked for again."""
        if key not in self.writer.defined:
            self.writer.kept.append(keep)
            lines: Lines = []  # what it needs comes before
            self.writer.defined[key] = define(Body(self.writer, {}, 0, lines))
            self.writer.lines.extend(lines)
        return self.writer.defined[key]


def _flat(lines: Lines) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flat(line)


def tupled(parts: Sequence[str]) -> str:
    """One as it is, others as a tuple."""
    return parts[0] if len(parts) == 1 else "(" + ", ".join(parts) + ")"


def plain_results(parts: list[str]) -> str:
    """What a function returns: one result as it is, others as a tuple."""
    return ", ".join(parts) if parts else "()"


def grouped(parts: Sequence[str], sizes: Sequence[int]) -> list[list[str]]:
    """Consecutive parts, so many each."""
    found, start = [], 0
    for size in sizes:
        found.append(list(parts[start : start + size]))
        start += size
    return found


def _wanted(path: str) -> str:
    """A name for what stands at a path: `y['hi']` is `y_hi`, `result['loss']` is `loss`."""
    words = re.findall(r"\w+", re.sub(r"^result\b", "", path))
    named = list(itertools.dropwhile(str.isdigit, words))
    return names.identifier("_".join(named)) if named else ""


def inexpressible(eqn: Any, why: object) -> Inexpressible:
    """The error that an equation cannot be told in Python."""
    return Inexpressible(f"the primitive {eqn.primitive.name} cannot be written as Python: {why}")
