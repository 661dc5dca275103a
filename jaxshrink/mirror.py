"""A scratch copy of the program's folder: the program may write there, and nothing of the user's is touched."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from jaxshrink.scratch import Scratch

MOST_ENTRIES = 1000
MOST_BYTES = 64 << 20

_SKIPPED = frozenset({"__pycache__", "node_modules"})


@contextlib.contextmanager
def mirrored(folder: Path) -> Iterator[Path]:
    """The copy, while the context lasts.

    Left out are hidden folders, virtual environments and caches. In a folder too large to copy, what lies
    nearest to its top is copied; the rest is there as links, so that it can be read.
    """
    with Scratch() as scratch:
        copy = scratch / (folder.name or "root")
        _copy(folder, copy, without=scratch)
        yield copy


def _copy(folder: Path, copy: Path, without: Path) -> None:
    """Breadth first, so that the bounds cut off what is farthest away. `without`: the copy may lie in the folder."""
    entries = size = 0
    waiting = [(folder, copy)]
    while waiting:
        here, there = waiting.pop(0)
        there.mkdir()
        for entry in _entries(here):
            if entry.name == without.name and without.samefile(entry.path):
                continue
            target = there / entry.name
            entries += 1
            if entry.is_dir() and not entry.is_symlink() and entries < MOST_ENTRIES:
                waiting.append((Path(entry.path), target))
            elif entry.is_file() and entries < MOST_ENTRIES and size + entry.stat().st_size <= MOST_BYTES:
                size += entry.stat().st_size
                shutil.copy2(entry.path, target)
            elif entry.is_dir() or entry.is_file():
                target.symlink_to(Path(entry.path).resolve())


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What of a folder belongs to the program and can be read, files first."""
    try:
        found = sorted(os.scandir(folder), key=lambda entry: (entry.is_dir(), entry.name))
    except PermissionError:
        return []
    return [entry for entry in found if os.access(entry.path, os.R_OK) and not (entry.is_dir() and _is_foreign(entry))]


def _is_foreign(folder: os.DirEntry[str]) -> bool:
    hidden = folder.name.startswith(".")
    return hidden or folder.name in _SKIPPED or Path(folder.path, "pyvenv.cfg").exists()
