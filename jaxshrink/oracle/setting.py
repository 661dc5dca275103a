"""What is the same for all runs of a job."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

DEFAULT_TIMEOUT = 60.0
ABSTRACT_TIMEOUT = 10.0  # a loop on values may turn endless with plain ones


@dataclasses.dataclass(frozen=True)
class Setting:
    """How candidates run: the target interpreter, its environment, the folder around it, the limits.

    `timeout` is in seconds of CPU time, `memory` in bytes.
    """

    python: str
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)  # added to the inherited environment
    argv: tuple[str, ...] = ()  # sys.argv[1:]
    folder: Path | None = None  # its files are linked into each working directory
    imports: tuple[str, ...] = ()  # imported once, in the zygote, if that starts no backend and no thread
    jobs: int = 2
    memory: int | None = None
    timeout: float | None = None
    cache: bool = True  # warm runs share compiled code
    shared: bool = False  # warm runs may follow one another in one process, and what they print is not kept
    finish: bool = False  # warm runs end as the interpreter does
    compiles: bool = False  # outcomes tell of compilations
    out: Path | None = None  # cold runs may write there, besides their own folders

    def time_limit(self, abstract: bool) -> float:
        """The time limit of a run for which none is given."""
        timeout = DEFAULT_TIMEOUT if self.timeout is None else self.timeout
        return min(timeout, ABSTRACT_TIMEOUT) if abstract else timeout

    def memory_limit(self) -> int:
        """The memory limit: without one, four fifths of the machine for all jobs together."""
        if self.memory is not None:
            return self.memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 4 // (5 * self.jobs)

    def environment(self) -> dict[str, str]:
        """The environment of every run."""
        return {
            "TF_CPP_MIN_LOG_LEVEL": "1",
            **os.environ,
            "JAX_TRACEBACK_FILTERING": "off",  # filtering takes JAX's own frames away, and with them the raise site
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONFAULTHANDLER": "1",
            **self.env,
        }
