"""The user's own test: a command that says of a candidate whether it is interesting.

The contract is that of C-Vise and Shrink Ray: the command runs in a folder that holds the candidate under the
program's name and nothing else, it gets the candidate's path as its last argument, and exit code 0 means interesting.
"""

from __future__ import annotations

import collections
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from jaxshrink.errors import UsageError
from jaxshrink.inside import limits
from jaxshrink.oracle.setting import Setting
from jaxshrink.outcome import End, Outcome, Tier
from jaxshrink.scratch import Scratch

_OUTPUT = 1 << 16
"""Bytes of stdout and of stderr that are kept: the last ones, which say how it ended."""

_LATE = 1.0
"""Seconds to wait for the rest of the output of a command that is over: a process that got away may hold the pipe."""

_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\$`])*"|\\.""", re.DOTALL)
_SHELL = re.compile(r"[|&;<>()$`*?\[~!{}#\n]|^\s*\w+=")


class Command:
    """Asks a command about candidates: a `Runner` all of whose runs are cold.

    `line` is the path of an executable, words as in a shell, or a line with other syntax of the shell, which `sh` runs
    with the candidate's path as `$1`. The candidate is a file called `name`. Of the setting, `env` is added to the
    user's environment, at most `jobs` commands run at once, and `timeout` is in seconds of wall time.
    Raises UsageError where there is no such command.
    """

    def __init__(self, line: str, name: str, setting: Setting):
        self.words, self.name, self.setting = words(line), name, setting
        self.counts: collections.Counter[Tier] = collections.Counter()
        self.nice = 0
        self.idle: float | None = None  # a command that waits may wait for anything: this is never looked at
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen[bytes]] = set()
        self.scratch = Scratch()
        self.pool = concurrent.futures.ThreadPoolExecutor(setting.jobs, "jaxshrink commands")

    def run(
        self, texts: Sequence[str], tier: Tier = Tier.COLD, timeout: float | None = None, *, sample: bool = False
    ) -> list[Outcome]:
        """Outcomes of the texts, in order, whatever the tier. What ran out of time beside others is run again alone.

        `sample` is for the sake of the `Runner`'s interface: of a command nothing is known but how it ends.
        """
        limit = self.setting.time_limit(abstract=False) if timeout is None else timeout
        outcomes = self._at_once(texts, limit)
        for index, outcome in enumerate(outcomes):
            if not sample and outcome.end is End.TIMEOUT and len(texts) > 1 < self.setting.jobs:
                outcomes[index] = self._at_once([texts[index]], limit)[0]
        return outcomes

    def warm_up(self) -> None:
        """There is nothing to start."""

    def close(self) -> None:
        """Nothing runs any more, and nothing will."""
        self.pool.shutdown()
        self.scratch.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _at_once(self, texts: Sequence[str], limit: float) -> list[Outcome]:
        futures = [self.pool.submit(self._outcome, text, limit) for text in texts]
        try:
            return [future.result() for future in futures]
        except BaseException:  # Ctrl-C: nobody waits for the others
            for future in futures:
                future.cancel()
            while concurrent.futures.wait(futures, timeout=0.05).not_done:
                self._kill_all()
            raise

    def _kill_all(self) -> None:
        with self.lock:
            for process in self.running:
                limits.kill(process.pid)

    def _outcome(self, text: str, limit: float) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.scratch.path, ignore_cleanup_errors=True) as folder:
            path = Path(folder, self.name)
            path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
            began = time.monotonic()
            process = self._started(path)
            output, errors = _Tail(process.stdout), _Tail(process.stderr)
            try:
                code: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            seconds = time.monotonic() - began
            with self.lock:
                self.running.discard(process)
            if code is None:
                limits.kill(process.pid)
                process.wait()
            limits.kill_group(process.pid)
            told: dict[str, Any] = {"stdout": output.text(), "stderr": errors.text(), "seconds": seconds}
            return Outcome(End.TIMEOUT, **told) if code is None else Outcome.of_status(code, **told)

    def _started(self, path: Path) -> subprocess.Popen[bytes]:
        folder = str(path.parent)
        with self.lock:
            try:
                process = subprocess.Popen(
                    [*self.words, str(path)],
                    cwd=folder, env={**os.environ, **self.setting.env, "PWD": folder}, start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                )  # fmt: skip
            except OSError as error:  # a script without `#!`, an interpreter that is not there
                raise UsageError(f"cannot run the test {self.words[0]}: {error.strerror}") from None
            self.running.add(process)
            self.counts[Tier.COLD] += 1
        return process


def accepts(outcome: Outcome) -> bool:
    """Whether the command has found the candidate interesting."""
    return outcome.end is End.EXIT and outcome.code == 0


def words(line: str) -> list[str]:
    """What to execute, the candidate's path aside. Raises UsageError where there is no such command.

    A path is taken from here: the command runs in another folder.
    """
    if os.path.isfile(line):
        return [_executable(line)]
    if _SHELL.search(_QUOTED.sub("", line)):
        return ["/bin/sh", "-c", line, "sh"]
    try:
        first, *rest = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"the test {line!r} is no command: {error}") from None
    return [_executable(first), *rest]


def _executable(name: str) -> str:
    """As C-Vise and Shrink Ray find it: a file here comes before one in the PATH."""
    path = os.path.abspath(name) if os.path.isfile(name) else shutil.which(name)
    if path is None:
        raise UsageError(f"there is no command {name!r}: give the path of a test that can be executed")
    if not os.access(path, os.X_OK):
        raise UsageError(f"the test {name} cannot be executed: chmod +x {name}")
    return path


class _Tail:
    """Reads a pipe to its end, so that the writer never waits, and keeps the last of it."""

    def __init__(self, pipe: IO[bytes] | None):
        assert pipe is not None
        self.pipe, self.kept = pipe, b""
        self.thread = threading.Thread(target=self._read, name="jaxshrink output", daemon=True)
        self.thread.start()

    def text(self) -> str:
        self.thread.join(_LATE)
        return self.kept.decode(errors="replace")

    def _read(self) -> None:
        with self.pipe:
            while data := os.read(self.pipe.fileno(), _OUTPUT):
                self.kept = (self.kept + data)[-_OUTPUT:]
