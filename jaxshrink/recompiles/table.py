"""What was watched, as tables for people."""

from __future__ import annotations

import collections
import io
import os
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jaxshrink.recompiles.data import Function, Miss
from jaxshrink.recompiles.report import Report

_MOST_ROWS = 20
_MOST_DIFFERENCES = 4
_WIDTH = 110
"""In columns, where there is no terminal."""


def table(watched: Report, functions: Sequence[Function] | None = None, *, is_brief: bool = True) -> str:
    """Each function with its misses as a table, and what to do; by default those that are `worth_showing`.

    `is_brief` leaves it at a line for a function that is compiled once, or only traced.
    """
    file = io.StringIO()
    Console(file=file, width=_WIDTH, color_system=None).print(rendered(watched, functions, is_brief=is_brief))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def rendered(
    watched: Report, functions: Sequence[Function] | None = None, *, is_brief: bool = True
) -> RenderableType:
    """The same, for a console."""
    shown = watched.worth_showing if functions is None else functions
    again = [each for each in shown if not is_brief or (each.compiles and len(each.misses) > 1)]
    once = [each for each in shown if each not in again and each.compiles]
    never = [each for each in shown if each not in again and not each.compiles]
    parts = [part for each in again for part in _function(each)]
    parts += [_list("Compiled once", once)] if once else []
    parts += [_list("Traced, but not compiled by themselves", never)] if never else []
    return Group(*parts, Text(_all(watched, shown)))


def _all(watched: Report, shown: Sequence[Function]) -> str:
    """How many compilations there were, and how many of these are not shown."""
    rest = watched.compiles - sum(each.compiles for each in shown)
    besides = f", {rest} of them of functions that are not shown" if rest else ""
    return f"{_count(watched.compiles, 'compilation')}{besides}; {watched.seconds:.2f} s of tracing and compiling"


def _list(title: str, functions: Sequence[Function]) -> RenderableType:
    """Functions of which there is little to tell, each on a line."""
    rows = Table(box=None, show_edge=False, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for each in functions:
        what = _reasons(each) or str(each.misses[0].signature)
        rows.add_row(each.name, place(each.defined), what, f"{each.seconds.total:.2f}")
    return Group(Text(title), Padding(rows, (0, 0, 1, 2)))


def _reasons(function: Function) -> str:
    """Why it was traced again, and how often for each reason."""
    reasons = collections.Counter(miss.reason for miss in function.misses[1:])
    again = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
    return f"traced {_times(function.traces)}: {again}" if again else ""


def _function(function: Function) -> Iterable[RenderableType]:
    seconds = function.seconds
    head = Text.assemble((function.name, "bold"), f"  {place(function.defined)}  ", _counts(function))
    head.append(f"  ({seconds.trace:.2f} s tracing, {seconds.lower + seconds.compile:.2f} s compiling)")
    yield head
    yield Padding(_rows(function.misses), (0, 0, 0, 2))
    for sentence in function.advice:
        numbers = ", ".join(str(miss.number) for miss in function.misses if miss.advice == sentence)
        yield Padding(Text.assemble(("→ ", "bold"), f"{sentence} ({numbers})"), (0, 0, 0, 2))
    yield Text()


def _counts(function: Function) -> str:
    only = function.only_traced
    return f"compiled {_times(function.compiles)}" + (f", only traced {_times(only)}" if only else "")


def _rows(misses: Sequence[Miss]) -> Table:
    rows = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("#", "called at", "signature", "why"):
        rows.add_column(name, overflow="fold", ratio=None if name != "why" else 1)
    rows.add_column("s", justify="right")
    for miss in misses[:_MOST_ROWS]:
        rows.add_row(*map(Text, (str(miss.number), place(miss.at), str(miss.signature), _why(miss), _seconds(miss))))
    if len(misses) > _MOST_ROWS:
        rows.add_row("", "", f"and {len(misses) - _MOST_ROWS} more", "", "")
    return rows


def _seconds(miss: Miss) -> str:
    return f"{miss.seconds.total:.2f}"


def _why(miss: Miss) -> str:
    only = "" if miss.compiled else "traced only: "
    if miss.closest is None:
        return f"{only}{miss.reason}"
    differences = [str(each) for each in miss.differences if each.path != "function"]
    told = differences[:_MOST_DIFFERENCES]
    if len(differences) > len(told):
        told.append(f"and {len(differences) - len(told)} more")
    return f"{only}{miss.reason}, unlike {miss.closest}" + "".join(f"\n{line}" for line in told)


def place(text: str) -> str:
    """ "path:line" without the current folder, or that in which packages are."""
    path, _, line = text.rpartition(":")
    if not line.isdecimal() or not os.path.isabs(path):
        return text
    relative, package = os.path.relpath(path), path.rpartition("site-packages" + os.sep)[2]
    return f"{package if package != path else path if relative.startswith('..') else relative}:{line}"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _count(count: int, what: str) -> str:
    return f"{count} {what}" + "s" * (count != 1)
