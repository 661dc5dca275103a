"""What the tests of the command and of the API share."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FAILING = "import jax.numpy as jnp\n\nwidth = 3\njnp.dot(jnp.ones(width), jnp.ones(4))\n"


# A shell lets what it starts in the background ignore Ctrl-C, and that is inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest first, so that all workers are busy until the end."""
    items.sort(key=lambda item: item.get_closest_marker("corpus") is None)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own; the user's stays as it is."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def repro(tmp_path: Path) -> Path:
    """A program that fails."""
    path = tmp_path / "repro.py"
    path.write_text(FAILING)
    return path


class Command:
    """`jaxshrink` as a user calls it, in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "jaxshrink", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        options = {"stdin": subprocess.DEVNULL, "timeout": 120, "env": environment, "cwd": self.folder, **options}
        return subprocess.run(command, capture_output=True, text=True, **options)

    def report(self, *arguments: str | Path, **options: Any) -> tuple[int, dict[str, Any]]:
        """The exit code and what `--json` prints; nothing else may be on stdout."""
        done = self("--json", *arguments, **options)
        report: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, report


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)
