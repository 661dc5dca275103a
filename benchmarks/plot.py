"""Plots of the tokens over time: all inputs in one, and each on its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.sizes import Point
from benchmarks.summary import Summaries, Summary, geometric_mean
from benchmarks.tools import TOOLS

COLOURS = dict(zip((tool.name for tool in TOOLS), ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#7f7f7f"), strict=True))

_COLUMNS = 4
_FIRST = 0.5
"""Seconds where the axis begins: it is logarithmic, and nothing happens before."""


def draw(summaries: Summaries, folder: Path) -> None:
    """Write `overview.png` and `inputs.png`."""
    _overview(summaries).savefig(folder / "overview.png", dpi=120)
    _inputs(summaries).savefig(folder / "inputs.png", dpi=100)


def _overview(summaries: Summaries) -> Figure:
    """The geometric mean, over all inputs, of the part of the tokens that is left."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    end = summaries.settings.budget
    moments = [_FIRST * (end / _FIRST) ** (step / 400) for step in range(401)]
    for tool in summaries.tools:
        curves = [_parts(row[tool]) for row in summaries.rows.values() if tool in row]
        left = [geometric_mean(_at(curve, moment) for curve in curves) or 1.0 for moment in moments]
        label = f"{tool} ({len(curves)} inputs)" if len(curves) < len(summaries.rows) else tool
        axes.step(moments, left, where="post", color=COLOURS[tool], label=label)
    _scales(axes, end)
    axes.set(xlabel="seconds", ylabel="part of the tokens that is left (geometric mean)")
    axes.legend(frameon=False)
    return figure


def _inputs(summaries: Summaries) -> Figure:
    """A small plot for each input; a thin line for each repetition."""
    rows = math.ceil(len(summaries.rows) / _COLUMNS)
    figure = Figure(figsize=(4 * _COLUMNS, 2.6 * rows), layout="constrained")
    every: list[Axes] = list(figure.subplots(rows, _COLUMNS, squeeze=False).flat)
    for axes in every[len(summaries.rows) :]:
        axes.set_axis_off()
    for axes, (given, row) in zip(every, summaries.rows.items(), strict=False):
        for tool in summaries.tools:
            for each in row[tool].repetitions if tool in row else ():
                seconds, tokens = _steps(each.curve, each.lasted)
                axes.step(seconds, tokens, where="post", color=COLOURS[tool], linewidth=1)
        _scales(axes, summaries.settings.budget)
        axes.set_title(given, fontsize="small")
    lines = [every[0].plot([], [], color=COLOURS[tool], label=tool)[0] for tool in summaries.tools]
    figure.legend(handles=lines, loc="outside upper center", ncols=len(lines), frameon=False)
    figure.supxlabel("seconds")
    figure.supylabel("tokens")
    return figure


def _scales(axes: Axes, end: float) -> None:
    axes.set(xscale="log", yscale="log", xlim=(_FIRST, end))
    axes.grid(alpha=0.3)


def _parts(summary: Summary) -> list[tuple[float, float]]:
    """The curve of the repetition that ended in the middle, as parts of the original."""
    middle = sorted(summary.repetitions, key=lambda each: each.final)[len(summary.repetitions) // 2]
    return [(point.seconds, point.tokens / middle.original) for point in middle.curve]


def _at(curve: Iterable[tuple[float, float]], moment: float) -> float:
    """The value of a falling curve at a moment."""
    return min(value for seconds, value in curve if seconds <= moment)


def _steps(curve: Sequence[Point], end: float) -> tuple[list[float], list[float]]:
    """The curve's coordinates, to the end of the run."""
    points = [*curve, Point(end, curve[-1].tokens)]
    return [max(point.seconds, _FIRST) for point in points], [float(point.tokens) for point in points]
