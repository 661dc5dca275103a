"""Reading the user's program, and the scratch copy of its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxshrink.errors import InputError
from jaxshrink.inputs import decode, read
from jaxshrink.mirror import mirrored
from jaxshrink.tokens import count_bytes, count_lines, count_tokens


@pytest.mark.parametrize(
    "data",
    [
        "a = 'ä'\nb = 1\n".encode(),
        b"\xef\xbb\xbf" + "a = 'ä'\nb = 1\n".encode(),
        "# -*- coding: latin-1 -*-\na = 'ä'\nb = 1\n".encode("latin-1"),
        "a = 'ä'\r\nb = 1\r\n".encode(),
        "a = 'ä'\rb = 1\r".encode(),
        "#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\na = 'ä'\nb = 1".encode("cp1252"),
    ],
    ids=["utf-8", "mark", "coding line", "CRLF", "CR", "cp1252"],
)
def test_decoded_as_python_does(data: bytes) -> None:
    names: dict[str, object] = {}
    exec(decode(data), names)
    assert (names["a"], names["b"]) == ("ä", 1)
    assert "\r" not in decode(data)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "is empty"),
        (b"# nothing\n\n", "is empty"),
        (b"x = 1\ny = (\n", r"syntax error: line 2: .*\n    y = \(\n        \^"),
        (b"\tx = 1\n", "syntax error: line 1: unexpected indent"),
        (b"return 1\n", r"syntax error: line 1: 'return' outside function\n    return 1\n    \^"),
        (b"\x7fELF\0\0\1", "is a binary file"),
        (b"x = 1\ny = '\xff'\n", "line 2 holds the byte 0xff, which is no utf-8"),
        (b"# coding: nonsense\nx = 1\n", "is not a Python program: unknown encoding: nonsense"),
        (b"x = " + b"-" * 100_000 + b"1", "repro.py"),
    ],
)
def test_no_program(data: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "repro.py"
    path.write_bytes(data)
    with pytest.raises(InputError, match=complaint):
        read(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read(tmp_path / "missing.py")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)


def test_syntax_that_only_the_target_knows(tmp_path: Path) -> None:
    path = tmp_path / "repro.py"
    path.write_text("from the future import x\n")
    target = tmp_path / "python"
    target.write_text("#!/bin/sh\nexit 0\n")
    target.chmod(0o755)
    with pytest.raises(InputError, match=r"uses syntax that .*/python knows .* does not: install jaxshrink under"):
        read(path, target)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_py", ".py").replace("init", "__init__")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(path: Path) -> dict[str, bool]:
    return {source.module: source.package for source in read(path).sources}


def test_local_modules_are_found_through_imports(tmp_path: Path) -> None:
    write(
        tmp_path,
        repro_py="import helpers, os, numpy\nfrom imaging import blur\nimport plain.inner.deep as deep\n",
        helpers_py="from unread import *\nimport json",
        unread_py="x = 1",
        imaging__init_py="from .config import SIZE\nfrom . import metrics",
        imaging__blur_py="from ..helpers import x\nfrom .lenses.wide import *",
        imaging__config_py="SIZE = 3",
        imaging__metrics_py="import imaging.config",
        imaging__lenses__init_py="",
        imaging__lenses__wide_py="from ... import helpers\nfrom ..missing import y",
        imaging__other_py="never imported",
        plain__inner__deep_py="without any __init__",
        stray_py="",
    )
    assert names(tmp_path / "repro.py") == {
        "repro": False,
        "helpers": False,
        "unread": False,
        "imaging": True,
        "imaging.blur": False,
        "imaging.config": False,
        "imaging.metrics": False,
        "imaging.lenses": True,
        "imaging.lenses.wide": False,
    }


def test_modules_that_cannot_be_parsed_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, repro_py="try:\n    import legacy\nexcept SyntaxError: pass\nimport repro", legacy_py="print 'x'")
    assert names(tmp_path / "repro.py") == {"repro": False}


def test_size_is_summed_over_files(tmp_path: Path) -> None:
    write(tmp_path, repro_py="import helpers\n# é\n", helpers_py="x = f'{1 + 2}'\n\n")
    size = read(tmp_path / "repro.py").size
    assert (size.tokens, size.lines, size.bytes) == (2 + 3, 2, 20 + 16)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("# comment\n\n", 0),
        ("def f(x):\n    return x @ x.T\n", 12),
        ("f'{a!r:>{width}} {b + 1}' 'c'\n", 2),
        ('"""doc"""\nx: int = 1_000\n', 6),
    ],
)
def test_tokens_are_the_same_on_each_python(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_lines_and_bytes() -> None:
    assert count_lines("# a\n\nx = 1  # b\n   \ny = 'é'") == 2
    assert count_bytes("é\n") == 3


def test_mirror_is_a_copy_that_may_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    for name in ("repro.py", "data/x.txt", ".git/config", "__pycache__/y.pyc", "env/pyvenv.cfg", ".settings"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("as it was")
    (folder / "link.txt").symlink_to("data/x.txt")
    (folder / "broken").symlink_to("nowhere")
    monkeypatch.setattr("tempfile.tempdir", str(folder))  # the copy lies in the folder itself
    with mirrored(folder) as copy:
        assert copy.name == "project"
        assert sorted(str(path.relative_to(copy)) for path in copy.rglob("*")) == [
            ".settings", "data", "data/x.txt", "link.txt", "repro.py"
        ]  # fmt: skip
        for path in copy.rglob("*.*"):
            path.write_text("changed")
    assert not copy.exists()
    assert all(path.read_text() == "as it was" for path in folder.rglob("*") if path.is_file())


def test_mirror_links_what_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jaxshrink.mirror.MOST_BYTES", 20)
    monkeypatch.setattr("jaxshrink.mirror.MOST_ENTRIES", 4)
    folder = tmp_path / "project"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "deep" / "deeper" / "far.txt").write_text("far")
    (folder / "a.txt").write_text("small")
    (folder / "b.bin").write_text("large" * 10)
    with mirrored(folder) as copy:
        assert not (copy / "a.txt").is_symlink()
        assert (copy / "b.bin").is_symlink()
        assert (copy / "b.bin").read_text() == "large" * 10
        assert (copy / "deep" / "deeper").is_symlink()
        assert (copy / "deep" / "deeper" / "far.txt").read_text() == "far"
