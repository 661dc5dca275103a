"""One zygote for all tests: what a candidate does must not disturb the next."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxshrink.oracle import Runner, Setting

MEMORY = 1 << 30


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the user's program: a file beside it and one in a folder."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "data").mkdir()
    (folder / "data" / "sizes.txt").write_text("3 4")
    (folder / "notes.txt").write_text("as it was")
    return folder


@pytest.fixture(scope="session")
def runner(folder: Path) -> Iterator[Runner]:
    setting = Setting(
        sys.executable, env={"COLOUR": "blue"}, argv=("--rate", "3"), folder=folder, memory=MEMORY, timeout=20.0
    )
    with Runner(setting) as runner:
        yield runner
