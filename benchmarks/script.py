"""Gives the peers their interestingness script, and reads from its log what they did when."""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from pathlib import Path

from benchmarks import judge
from benchmarks.inputs import Input
from benchmarks.sizes import Point, improvements, text_of, tokens_of

_LARGEST = 64 << 20
"""Bytes that a candidate may write to a file, its output included: it may print for ever."""


@dataclasses.dataclass(frozen=True)
class Script:
    """An interestingness script at `path`, and the folder where it writes its log."""

    path: Path
    notes: Path

    @classmethod
    def write(cls, notes: Path, given: Input, beside: Path, python: str, timeout: float) -> Script:
        """Make the script, in the new folder `notes`.

        `beside` holds the program's files, `python` runs the candidates, each for `timeout` seconds at most.
        """
        for name in ("kept", "runs"):
            (notes / name).mkdir(parents=True)
        (notes / "log").touch()
        path, own = notes / "interesting", [sys.executable, "-IS", judge.__file__]
        failure = [given.entry, given.exception, given.message]
        command = [*own, *failure, str(beside), str(notes), str(timeout), python, *given.args]
        lines = [
            "#!/bin/sh",
            *(f"export {name}={shlex.quote(value)}" for name, value in given.env.items()),
            f"ulimit -f {_LARGEST // 512}",
            f"exec {shlex.join(command)}",
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.chmod(path, 0o755)
        return cls(path, notes)

    def runs(self) -> int:
        """How often it has been asked, and has answered."""
        return len((self.notes / "log").read_text(encoding="utf-8").splitlines())

    def smallest(self) -> str | None:
        """The smallest interesting program."""
        texts = (text_of(path) for path in sorted((self.notes / "kept").iterdir()))
        return min(texts, key=lambda text: (tokens_of(text), len(text)), default=None)

    def series(self, start: float) -> list[Point]:
        """The interesting programs that were smaller than all before; `start` is when the tool began, on the same
        clock."""
        kept = sorted((float(path.name.partition("-")[0]), path) for path in (self.notes / "kept").iterdir())
        return improvements(Point(ended - start, tokens_of(text_of(path))) for ended, path in kept)
