"""Temporary folders, and what a job that was killed leaves of them."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from jaxshrink.scratch import Scratch, sweep

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary files of the test's own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_goes_with_its_context(temporary: Path) -> None:
    with Scratch() as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").touch()
    assert list(temporary.iterdir()) == []


def test_only_what_the_dead_have_left_is_swept_away(temporary: Path) -> None:
    (temporary / "jaxshrink-results").mkdir()  # not ours
    text = (
        "import time\nfrom jaxshrink.scratch import Scratch; s = Scratch(); print(s.path, flush=True); time.sleep(99)"
    )
    process = subprocess.Popen([sys.executable, "-c", text], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    theirs = Path(process.stdout.readline().strip())
    (theirs / "runs").mkdir()
    with Scratch() as ours:
        sweep()
        assert theirs.exists(), "it is in use"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        sweep()
        assert sorted(temporary.iterdir()) == sorted([ours, temporary / "jaxshrink-results"])
