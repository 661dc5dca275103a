"""The interestingness test that the peers get: run Python, compare the exception's type and its message.

    judge.py TASK.json

runs in a folder that holds the candidate under the program's name, as C-Vise, Shrink Ray and pysource-minimize do it,
and exits with 0 if the candidate fails in the way that the task says. The candidate runs in a fresh folder, with links
to the files that lie beside the program. Each call is a line of the log: when it ended (`time.monotonic()`, which all
processes share), and 1 or 0 for interesting or not; interesting candidates are kept under that time.

It runs at every candidate, so it needs little: the standard library, in an interpreter without `site`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

INTERESTING = "interesting"
"""What is printed of an interesting candidate, for tools that look at the output and not at the exit code."""

_LARGEST = 64 << 20
"""Bytes that a candidate may write to a file, its output included: it may print for ever."""


def main(path: str) -> int:
    """Judge the candidate in this folder. Returns the exit code."""
    with open(path, encoding="utf-8") as file:
        task: dict[str, Any] = json.load(file)
    with open(task["entry"], "rb") as file:
        candidate = file.read()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        verdict = fails_alike(run(candidate, folder, task), task["exception"], task["message"])
    record(candidate, verdict, task)
    print(INTERESTING if verdict else "not")
    return 0 if verdict else 1


def run(candidate: bytes, folder: str, task: dict[str, Any]) -> str:
    """What the candidate writes to stderr; nothing where it takes too long. `folder` is empty and becomes its own."""
    beside, errors = os.path.join(folder, "program"), os.path.join(folder, "stderr")
    os.mkdir(beside)
    for name in os.listdir(task["folder"]):
        if name != task["entry"]:
            os.symlink(os.path.join(task["folder"], name), os.path.join(beside, name))
    with open(os.path.join(beside, task["entry"]), "wb") as file:
        file.write(candidate)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST, _LARGEST))
    with open(errors, "wb") as stderr:  # a pipe would be held open by processes that got away
        try:
            subprocess.run(
                [task["python"], task["entry"], *task["args"]],
                cwd=beside, env={**os.environ, **task["env"]}, timeout=task["timeout"], check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ""
    with open(errors, encoding="utf-8", errors="replace") as file:
        return file.read()


def fails_alike(stderr: str, exception: str, message: str) -> bool:
    """Whether the last traceback in `stderr` ends with this type of exception and a message that matches."""
    _, traceback, last = stderr.rpartition("Traceback (most recent call last):\n")
    told = re.search(r"^\S.*\Z", last, re.MULTILINE | re.DOTALL)  # frames are indented
    if not traceback or not told:
        return False
    type_, _, rest = told[0].partition(":")
    return type_.rstrip() == exception and re.search(message, rest, re.DOTALL) is not None


def record(candidate: bytes, verdict: bool, task: dict[str, Any]) -> None:
    """Append to the log, and keep what is interesting."""
    ended = f"{time.monotonic():.6f}"
    if verdict:
        with open(os.path.join(task["kept"], f"{ended}-{os.getpid()}"), "wb") as file:
            file.write(candidate)
    log = os.open(task["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{ended} {verdict:d}\n".encode())
    os.close(log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
