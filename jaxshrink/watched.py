"""The process of a first run as it looks from outside: what it prints, when it has to go, how it ends."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from jaxshrink.inside import limits
from jaxshrink.inside.output import Output
from jaxshrink.outcome import End, Outcome

_TICK = 0.05
_ANSWER = 10.0
"""Seconds in which a process may tell of itself when it is asked, at least."""
_LAST_WORDS = 0.5
"""Seconds in which a process that is to abort may tell where it stands."""
_FAR_TOO_MUCH = 1.5
"""With so much more memory than it may have, a process gets no time to tell anything."""


class Stopped(Exception):
    """Nobody waits for the run any more."""


@dataclasses.dataclass(frozen=True)
class Bounds:
    """When a run has to go: after `timeout` seconds; after `hang`, where it is watched for that; above `memory` bytes.

    And at once when `stop` is set. Seconds are those of the clock; memory is that of all the run's processes.
    """

    timeout: float | None = None
    hang: float | None = None
    memory: int | None = None
    stop: threading.Event | None = None


class Watched:
    """A process that a byte through a pipe, if there is one, asks to tell of itself (see `inside/snapshots.py`)."""

    def __init__(self, process: subprocess.Popen[bytes], bounds: Bounds, pipe: int | None):
        self.process, self.bounds, self.pipe = process, bounds, pipe
        self.started = time.monotonic()
        self.stopped: End | None = None
        self.steps: Iterator[tuple[Callable[[], object], float]] = iter(())
        self.next_step = 0.0

    def outcome(self) -> Outcome:
        """How it has ended, by itself or by what it exceeds. Waits for that; nothing of it is left then.

        Raises Stopped.
        """
        assert self.process.stdout is not None and self.process.stderr is not None
        outputs = [Output(os.dup(stream.fileno())) for stream in (self.process.stdout, self.process.stderr)]
        with self.process, selectors.DefaultSelector() as selector:
            try:
                for output in outputs:
                    selector.register(output.pipe, selectors.EVENT_READ, output)
                while self.process.poll() is None:
                    self._read(selector)
                    self._judge()
            finally:
                limits.kill(self.process.pid)
        for output in outputs:
            output.close()
        stdout, stderr = (output.text() for output in outputs)
        told: dict[str, Any] = {"stdout": stdout, "stderr": stderr, "seconds": time.monotonic() - self.started}
        if self.stopped is not None:
            return Outcome(self.stopped, **told)
        return Outcome.of_status(self.process.returncode, **told)

    def _read(self, selector: selectors.BaseSelector) -> None:
        """Take what it prints, or wait for its end, for a moment."""
        if not selector.get_map():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_TICK)
        for key, _ in selector.select(_TICK) if selector.get_map() else ():
            if key.data.read() is False:
                selector.unregister(key.fd)

    def _judge(self) -> None:
        """Take the next step towards its end, if it has to go."""
        if self.bounds.stop is not None and self.bounds.stop.is_set():
            raise Stopped
        if self.stopped is None:
            self.stopped = self._exceeded()
            self.steps = self._ways_to_end()
        if self.stopped is End.MEMORY and self._has_more_than(_FAR_TOO_MUCH):
            limits.kill(self.process.pid)
        elif self.stopped is not None and time.monotonic() >= self.next_step:
            act, patience = next(self.steps)
            act()
            self.next_step = time.monotonic() + patience

    def _exceeded(self) -> End | None:
        bounds, age = self.bounds, time.monotonic() - self.started
        if any(seconds is not None and age > seconds for seconds in (bounds.timeout, bounds.hang)):
            return End.TIMEOUT
        return End.MEMORY if self._has_more_than(1) else None

    def _has_more_than(self, share: float) -> bool:
        memory = self.bounds.memory
        return memory is not None and limits.exceeds_memory(self.process.pid, int(share * memory))

    def _ways_to_end(self) -> Iterator[tuple[Callable[[], object], float]]:
        """From the kindest to the surest, each with the seconds to wait for what it does."""
        pid, pipe = self.process.pid, self.pipe
        if pipe is not None:
            yield lambda: os.write(pipe, b"!"), max(_ANSWER, self.bounds.hang or 0)
        if self.bounds.hang is not None or self.stopped is End.MEMORY:
            yield lambda: limits.ask_for_stack(pid), _LAST_WORDS
        while True:
            yield lambda: limits.kill(pid), _TICK
