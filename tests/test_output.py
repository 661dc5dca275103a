"""The file that the result goes to."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from jaxshrink.errors import OutputError
from jaxshrink.failure import Failure
from jaxshrink.output import Output, header, is_ours
from jaxshrink.result import Result, Size

OURS = "# KeyError: 'x'\n# reduced by jaxshrink from 80 to 5 tokens (Python 3.12.1)\n{}['x']\n"


def result(type: str, message: str) -> Result:
    return Result(
        "reduced",
        "reduced",
        source="{}['x']\n",
        input_size=Size(80, 9, 300),
        failure=Failure("exception", type, message, "user"),
        python="3.12.1",
        jax="0.10.2",
        jaxlib="0.10.1",
    )


def test_header_says_what_fails_with_what_and_how_much_was_cut() -> None:
    assert header(result("KeyError", "'x'\nand more")) == (
        "# KeyError: 'x'\n"
        "# reduced by jaxshrink from 80 to 5 tokens (Python 3.12.1, jax 0.10.2, jaxlib 0.10.1)\n"
    )


@pytest.mark.parametrize(
    "message",
    ["", "x" * 500, "unknown encoding: nonsense", "a\tb\x0c\x00\x85\udcff", "\n\n", "-*- coding: utf-7 -*-", "ä\r\nb"],
)
def test_header_is_comment_whatever_the_message(message: str, tmp_path: Path) -> None:
    text = header(result("ValueError", message)) + "value = 'ä'\n"
    assert len(text.splitlines()) <= 4
    assert all(len(line) <= 100 for line in text.splitlines())
    path = tmp_path / "out.py"
    path.write_text(text, encoding="utf-8")
    names: dict[str, str] = {}
    exec(compile(path.read_bytes(), "out.py", "exec"), names)
    assert names["value"] == "ä"
    assert is_ours(path)


def test_only_a_header_makes_a_file_ours(tmp_path: Path) -> None:
    path = tmp_path / "notes.py"
    path.write_text("a = 1\nb = 2\nc = 3\n" + OURS)
    assert not is_ours(path)
    path.write_text("# see what jaxshrink makes of it\n")
    assert not is_ours(path)
    path.write_bytes(b"\xff\xfe\x00")
    assert not is_ours(path)
    path.write_text(OURS)
    assert is_ours(path)


def test_written_whole_with_the_users_mode_and_nothing_left_over(repro: Path) -> None:
    path = repro.with_name("out.py")
    previous = os.umask(0o027)
    try:
        Output(path, repro).write(OURS)
    finally:
        os.umask(previous)
    assert path.read_text() == OURS
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in path.parent.iterdir()) == ["out.py", "repro.py"]


def test_our_own_file_is_replaced_and_anothers_only_with_force(repro: Path) -> None:
    path = repro.with_name("out.py")
    path.write_text(OURS)
    Output(path, repro).write("new")
    assert path.read_text() == "new"
    with pytest.raises(OutputError, match=r"exists and was not written by jaxshrink.*--force"):
        Output(path, repro)
    Output(path, repro, force=True).write(OURS)
    assert path.read_text() == OURS


def test_a_file_that_appears_while_the_job_runs_is_kept(repro: Path) -> None:
    path = repro.with_name("out.py")
    output = Output(path, repro)
    path.write_text("precious")
    with pytest.raises(OutputError, match="not written by jaxshrink"):
        output.write(OURS)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to], ids=["symlink", "hard link"])
def test_the_program_is_never_replaced(repro: Path, make: object) -> None:
    with pytest.raises(OutputError, match="the program itself"):
        Output(repro, repro, force=True)
    link = repro.with_name("out.py")
    make(link, repro)  # type: ignore[operator]
    with pytest.raises(OutputError, match="the program itself"):
        Output(link, repro, force=True)


def test_through_a_link_its_target_is_written(repro: Path) -> None:
    target, link = repro.with_name("real.py"), repro.with_name("link.py")
    link.symlink_to(target)
    Output(link, repro).write(OURS)
    assert link.is_symlink()
    assert target.read_text() == OURS


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        (".", "is a folder"),
        ("missing/out.py", "there is no folder missing"),
        ("/dev/null", "not a regular file"),
        ("/proc/out.py", "cannot write /proc/out.py"),
        ("repro.py/out.py", "there is no folder repro.py"),
    ],
)
def test_unfit_places(path: str, complaint: str, repro: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repro.parent)
    with pytest.raises(OutputError, match=complaint):
        Output(Path(path), repro)


def test_full_disk(repro: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    output = Output(repro.with_name("out.py"), repro)
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match=r"no space left on the disk for .*out\.py"):
        output.write(OURS)
    assert [each.name for each in repro.parent.iterdir()] == ["repro.py"]
