"""What native code leaves on stderr when it dies: the fatal line, and faulthandler's dump of the Python frames."""

from __future__ import annotations

import re

_FATAL = re.compile(
    r"^(F\d{4} .*|terminate called .*|FATAL: .*|.*Check failed: .*|LLVM ERROR: .*|.*: Assertion `.*|malloc\(\): .*|"
    r"double free.*|free\(\): .*|munmap_chunk\(\): .*|corrupted .*|.*stack smashing detected.*)$",
    re.MULTILINE,
)


def fatal_line(stderr: str) -> str:
    """The line in which native code says why it ends the process; empty where there is none."""
    found = _FATAL.search(stderr)
    return found[0].strip() if found else ""
