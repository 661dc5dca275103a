"""What a process and its descendants use, and their end. Linux tells; elsewhere only the wall clock counts."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

_PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """CPU time that a process, all its threads included, has used; 0.0 once it is gone."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # how clock_getcpuclockid(3) makes a clock of a process
    except (OSError, OverflowError):
        return 0.0


def children(pid: int) -> list[int]:
    """The processes that a process has forked, or inherited as a reaper."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    except OSError:
        pass  # gone meanwhile, or not Linux
    return found


def descendants(pid: int) -> list[int]:
    """A process and all that it has started, as far as the chain of parents tells."""
    found = [pid]
    for process in found:
        found += children(process)
    return found


def has_work(pid: int) -> bool:
    """Whether a process or a descendant wants to run, or waits for a disk: not all of its threads sleep."""
    return any(_runnable(thread) for process in descendants(pid) for thread in _threads(process))


def exceeds_memory(pid: int, limit: int) -> bool:
    """Whether a process and its descendants hold more than `limit` bytes.

    Resident sets count shared pages in each process: cheap to read, and too much for a family of
    forks. Only where their sum is above the limit are the exact shares asked for.
    """
    family = descendants(pid)
    return sum(map(_resident, family)) > limit and sum(map(_proportional, family)) > limit


def session(pid: int) -> int:
    """The session of a process; 0 once it is gone."""
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


def kill(pid: int) -> None:
    """End a process, its descendants, and its process group."""
    for process in descendants(pid):
        _signal(os.kill, process)
    kill_group(pid)


def kill_group(pid: int) -> None:
    """End the process group of a process that may have ended already."""
    _signal(os.killpg, pid)


def ask_for_stack(pid: int) -> None:
    """Have a process write the stacks of its threads to stderr, and die: faulthandler does so when it is to abort."""
    _signal(os.kill, pid, signal.SIGABRT)


def _threads(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/task/{thread}/stat" for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []  # gone meanwhile, or not Linux


def _runnable(stat: str) -> bool:
    try:
        with open(stat) as file:
            return file.read().rpartition(")")[2].split()[0] in "RD"
    except OSError:
        return False


def _signal(send: Callable[[int, int], None], pid: int, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone meanwhile
        send(pid, number)


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0


def _proportional(pid: int) -> int:
    """Bytes held, a page shared by n processes counted as 1/n of a page."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass  # gone, or a kernel without it
    return _resident(pid)
