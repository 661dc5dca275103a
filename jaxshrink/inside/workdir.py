"""Where a candidate runs: a folder with its program and data files, a home, and a place for temporary files."""

import os
import shutil
import sys

WORK = "work"
PROGRAM = "repro.py"
_MOST_LINKS = 200
_HIDDEN = ("__pycache__",)
_MOST_COPIED = 32
_MOST_BYTES = 1 << 20


def layout(source):
    """What a folder holds: (folders, files) relative to it, to be made real and linked.

    Breadth first, and not more than a few hundred: what lies deeper than that counts as a
    "file" and will be linked with all that it holds.
    """
    folders, files = [], []
    waiting = [""]
    while waiting:
        folder = waiting.pop(0)
        entries = sorted(os.scandir(os.path.join(source, folder)), key=lambda entry: entry.name)
        entries = [entry for entry in entries if not entry.name.startswith(".") and entry.name not in _HIDDEN]
        for entry in entries:
            path = os.path.join(folder, entry.name)
            if entry.is_dir(follow_symlinks=False) and len(folders) + len(files) + len(waiting) < _MOST_LINKS:
                folders.append(path)
                waiting.append(path)
            elif path != PROGRAM:
                files.append(path)
    return folders, files


def is_small(source, contents):
    """Whether the files are few and small enough to be copied for each run, where nothing else protects them."""
    _, files = contents
    paths = [os.path.join(source, file) for file in files]
    return len(files) <= _MOST_COPIED and not any(map(os.path.isdir, paths)) and _size(paths) <= _MOST_BYTES


def _size(paths):
    return sum(os.path.getsize(path) for path in paths if os.path.exists(path))


def make(root, text, source=None, contents=((), ()), link=True):
    """Make `root` with the program's text and what `layout` found in `source`; the path of the program."""
    work = os.path.join(root, WORK)
    for folder in (root, work, os.path.join(root, "home"), os.path.join(root, "tmp")):
        os.mkdir(folder)
    folders, files = contents
    for folder in folders:
        os.mkdir(os.path.join(work, folder))
    for file in files:
        (os.symlink if link else _copy)(os.path.join(source, file), os.path.join(work, file))
    path = os.path.join(work, PROGRAM)
    write(path, text)
    return path


def write(path, text):
    """Write a program, byte for byte."""
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)


def enter(root):
    """Make this process live there."""
    work = os.path.join(root, WORK)
    os.chdir(work)
    os.environ.update(HOME=os.path.join(root, "home"), TMPDIR=os.path.join(root, "tmp"), PWD=work)
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # it remembers the old place
    sys.path[0] = work


def observation(root):
    """Where a watched run leaves what was seen."""
    return os.path.join(root, "observation.json")


def remove(root):
    """Remove the folder; what a dying process still writes there stays until its parent folder goes."""
    shutil.rmtree(root, ignore_errors=True)


def _copy(source, target):
    if os.path.isdir(source):
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)
