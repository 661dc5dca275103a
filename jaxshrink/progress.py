"""What a job tells while it goes on, and how it is shown: by nothing, by plain lines, or by one live line."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self

from jaxshrink.failure import Failure
from jaxshrink.result import Result, brief

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


class Progress:
    """Listens to a job. This one shows nothing.

    The events come from the job's main thread, in the order of the methods; those between `failing`
    and `verified` again and again.
    """

    def started(self, path: Path, tokens: int, runs: Callable[[], int], resumed: bool = False) -> None:
        """The program has been read; `runs` tells at any time how many programs have been run."""

    def failing(self, failure: Failure, seconds: float) -> None:
        """The first run is over, and this is the failure to keep."""

    def begins(self, name: str) -> None:
        """A pass, or another part of the job, begins."""

    def improved(self, tokens: int) -> None:
        """There is a new smallest program."""

    def verified(self, times: int) -> None:
        """The result has failed in the same way in so many fresh interpreters, each time."""

    def finished(self, result: Result) -> None:
        """The result has been written."""

    def note(self, message: str) -> None:
        """Something that the user should know, at any time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """However the job ended, nothing is shown any more."""


class Lines(Progress):
    """A plain line for each milestone; with `verbose`, for each program that became the smallest."""

    _TELLING = 0.75  # what the tokens must fall to, as a part of those told last, to be told again

    def __init__(self, stream: IO[str], verbose: bool = False):
        self.stream, self.verbose = stream, verbose
        self.start = time.monotonic()
        self.failure: Failure | None = None
        self.first = self.tokens = self.told = 0
        self.runs: Callable[[], int] = int
        self.part = "first run"

    def say(self, message: str) -> None:
        """Write a line."""
        print(f"jaxshrink: {message}", file=self.stream, flush=True)

    def started(self, path: Path, tokens: int, runs: Callable[[], int], resumed: bool = False) -> None:
        self.first = self.tokens = self.told = tokens
        self.runs = runs
        self.say(f"{path}: {tokens} tokens, {'resuming an earlier job' if resumed else 'running it once'}")

    def failing(self, failure: Failure, seconds: float) -> None:
        self.failure = failure
        self.say(f"fails after {seconds:.1f} s with {brief(failure)}")

    def begins(self, name: str) -> None:
        self.part = name

    def improved(self, tokens: int) -> None:
        self.tokens = tokens
        if self.verbose or tokens <= self.told * self._TELLING:
            self.told = tokens
            self.say(f"{tokens} tokens after {self.cost()} ({self.part})")

    def verified(self, times: int) -> None:
        often = f"{times} times of {times} in fresh interpreters" if times > 1 else "in a fresh interpreter"
        self.say(f"verified: fails in the same way {often}")

    def finished(self, result: Result) -> None:
        self.say(f"{result.message}, {self.cost()}: {result.path}")

    def note(self, message: str) -> None:
        self.say(f"note: {message}")

    def cost(self) -> str:
        """Runs and seconds so far."""
        return f"{self.runs()} runs, {time.monotonic() - self.start:.1f} s"


class Live(Lines):
    """One line on a terminal that is always up to date; notes and, with `verbose`, milestones above it.

    The line lives in a thread of its own, because loading rich takes longer than starting the job.
    """

    def __init__(self, stream: IO[str], verbose: bool = False):
        super().__init__(stream, verbose)
        self.over = threading.Event()
        self.console: Console | None = None
        self.thread = threading.Thread(target=self._show, name="jaxshrink progress", daemon=True)

    def say(self, message: str) -> None:
        if self.verbose:
            self._above(message)

    def note(self, message: str) -> None:
        self._above(f"note: {message}")

    def finished(self, result: Result) -> None:
        self._above(f"{result.message}, {self.cost()}: {result.path}")

    def line(self) -> Text:
        """How the job stands."""
        from rich.text import Text

        tokens = f"{self.tokens} of {self.first} tokens  {self.cost()}  {self.part}"
        failure = f"  {brief(self.failure)}" if self.failure else ""
        return Text(tokens + failure, no_wrap=True, overflow="ellipsis")

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give the terminal back as it was."""
        self.over.set()
        self.thread.join()

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live as Display

        self.console = Console(file=self.stream, highlight=False, markup=False, emoji=False)
        with Display(
            console=self.console,
            get_renderable=self.line,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        ):
            self.over.wait()

    def _above(self, message: str) -> None:
        if self.console is None:  # not loaded yet
            super().say(message)
        else:
            self.console.print(f"jaxshrink: {message}", soft_wrap=True)


def ordinal(number: int) -> str:
    """`first`, `second` and so on."""
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")
