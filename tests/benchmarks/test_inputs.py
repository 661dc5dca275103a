"""What is reduced: which of the given programs, and what the tools get of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.inputs import Input, inputs


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    metas = {
        "001_plain": 'kind = "exception"\nexception = "TypeError"\nmessage = "no"\nargs = ["1"]\nsite = "any"',
        "002_crash": 'kind = "crash"\nreturncode = -11',
        "003_entry": 'exception = "ValueError"\nmessage = ""\nentry = "main.py"\n[env]\nSIZE = 3',
        "004_chance": 'exception = "ValueError"\nmessage = ""\ntries = 4',
        "005_notebook": 'exception = "ValueError"\nmessage = ""\nentry = "repro.ipynb"',
    }
    for name, meta in metas.items():
        folder = tmp_path / "cases" / name
        folder.mkdir(parents=True)
        (folder / "meta.toml").write_text(f'title = "a title"\n{meta}\n')
        (folder / "min.py").write_text("the answer")
        (folder / "repro.py").write_text("the program")
    return tmp_path / "cases"


def test_exceptions_of_programs_in_each_run(cases: Path) -> None:
    assert inputs(cases, ["cases/"]) == [
        Input("cases/001_plain", "TypeError", "no", folder=cases / "001_plain", args=("1",), any_site=True),
        Input("cases/003_entry", "ValueError", "", entry="main.py", folder=cases / "003_entry", env={"SIZE": "3"}),
    ]


def test_the_corpus() -> None:
    found = inputs(None, ["corpus/"])
    assert len(found) > 10
    assert all(each.folder and (each.folder / each.entry).exists() for each in found)


def test_a_copy_does_not_tell_the_answer(cases: Path, tmp_path: Path) -> None:
    (cases / "001_plain" / "repro.py").chmod(0o444)
    (given,) = inputs(cases, ["001_plain"])
    given.copy_to(tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["repro.py"]
    (tmp_path / "copy" / "repro.py").write_text("it can be written")


def test_a_program_without_a_folder(tmp_path: Path) -> None:
    Input("generated/1", "TypeError", "", text="a = 1").copy_to(tmp_path / "copy")
    assert (tmp_path / "copy" / "repro.py").read_text() == "a = 1"
