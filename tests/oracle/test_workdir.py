"""The folder in which a candidate finds the user's data files."""

from pathlib import Path

import pytest

from jaxshrink.inside import workdir


def test_files_are_linked_and_folders_are_real(tmp_path: Path) -> None:
    source = tmp_path / "project"
    (source / "data" / "deep").mkdir(parents=True)
    (source / "data" / "deep" / "a.npz").write_bytes(b"a")
    for name in ("repro.py", "helper.py", ".git", "__pycache__"):
        (source / name).write_text("old")
    path = Path(workdir.make(str(tmp_path / "run"), "new", str(source), workdir.layout(source)))
    assert path.read_text() == "new"
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["data", "helper.py", "repro.py"]
    assert (path.parent / "data" / "deep" / "a.npz").is_symlink()
    assert not (path.parent / "data").is_symlink()


def test_without_protection_files_are_copied(tmp_path: Path) -> None:
    source = tmp_path / "project"
    source.mkdir()
    (source / "a.txt").write_text("user's")
    path = Path(workdir.make(str(tmp_path / "run"), "", str(source), workdir.layout(source), link=False))
    (path.parent / "a.txt").write_text("candidate's")
    assert (source / "a.txt").read_text() == "user's"


@pytest.mark.parametrize(("files", "size", "small"), [(0, 0, True), (3, 9, True), (40, 0, False), (3, 1 << 20, False)])
def test_only_little_is_copied_for_each_run(tmp_path: Path, files: int, size: int, small: bool) -> None:
    for number in range(files):
        (tmp_path / f"{number}.txt").write_bytes(bytes(size))
    assert workdir.is_small(tmp_path, workdir.layout(tmp_path)) == small


def test_a_folder_with_very_many_files_is_linked_as_one(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / "images" / f"{number:03}").mkdir(parents=True)
    folders, links = workdir.layout(tmp_path)
    assert "images" in folders
    assert len(links) >= 800
    assert len(folders) <= 200


@pytest.mark.parametrize("text", ["x = 'é'\r\n", "\ufeffx = 1\n", "# coding: latin-1\nx = '\udce9'\n"])
def test_a_program_is_written_byte_for_byte(tmp_path: Path, text: str) -> None:
    path = Path(workdir.make(str(tmp_path / "run"), text))
    assert path.read_bytes() == text.encode(errors="surrogateescape")
