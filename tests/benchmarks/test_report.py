"""From records to tables: medians, ratios, marks, and what is compared with what."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psutil")

from benchmarks.machine import Machine
from benchmarks.measurement import Measurement, Settings, load_all
from benchmarks.report import results, write
from benchmarks.sizes import Point
from benchmarks.summary import Summaries, geometric_mean

pytestmark = pytest.mark.slow  # and the same on each Python

SETTINGS = Settings(60.0, 2, Machine("a CPU", 2, 8, "Linux 6.1", "3.12.1", "3.11.7", "0.10.2", "0.10.2"))


def record(tool: str, tokens: int | None, **more: Any) -> Measurement:
    """A run on a program of 400 tokens that took ten seconds and came down in two steps."""
    known: dict[str, Any] = {
        "input": "corpus/one", "version": "1", "repetition": 1, "settings": SETTINGS, "date": "2026-11-30",
        "load": 0.5, "original": 400, "text": None if tokens is None else "text", "seconds": 10.0, "cut": False,
        "code": 0, "runs": 100, "cpu_seconds": 20.0, "peak_bytes": 256 << 20, "holds": 3, "checks": 3, "difference": "",
        "series": (Point(1.0, 400), Point(4.0, 200), Point(8.0, tokens or 100)),
    }  # fmt: skip
    return Measurement(tool=tool, tokens=tokens, **{**known, **more})


def summaries(*records: Measurement) -> Summaries:
    found = Summaries.of(records)
    assert found is not None
    return found


def rows(text: str, title: str) -> list[list[str]]:
    """The cells of the table below a title."""
    lines = text.partition(f"### {title}\n")[2].partition("###")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def test_records_are_kept_whole(tmp_path: Path) -> None:
    first, second = record("jaxshrink", 40), record("Shrink Ray", None, input="cases/two")
    for each in (first, second):
        each.save(tmp_path)
    assert list(load_all(tmp_path)) == [second, first]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cases-two.Shrink-Ray.1.json", "corpus-one.jaxshrink.1.json",
    ]  # fmt: skip


def test_sizes_as_ratios() -> None:
    found = summaries(
        record("jaxshrink", 40), record("Shrink Ray", 200, cut=True), record("ddmin", 20, holds=0),
        record("jaxshrink", 10, input="corpus/two"), record("Shrink Ray", 200, input="corpus/two", code=1),
    )  # fmt: skip
    assert rows(results(found), "Final tokens") == [
        ["input", "jaxshrink", "Shrink Ray", "ddmin"],
        ["---", "---:", "---:", "---:"],
        ["corpus/one", "40", "200† (5x)", "20✗ (0.5x)"],
        ["corpus/two", "10", "200! (20x)", "-"],
        ["**geometric mean**", "**1x**", "**10x**", "**0.5x**"],
        ["**of those that hold**", "**1x**", "**10x**", "-"],
    ]


def test_medians_over_repetitions() -> None:
    ours = [record("jaxshrink", tokens, repetition=number) for number, tokens in enumerate((40, 90, 50), 1)]
    summary = summaries(*ours).rows["corpus/one"]["jaxshrink"]
    assert summary.tokens == 50
    assert summary.held == (9, 9)


def test_when_jaxshrink_was_as_small() -> None:
    peer = {"series": (Point(30.0, 300),), "seconds": 60.0}
    found = summaries(
        record("jaxshrink", 40), record("Shrink Ray", 300, **peer), record("C-Vise", 200),
        record("pysource-minimize", 400, series=()), record("ddmin", 20),
    )  # fmt: skip
    assert rows(results(found), "Seconds until jaxshrink was as small")[2:] == [
        ["corpus/one", "4.0 (7.5x)", "4.0 (1x)", "nothing cut", "never"],
        ["**geometric mean**", "**7.5x**", "**1x**", "-", "-"],
    ]


def test_a_tool_that_gives_nothing_leaves_the_program_as_it_was() -> None:
    found = summaries(record("jaxshrink", 40), record("Shrink Ray", None, series=(), holds=0))
    assert rows(results(found), "Final tokens")[2] == ["corpus/one", "40", "none (10x)"]


def test_seconds_end_with_the_budget() -> None:
    found = summaries(record("jaxshrink", 40), record("ddmin", 200, seconds=67.0, cut=True))
    assert rows(results(found), "Seconds to the end")[2] == ["corpus/one", "10.0", "60.0† (6x)"]


def test_smaller_programs_on_the_way_count_as_large_as_the_result() -> None:
    passing = record("C-Vise", 200, series=(Point(1.0, 400), Point(2.0, 150), Point(3.0, 120)))
    assert passing.curve == [Point(0.0, 400), Point(2.0, 200)]
    assert passing.reached == 2.0
    assert passing.reaches(199) is None


def test_only_what_has_the_newest_settings_and_version() -> None:
    other = dataclasses.replace(SETTINGS, budget=5.0)
    found = summaries(
        record("jaxshrink", 99, version="0", date="2026-11-28"), record("jaxshrink", 40, repetition=2),
        record("ddmin", 99, settings=other, date="2026-11-29"), record("ddmin", 80),
    )  # fmt: skip
    assert {each.final for each in found.records} == {40, 80}


def test_inputs_in_their_natural_order() -> None:
    names = ("generated/1000_lines", "generated/100_lines", "corpus/b", "corpus/a")
    found = summaries(*(record("ddmin", 40, input=name) for name in names))
    assert list(found.rows) == ["corpus/a", "corpus/b", "generated/100_lines", "generated/1000_lines"]


def test_no_records() -> None:
    assert Summaries.of([]) is None


def test_geometric_mean() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([2.0, math.inf, 0.0]) == pytest.approx(2.0)
    assert geometric_mean([]) is None


def test_what_is_around_the_results_stays(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("before\n<!-- results -->\nearlier\n<!-- end of results -->\nafter\n")
    found = summaries(record("jaxshrink", 40))
    for _ in range(2):
        write(path, found)
    text = path.read_text()
    assert text.startswith("before\n<!-- results -->\nMeasured 2026-11-30 on a CPU, 2 cores, 8 GiB, Linux 6.1;")
    assert text.endswith("\n<!-- end of results -->\nafter\n")
    assert "earlier" not in text
    assert text.count("### Final tokens") == 1


def test_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.plot import draw

    draw(summaries(record("jaxshrink", 40), record("ddmin", 200, input="corpus/two")), tmp_path)
    for name in ("overview.png", "inputs.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
