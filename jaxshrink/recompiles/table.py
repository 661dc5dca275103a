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
    groups: dict[str, list[Function]] = collections.defaultdict(list)
    for each in shown:
        groups[_group(each) if is_brief else _AGAIN].append(each)
    parts = [part for each in groups.pop(_AGAIN, ()) for part in _function(each)]
    parts += [_list(title, groups[title]) for title in (_EAGER, _ONCE, _TRACED) if title in groups]
    return Group(*parts, Text(_all(watched, shown)))


_AGAIN = "Compiled again"
_EAGER = (
    "JAX's own functions, called outside of jit and compiled for each shape and parameter: put what is done there "
    "into one function, and jit that"
)
_ONCE = "Compiled once"
_TRACED = "Traced, but not compiled by themselves"


def _group(function: Function) -> str:
    if not function.compiles:
        return _TRACED
    if function.owner == "jax" and function.compiles > 1:
        return _EAGER
    return _AGAIN if len(function.misses) > 1 or function.compiles > 1 else _ONCE


def _all(watched: Report, shown: Sequence[Function]) -> str:
    """How many compilations there were, how long they took, and how much of this is not shown."""
    shown_misses = {id(miss) for each in shown for miss in each.misses}
    rest = [miss for each in watched.functions for miss in each.misses if id(miss) not in shown_misses]
    count = sum(miss.compiled for miss in rest)
    seconds = sum(miss.seconds.lower + miss.seconds.compile + miss.seconds.trace * miss.outermost for miss in rest)
    besides = f"; {count} of them, in {seconds:.2f} s, of functions that are not shown" if count else ""
    return f"{_count(watched.compiles, 'compilation')}, {watched.seconds:.2f} s of tracing and compiling{besides}"


def _list(title: str, functions: Sequence[Function]) -> RenderableType:
    """Functions of which there is little to tell, each on a line."""
    rows = Table(box=None, show_edge=False, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for name in ("name", "where", "what", "seconds"):
        rows.add_column(name, no_wrap=name != "what", overflow="fold")
    for each in functions:
        where = place(each.misses[0].at if title == _EAGER else each.defined)
        rows.add_row(*map(Text, (each.name, where, _gist(each), f"{each.seconds.total:.2f} s")))
    told = [Padding(Text.assemble(("→ ", "bold"), each), (0, 0, 0, 2)) for each in _of_lists(title, functions)]
    return Group(Text(title), Padding(rows, (0, 0, 0 if told else 1, 2)), *told, *([Text()] if told else []))


def _of_lists(title: str, functions: Sequence[Function]) -> list[str]:
    """The advice that the title of a list does not give by itself."""
    misses = [(each, miss) for each in functions for miss in each.misses if title == _EAGER]
    found = [
        f"{place(miss.at)}: {sentence}" for each, miss in misses for sentence in miss.advice
        if miss.reason == "new function object"
    ]  # fmt: skip
    return list(dict.fromkeys(found))


def _gist(function: Function) -> str:
    """The one call; else why there were more, for what first, and how often for each."""
    reasons = collections.Counter(" ".join((miss.reason, *_first(miss))) for miss in function.misses[1:])
    if not reasons:
        return str(function.misses[0].signature)
    done = f"compiled {_times(function.compiles)}" if function.compiles else f"traced {_times(function.traces)}"
    return f"{done}: " + ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())


def _first(miss: Miss) -> list[str]:
    """The path of the first difference, where it says more than the reason."""
    return [each.path for each in miss.differences[:1] if each.path not in ("function", "transformations")]


def _function(function: Function) -> Iterable[RenderableType]:
    seconds = function.seconds
    head = Text.assemble((function.name, "bold"), f"  {place(function.defined)}  ", _counts(function))
    head.append(f"  ({seconds.trace:.2f} s tracing, {seconds.lower + seconds.compile:.2f} s compiling)")
    yield head
    yield Padding(_rows(function.misses), (0, 0, 0, 2))
    for sentence in function.advice:
        numbers = ", ".join(str(miss.number) for miss in function.misses if sentence in miss.advice)
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
        seconds = f"{miss.seconds.total:.2f}"
        told = (str(miss.number), os.path.basename(miss.at), str(miss.signature), _why(miss), seconds)
        rows.add_row(*map(Text, told))
    if len(misses) > _MOST_ROWS:
        rows.add_row("", "", f"and {len(misses) - _MOST_ROWS} more", "", "")
    return rows


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
