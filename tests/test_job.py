"""The whole job, on small programs of the forms and kinds that other tests do not have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jaxshrink import Result, shrink


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def code(result: Result) -> str:
    """The result without its header."""
    assert result.source is not None
    lines = result.source.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#")).strip()


def test_a_notebook(folder: Path) -> None:
    cells = ["%time\n!ls\nsizes = {'width': 3}", "print(sizes)", "def area(key): return sizes[key] * 2\narea('height')"]
    cells = [{"cell_type": "code", "source": cell} for cell in cells]
    (folder / "repro.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells}))
    result = shrink("repro.ipynb")
    assert result.path == Path("repro.min.py") and code(result) == '{}["height"]'


TESTS = """\
import unittest
import pytest

@pytest.fixture
def sizes():
    return {"width": 3}

@pytest.mark.parametrize("key", ["width", "height"])
def test_area(sizes, key):
    assert sizes[key] * 2

class AreaTest(unittest.TestCase):
    def setUp(self):
        self.sizes = {}

    def test_nothing(self):
        self.assertEqual(len(self.sizes), 0)

    def test_depth(self):
        self.assertTrue(self.sizes["depth"])

if __name__ == "__main__":
    unittest.main()
"""


@pytest.mark.parametrize(
    ("path", "key"),
    [("test_area.py::test_area[height]", "height"), ("test_area.py::test_area", "height"), ("test_area.py", "depth")],
)
def test_a_test_file(path: str, key: str, folder: Path) -> None:
    """Without a name, the one that fails when it is run as a script."""
    (folder / "test_area.py").write_text(TESTS)
    result = shrink(path)
    assert code(result) == f'{{}}["{key}"]'
    assert (folder / "test_area.py").read_text() == TESTS


def test_a_control_that_the_user_names(folder: Path) -> None:
    """Without it, all that computes the number would have to stay; with it, what makes the difference."""
    (folder / "repro.py").write_text(
        "import os\n\n\ndef total(numbers):\n    extra = len(os.environ.get('UNIT', 'metre'))\n"
        "    return sum(numbers) + extra\n\n\nnumbers = [3, 4]\nassert total(numbers) == 9, 'wrong'\n"
    )
    result = shrink("repro.py", passes_with={"UNIT": "cm"})
    assert result.source is not None and "# with UNIT=cm it does not fail" in result.source
    assert "os.environ" in code(result) and "total" not in code(result)


def test_by_chance(folder: Path) -> None:
    """Unseeded, it fails in half of its runs; the result always does."""
    (folder / "repro.py").write_text(
        "import random\n\nrng = random.Random()\nsizes = {0: 1}\nprint(sizes)\nprint(sizes[rng.randrange(2)])\n"
    )
    result = shrink("repro.py")
    assert (result.status, code(result)) == ("reduced", "{}[0]")
