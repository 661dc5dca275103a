"""Plain ddmin over lines, the floor of the comparison: `ddmin.py TEST FILE --jobs N`.

Zeller and Hildebrandt's algorithm (Simplifying and Isolating Failure-Inducing Input, 2002) as it is in the paper:
chunks, then complements, of ever more lines cut ever finer. It knows nothing of Python. Candidates are asked in
parallel, as many at once as there are jobs, and the first in the paper's order that is interesting wins.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from pathlib import Path

import click

Lines = tuple[str, ...]


def ddmin(lines: Lines, first: Callable[[Iterable[Lines]], Lines | None]) -> Lines:
    """A part of the lines from which no single one can be taken; `first` finds the first interesting candidate."""
    parts = 2
    while len(lines) >= 2:
        chunks = split(lines, parts)
        if (found := first(chunks)) is not None:
            lines, parts = found, 2
        elif parts > 2 and (found := first(complements(chunks))) is not None:
            lines, parts = found, parts - 1
        elif parts < len(lines):
            parts = min(len(lines), 2 * parts)
        else:
            break
    return lines


def split(lines: Lines, parts: int) -> list[Lines]:
    """The lines in so many chunks of nearly the same length."""
    ends = [len(lines) * part // parts for part in range(parts + 1)]
    return [lines[start:end] for start, end in pairwise(ends)]


def complements(chunks: Sequence[Lines]) -> Iterator[Lines]:
    """For each chunk, all lines but those."""
    for index in range(len(chunks)):
        yield tuple(line for other, chunk in enumerate(chunks) for line in chunk if other != index)


class Asking:
    """Asks a command about candidates, `jobs` at once and none twice, and writes `path` whenever one is interesting."""

    def __init__(self, command: Path, path: Path, jobs: int):
        self.command, self.path = command.resolve(), path.resolve()
        self.jobs, self.pool = jobs, ThreadPoolExecutor(jobs)
        self.asked: set[Lines] = set()

    def first(self, candidates: Iterable[Lines]) -> Lines | None:
        """The first interesting one; those beside which it ran are lost."""
        new = (each for each in candidates if each not in self.asked)
        while batch := tuple(islice(new, self.jobs)):
            self.asked.update(batch)
            for lines, interesting in zip(batch, list(self.pool.map(self.interesting, batch)), strict=True):
                if interesting:
                    self.write(lines)
                    return lines
        return None

    def interesting(self, lines: Lines) -> bool:
        """Exit code 0 of the command, run in a folder with nothing but the candidate."""
        with tempfile.TemporaryDirectory() as folder:
            candidate = Path(folder, self.path.name)
            candidate.write_text("".join(lines), encoding="utf-8", newline="")
            return subprocess.run([self.command, candidate], cwd=folder, stdout=subprocess.DEVNULL).returncode == 0

    def write(self, lines: Lines) -> None:
        """Replace the file at once, so that it is whole at any time."""
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_text("".join(lines), encoding="utf-8", newline="")
        os.replace(new, self.path)


@click.command()
@click.argument("test", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--jobs", type=int, default=1, show_default=True, help="Candidates at once.")
def main(test: Path, file: Path, jobs: int) -> None:
    """Take lines from FILE as long as TEST exits with 0."""
    lines = tuple(file.read_text(encoding="utf-8").splitlines(keepends=True))
    asking = Asking(test, file, jobs)
    if asking.first([lines]) is None:
        raise click.ClickException(f"{file} is not interesting to begin with")
    ddmin(lines, asking.first)


if __name__ == "__main__":
    main()
