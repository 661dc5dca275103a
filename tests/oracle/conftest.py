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
    with Runner(setting(folder)) as runner:
        yield runner


@pytest.fixture(scope="session")
def sharing(folder: Path) -> Iterator[Runner]:
    """Whose warm runs follow one another in one process."""
    with Runner(setting(folder, shared=True)) as runner:
        yield runner


def setting(folder: Path, **other: bool) -> Setting:
    env, argv = {"COLOUR": "blue"}, ("--rate", "3")
    return Setting(sys.executable, env=env, argv=argv, folder=folder, memory=MEMORY, timeout=20.0, **other)
