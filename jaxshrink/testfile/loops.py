"""Which parameters a script runs a test with: the ones that an id names, or all in turn."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from jaxshrink.testfile.module import Module
from jaxshrink.testfile.parameters import Axis, Case
from jaxshrink.testfile.writer import Writer

PARAMETERS = """def parameters(cases, names, ids=lambda value: value):
    for index, case in enumerate(cases):
        marked = hasattr(case, "marks")  # a pytest.param
        values = case.values if marked else case if len(names) > 1 else (case,)
        parts = []
        for name, value in zip(names, map(ids, values)):
            plain = value is None or isinstance(value, (str, int, float, complex))
            parts.append(str(value) if plain else getattr(value, "__name__", f"{name}{index}"))
        yield values, case.id if marked and case.id else "-".join(parts)
"""
"""Values that only a run knows, with the ids that pytest makes of them."""


@dataclasses.dataclass(frozen=True)
class Loop:
    """Axes that go together through `rows` of values, or one axis, where only a run knows them, `rows` being None.

    Then `wanted` is the id of the one that counts, if not all do.
    """

    axes: tuple[Axis, ...]
    rows: list[tuple[ast.expr, ...]] | None
    wanted: str | None = None

    @property
    def modules(self) -> list[Module]:
        """Where each value of a row is written."""
        return [axis.module for axis in self.axes for _ in axis.names]


def loops(axes: Sequence[Axis], wanted: str | None) -> list[Loop] | None:
    """What to run, outermost first: the combinations with an id, or all; None where none has it."""
    if wanted is None:
        spelled = [each.cases if each.spelled else None for each in axes]
        rows = [[case.values for case in cases] if cases else None for cases in spelled]
        return [Loop((each,), values) for each, values in zip(axes, rows, strict=True)]
    found = _combinations(axes, wanted)
    if not axes or not found:
        return None
    if all(each.cases for each in axes):  # several where guesses do not tell them apart
        return [Loop(tuple(axes), [tuple(value for case in cases for value in case.values) for cases, _ in found])]
    cases, match = found[0]
    known = iter(cases)
    return [
        Loop((each,), [next(known).values]) if each.cases else Loop((each,), None, match[f"axis{number}"])
        for number, each in enumerate(axes)
    ]


def known_ids(axes: Sequence[Axis]) -> list[str]:
    """The ids of all combinations, with `*` for what only a run knows."""
    parts = [["-".join(part.text for part in case.id) for case in each.cases or ()] or ["*"] for each in axes]
    return ["-".join(combination) for combination in itertools.product(*parts)]


def heads(
    loop: Loop, variables: Sequence[str], write: Writer, text: Callable[[ast.expr, Module], str]
) -> Iterator[str]:
    """The lines below which `variables` have the values; `text` tells how the script refers to a module's."""
    target = ", ".join(variables)
    if loop.rows is not None:
        rows = [list(map(text, row, loop.modules)) for row in loop.rows]
        listed = ", ".join(row[0] if len(row) == 1 else f"({', '.join(row)})" for row in rows)
        yield f"for {target} in [{listed}]:"
        return
    [axis] = loop.axes
    values = text(axis.values, axis.module)
    if loop.wanted is None and not axis.module.uses_param:
        yield f"for {target} in {values}:"
        return
    write.need(PARAMETERS)
    ids = f", {text(axis.ids, axis.module)}" if axis.ids else ""
    yield f"for ({target},), param_id in parameters({values}, {list(axis.names)}{ids}):"
    if loop.wanted is not None:
        yield f"if param_id == {loop.wanted!r}:"


def _combinations(axes: Sequence[Axis], wanted: str) -> list[tuple[list[Case], re.Match[str]]]:
    """The cases, one of each axis that has any, with an id. Guesses are trusted first, and else not at all."""
    for trust in (True, False):
        found = []
        for cases in itertools.product(*(each.cases or (None,) for each in axes)):
            pattern = "-".join(part for number, case in enumerate(cases) for part in _patterns(number, case, trust))
            if match := re.fullmatch(pattern, wanted, re.DOTALL):
                found.append(([case for case in cases if case], match))
        if found:
            return found
    return []


def _patterns(number: int, case: Case | None, trust: bool) -> list[str]:
    if case is None:
        return [f"(?P<axis{number}>.*)"]
    return [re.escape(part.text) if part.sure or trust else ".*" for part in case.id]
