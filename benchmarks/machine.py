"""Where a measurement was made."""

from __future__ import annotations

import dataclasses
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Self

import psutil

_VERSIONS = (
    "import importlib.metadata as m, platform as p; print(p.python_version(), m.version('jax'), m.version('jaxlib'))"
)


@dataclasses.dataclass(frozen=True)
class Machine:
    """The hardware, the Python that runs the tools, and what the programs run with: their Python, JAX and jaxlib."""

    cpu: str
    cores: int
    gibibytes: int
    system: str
    tools_python: str
    python: str
    jax: str
    jaxlib: str

    @classmethod
    def here(cls, interpreter: str) -> Self:
        """This machine, with that interpreter for the programs. Raises CalledProcessError where it has no JAX."""
        told = subprocess.run([interpreter, "-c", _VERSIONS], stdout=subprocess.PIPE, text=True, check=True).stdout
        python, jax, jaxlib = told.split()
        memory = round(psutil.virtual_memory().total / 2**30)
        system = f"{platform.system()} {platform.release().partition('-')[0]}"
        cores = len(os.sched_getaffinity(0))
        return cls(_cpu(), cores, memory, system, platform.python_version(), python, jax, jaxlib)

    def __str__(self) -> str:
        hardware = f"{self.cpu}, {self.cores} cores, {self.gibibytes} GiB, {self.system}"
        return f"{hardware}; programs: Python {self.python}, jax {self.jax}; tools: Python {self.tools_python}"


def _cpu() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else platform.machine()
