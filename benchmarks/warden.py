"""Runs one command under a budget and tells what it and everything that it started has cost.

    warden.py BUDGET GRACE REPORT.json COMMAND...

All descendants stay below this process: it is their subreaper, so what is orphaned becomes its child, and the kernel
adds up the CPU seconds of all that have been waited for, however short they lived. Memory is sampled: the sum of the
proportional set sizes (PSS) of all processes, in which a page that n processes share counts 1/n in each, so that
forks are not counted as copies. After BUDGET seconds the command gets SIGINT, after GRACE more all is killed. Nothing
is left running: not if the command leaves processes behind, and not if whoever started this is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

INTERVAL = 0.25
"""Seconds between two looks at the memory."""

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main(budget: float, grace: float, report: str, command: list[str]) -> None:
    """Run the command and write the report."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell lets its background jobs ignore it, and that is inherited
    start = time.monotonic()
    try:
        process = subprocess.Popen(command, start_new_session=True)
        peak = watch(process, start + budget)
        if cut := process.poll() is None:
            process.send_signal(signal.SIGINT)
            peak = max(peak, watch(process, start + budget + grace))
        seconds, code = time.monotonic() - start, process.poll()
    finally:
        kill_all()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = {
        "start": start, "seconds": seconds, "code": code, "cut": cut,
        "cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": peak,
    }  # fmt: skip
    Path(report).write_text(json.dumps(told), encoding="utf-8")


def watch(process: subprocess.Popen[bytes], until: float) -> int:
    """Wait for the end of the process, or for that moment. Returns the most memory that was taken."""
    peak = 0
    while process.poll() is None and (left := until - time.monotonic()) > 0:
        peak = max(peak, memory())
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(left, INTERVAL))
    return peak


def memory() -> int:
    """Bytes of memory that all descendants take together."""
    return sum(map(_proportional, psutil.Process().children(recursive=True)))


def _proportional(process: psutil.Process) -> int:
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as file:
            kibibytes = next(line.split()[1] for line in file if line.startswith("Pss:"))
        return int(kibibytes) << 10
    except (OSError, StopIteration):  # gone, a zombie, or not ours to look at
        with contextlib.suppress(psutil.Error):
            return int(process.memory_info().rss)
        return 0


def kill_all() -> None:
    """End all descendants, also those that are started meanwhile, and wait for them."""
    this = psutil.Process()
    while alive := this.children(recursive=True):
        for process in alive:
            with contextlib.suppress(psutil.Error):
                process.kill()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


if __name__ == "__main__":
    main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4:])
