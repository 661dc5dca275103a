"""The command: measure what is not measured yet, then write table and plots."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import click

from benchmarks.campaign import Campaign
from benchmarks.inputs import ROOT, inputs
from benchmarks.machine import Machine
from benchmarks.measurement import Settings, load_all
from benchmarks.plot import draw
from benchmarks.report import write
from benchmarks.summary import Summaries
from benchmarks.tools import TOOLS

HERE = Path(__file__).parent
NAMES = [tool.name for tool in TOOLS]
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(context_settings={"show_default": True, "max_content_width": 110})
@click.option("--tool", "tools", type=click.Choice(NAMES, case_sensitive=False), multiple=True, default=NAMES,
              help="Only this tool; repeatable.")  # fmt: skip
@click.option("--input", "wanted", metavar="SUBSTR", multiple=True, help="Only inputs of such a name; repeatable.")
@click.option("--budget", metavar="S", default=600.0, help="Seconds that a tool may take.")
@click.option("--repetitions", metavar="N", default=3, help="How often each tool gets each input.")
@click.option("--jobs", metavar="N", default=2, help="Candidates that a tool may run at once.")
@click.option("--python", metavar="PATH", default=sys.executable, show_default="this one",
              help="Interpreter with JAX that runs the programs.")  # fmt: skip
@click.option("--cases", type=FOLDER, default=ROOT.parent / "shared" / "cases", show_default="../shared/cases",
              help="Given cases, if there are any.")  # fmt: skip
@click.option("--data", type=FOLDER, default=HERE / "data", show_default="benchmarks/data",
              help="Where records go; table and plots go beside this folder.")  # fmt: skip
@click.option("--again", is_flag=True, help="Measure also what has been measured with the same settings.")
@click.option("--report", is_flag=True, help="Measure nothing, only write table and plots.")
def main(
    tools: tuple[str, ...],
    wanted: tuple[str, ...],
    budget: float,
    repetitions: int,
    jobs: int,
    python: str,
    cases: Path,
    data: Path,
    again: bool,
    report: bool,
) -> None:
    """Measure jaxshrink and its peers on the same failing programs, in turn, and write a table of it.

    A record of each run is kept in the folder of the data, so an interrupted benchmark goes on where it stopped.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that all is ended and removed
    if not report:
        if (found := shutil.which(python)) is None:
            raise click.UsageError(f"there is no {python}: give an interpreter with JAX")
        python = os.path.abspath(found)
        settings = Settings(budget, jobs, Machine.here(python))
        chosen = [tool for tool in TOOLS if tool.name in tools]
        Campaign(settings, repetitions, python, data, again).run(inputs(cases, wanted), chosen, click.echo)
    summaries = Summaries.of(load_all(data))
    if not summaries:
        raise click.ClickException(f"there are no records in {data}")
    write(data.parent / "README.md", summaries)
    draw(summaries, data.parent)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
