"""The tables of README.md, written between two marks in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.summary import Pair, Summaries, Summary, geometric_mean
from benchmarks.tools import OURS, TOOLS

BEGIN, END = "<!-- results -->", "<!-- end of results -->"

_NOT_RUN = "-"


def write(path: Path, summaries: Summaries) -> None:
    """Put the results into the file, in place of the old ones."""
    put(path, BEGIN, results(summaries), END)


def put(path: Path, begin: str, text: str, end: str) -> None:
    """Put a text between two marks in a file, in place of what stands there."""
    old = path.read_text(encoding="utf-8") if path.exists() else f"{begin}\n{end}\n"
    before, _, rest = old.partition(begin)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def results(summaries: Summaries) -> str:
    """All that is measured, as Markdown."""
    parts = [
        _heading(summaries),
        "![tokens over time, all inputs](overview.png)",
        "### Final tokens",
        "Of the result, and in brackets how many times as many as jaxshrink's. † cut at the budget, ! ended with an "
        "error, ✗ does not fail in the same way any more.",
        _table(summaries, summaries.tools, _tokens, lambda pair: pair.tokens, held_too=True),
        "### Seconds to the end",
        "Until the tool ended or was cut (†), and in brackets how many times as long as jaxshrink took.",
        _table(summaries, summaries.tools, _seconds, lambda pair: pair.seconds),
        "### Seconds until jaxshrink was as small",
        "Until jaxshrink had a program as small as the peer's best, and in brackets how many times as long the peer "
        "took to that best. Where the peer cut nothing, or jaxshrink never was as small, it is not in the mean.",
        _table(summaries, summaries.peers, _as_small, lambda pair: pair.faster),
        "### Does the result still fail in the same way",
        "Cold runs of the results with the same type, message and raise site, of all.",
        _table(summaries, summaries.tools, _held),
        "### Runs of programs",
        "In brackets how many times as many as jaxshrink's.",
        _table(summaries, summaries.tools, _runs, lambda pair: pair.runs),
        "### CPU seconds",
        "Of all processes, in brackets as a ratio to jaxshrink's.",
        _table(summaries, summaries.tools, _cpu_seconds, lambda pair: pair.cpu_seconds),
        "### Peak memory in MiB",
        "Of all processes at once, in brackets as a ratio to jaxshrink's.",
        _table(summaries, summaries.tools, _peak, lambda pair: pair.peak_bytes),
        "### Tokens over time, each input",
        "![tokens over time, each input](inputs.png)",
    ]
    return "\n\n".join(parts)


def _heading(summaries: Summaries) -> str:
    records, settings = list(summaries.records), summaries.settings
    groups = [summary.repetitions for row in summaries.rows.values() for summary in row.values()]
    dates = sorted({each.date for each in records})
    versions = {each.tool: each.version for each in records}
    told = [name if (version := versions[name]) == "lines" else f"{name} {version}" for name in summaries.tools]
    missing = [tool.name for tool in TOOLS if tool.name not in versions]
    lines = [
        f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} on {settings.machine}.",
        f"Budget {settings.budget:g} s, {settings.jobs} jobs, medians of {_range(len(each) for each in groups)} "
        f"repetitions, load average at the starts "
        f"{min(each.load for each in records):.1f} to {max(each.load for each in records):.1f}.",
        f"Tools: {', '.join(told)}.",
    ]
    if missing:
        lines.append(f"Not run, because not installed or not asked for: {', '.join(missing)}.")
    return "\n".join(lines)


def _table(
    summaries: Summaries,
    tools: Sequence[str],
    cell: Callable[[Summary, Pair | None], str],
    ratio: Callable[[Pair], float] | None = None,
    held_too: bool = False,
) -> str:
    """A row an input, a column a tool; below, the geometric means of the ratios."""
    rows = [["input", *tools], ["---", *["---:"] * len(tools)]]
    for given, row in summaries.rows.items():
        pairs = {tool: None if tool == OURS.name else summaries.pair(given, tool) for tool in tools}
        rows.append([given, *(cell(row[tool], pairs[tool]) if tool in row else _NOT_RUN for tool in tools)])
    if ratio is not None:
        rows.append(["**geometric mean**", *(_mean(map(ratio, summaries.pairs(tool)), tool) for tool in tools)])
    if ratio is not None and held_too:
        held = {tool: [pair for pair in summaries.pairs(tool) if pair.peer.holds] for tool in summaries.peers}
        rows.append(["**of those that hold**", *(_mean(map(ratio, held.get(tool, [])), tool) for tool in tools)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _mean(ratios: Iterable[float], tool: str) -> str:
    if tool == OURS.name:
        return "**1x**"
    ratios = list(ratios)
    counted = sum(0 < ratio < math.inf for ratio in ratios)
    mean = geometric_mean(ratios)
    if mean is None:
        return _NOT_RUN
    return f"**{_times(mean)}**" + (f" ({counted} of {len(ratios)})" if counted < len(ratios) else "")


def _range(numbers: Iterable[int]) -> str:
    found = sorted(set(numbers))
    return " to ".join(str(each) for each in dict.fromkeys((found[0], found[-1])))


def _times(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 100 else f"{ratio:.2g}x"


def _with_ratio(text: str, pair: Pair | None, ratio: Callable[[Pair], float]) -> str:
    return text if pair is None else f"{text} ({_times(ratio(pair))})"


def _tokens(summary: Summary, pair: Pair | None) -> str:
    text = "none" if summary.gave_none else f"{summary.tokens:g}"
    marks = "†" * summary.cut + "!" * summary.failed + "✗" * (not summary.holds and not summary.gave_none)
    return _with_ratio(text + marks, pair, lambda pair: pair.tokens)


def _seconds(summary: Summary, pair: Pair | None) -> str:
    return _with_ratio(_brief(summary.seconds) + "†" * summary.cut, pair, lambda pair: pair.seconds)


def _as_small(summary: Summary, pair: Pair | None) -> str:
    if pair is None:
        return _NOT_RUN
    if pair.peer.reached == 0:
        return "nothing cut"
    if pair.faster == 0:
        return "never"
    return f"{_brief(pair.as_small_after)} ({_times(pair.faster)})"


def _held(summary: Summary, pair: Pair | None) -> str:
    return "{}/{}".format(*summary.held)


def _runs(summary: Summary, pair: Pair | None) -> str:
    return _with_ratio(f"{summary.runs:.0f}", pair, lambda pair: pair.runs)


def _cpu_seconds(summary: Summary, pair: Pair | None) -> str:
    return _with_ratio(_brief(summary.cpu_seconds), pair, lambda pair: pair.cpu_seconds)


def _peak(summary: Summary, pair: Pair | None) -> str:
    return _with_ratio(f"{summary.peak_bytes / 2**20:.0f}", pair, lambda pair: pair.peak_bytes)


def _brief(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.1f}"
