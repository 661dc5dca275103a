"""The best program so far, on disk while a job runs: what remains of a job that was killed, for `--resume`.

It lies in the user's cache folder, one folder a job: `best.py`, whole at any time, and `state.json`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import platformdirs

from jaxshrink import __version__
from jaxshrink.options import Options

KEPT = 30 * 24 * 3600.0
"""Seconds for which an interrupted job can be resumed."""

_OF_THIS_CALL = frozenset({"path", "output", "also", "jobs", "timeout", "memory", "time_limit", "force", "resume"})
"""Options that a job may be resumed with other values of."""


def cache_folder() -> Path:
    """Where jaxshrink keeps what may be deleted at any time."""
    return platformdirs.user_cache_path("jaxshrink")


@dataclasses.dataclass(frozen=True)
class Entry:
    """What a journal holds: the smallest program known to fail in the same way, and what else was noted with it."""

    best: str
    state: Mapping[str, Any]


class Journal:
    """The journal of one job: of the same program with the same options.

    Its own troubles (a full disk, a folder that cannot be written) never end a job: then nothing is kept.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    @classmethod
    def of(cls, options: Options) -> Self:
        """The journal of a job. Raises OSError if the program cannot be read."""
        program = hashlib.sha256(options.path.read_bytes()).hexdigest()
        chosen = {name: value for name, value in vars(options).items() if name not in _OF_THIS_CALL}
        job = [__version__, program, str(options.path.absolute()), chosen]
        key = hashlib.sha256(json.dumps(job, sort_keys=True, default=str).encode()).hexdigest()
        return cls(cache_folder() / "journals" / key[:24])

    @property
    def best(self) -> Path | None:
        """The file with the best program, if there is one."""
        path = self.folder / "best.py"
        return path if path.exists() else None

    def save(self, best: str, state: Mapping[str, Any] | None = None) -> None:
        """Note a program that is the best so far, and with it what JSON can hold, or sets."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write("state.json", json.dumps(dict(state or {}), default=sorted))  # sets become lists
            self._write("best.py", best)

    def load(self) -> Entry | None:
        """What was noted last; None where there is nothing that can be used."""
        try:
            best = (self.folder / "best.py").read_text(encoding="utf-8")
            state = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return Entry(best, state)

    def remove(self) -> None:
        """Forget the job: it is done."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def forget_old() -> None:
        """Remove the journals of jobs that nobody has resumed for a month."""
        for folder in (cache_folder() / "journals").glob("*"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > KEPT:
                    shutil.rmtree(folder, ignore_errors=True)

    def _write(self, name: str, text: str) -> None:
        scratch = self.folder / f"{name}.{os.getpid()}.part"
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(self.folder / name)
