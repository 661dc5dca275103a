"""What the tests of the engine share: a process that runs their programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import battery


@pytest.fixture(scope="module")
def runner() -> Iterator[battery.Runner]:
    runner = battery.Runner()
    yield runner
    runner.close()
