"""The interestingness test that the peers get: run Python, compare the exception's type and its message.

    judge.py ENTRY EXCEPTION MESSAGE BESIDE NOTES SECONDS PYTHON [ARGUMENTS...]

runs in a folder that holds the candidate as ENTRY, as C-Vise, Shrink Ray and pysource-minimize do it, and exits with 0
if the candidate, with its arguments, fails with that type and a message in which that regular expression is found.
It runs for so many seconds at most, in a fresh folder with links to the files that lie in the folder BESIDE.
Each call is a line of NOTES/log: when it ended (`time.monotonic()`, which all processes share), and 1 or 0 for
interesting or not; interesting candidates are kept in NOTES/kept under that time. Fresh folders are left in NOTES/runs.

It runs at every candidate, also at those that fail after a few hundredths of a second. So it imports next to nothing:
it is meant for an interpreter without `site`, and costs little more than a line of shell.
"""

from __future__ import annotations

import os
import sys
import time

INTERESTING = "interesting"
"""What is printed of an interesting candidate, for tools that look at the output and not at the exit code."""


def main(entry: str, exception: str, message: str, beside: str, notes: str, *command: str) -> int:
    """Judge the candidate in this folder. Returns the exit code."""
    with open(entry, "rb") as file:
        candidate = file.read()
    stderr = run(candidate, entry, beside, f"{notes}/runs/{time.monotonic():.6f}-{os.getpid()}", command)
    verdict = fails_alike(stderr, exception, message)
    record(candidate, verdict, notes)
    print(INTERESTING if verdict else "not")
    return 0 if verdict else 1


def run(candidate: bytes, entry: str, beside: str, folder: str, command: tuple[str, ...]) -> str:
    """What the candidate writes to stderr, in a new folder."""
    os.mkdir(folder)
    for name in os.listdir(beside):
        if name != entry:
            os.symlink(f"{beside}/{name}", f"{folder}/{name}")
    program, errors = f"{folder}/{entry}", f"{folder}.stderr"
    with open(program, "wb") as file:
        file.write(candidate)
    seconds, python, *arguments = command
    os.chdir(folder)
    started = os.posix_spawnp(
        "timeout", ["timeout", "--foreground", "--signal=KILL", seconds, python, entry, *arguments], os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            # a pipe would be held open by processes that got away
            (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY | os.O_CREAT, 0o600),
        ],
    )  # fmt: skip
    os.waitpid(started, 0)
    with open(errors, encoding="utf-8", errors="replace") as file:
        stderr = file.read()
    os.unlink(errors)
    if os.path.exists(program):
        os.unlink(program)
    return stderr


def fails_alike(stderr: str, exception: str, message: str) -> bool:
    """Whether the last traceback in `stderr` ends with this type of exception and a message that matches."""
    _, traceback, last = stderr.rpartition("Traceback (most recent call last):\n")
    lines = last.splitlines(keepends=True) if traceback else []
    ends = next((index for index, line in enumerate(lines) if not line[0].isspace()), None)  # frames are indented
    if ends is None:
        return False
    type_, _, told = "".join(lines[ends:]).partition(":")
    if type_.rstrip() != exception:
        return False
    import re  # takes longer than all the rest, and most candidates are gone by now

    return re.search(message, told, re.DOTALL) is not None


def record(candidate: bytes, verdict: bool, notes: str) -> None:
    """Append to the log, and keep what is interesting."""
    ended = f"{time.monotonic():.6f}"
    if verdict:
        with open(f"{notes}/kept/{ended}-{os.getpid()}", "wb") as file:
            file.write(candidate)
    log = os.open(f"{notes}/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{ended} {verdict:d}\n".encode())
    os.close(log)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
