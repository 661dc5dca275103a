"""The first run without its numbers: the search begins with what that shows, while the real one still computes.

The failure must be the real one's all the same; until that is known, nobody is told of what was found.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, Self

from jaxshrink import kinds
from jaxshrink.failure import Failure
from jaxshrink.first import FirstRun, failure_of
from jaxshrink.inputs import Inputs
from jaxshrink.observation import Observation
from jaxshrink.options import Options
from jaxshrink.oracle import Oracle, Runner
from jaxshrink.outcome import End, Tier
from jaxshrink.scratch import Scratch

NICE = 19
"""By how much candidates yield to the real run: it is what is waited for in the end."""


MOST_CHECKS = 6
"""Rehearsals in which another of the program's own checks may fail."""


class Mistaken(Exception):
    """The real run has failed in another way than the rehearsal, or not at all."""


@dataclasses.dataclass(frozen=True)
class Rehearsal:
    """What an abstract run of the whole program has shown: an exception, not one that tells of wrong numbers."""

    observation: Observation
    failure: Failure
    passed_over: tuple[tuple[str, int], ...] = ()

    def foretold(self, first: FirstRun, failure: Failure, options: Options, program: Inputs) -> bool:
        """Whether the real run has failed in this way."""
        if failure.kind != self.failure.kind or failure.operations != self.failure.operations:
            return False
        frames = first.observation.outcome.frames
        text = program.text(frames[-1].file if frames else "") or ""
        return kinds.signature(self.failure, options, program.original).matches(first.observation.outcome, text)


def rehearse(options: Options, program: Inputs, oracle: Oracle, real: Beside) -> Rehearsal | None:
    """The rehearsal of a program, where its kind of failure has one and it shows such a failure.

    Without the numbers the program's own checks of them fail: these are passed over. It is not waited for once the
    real run has shown that there is no exception.
    """
    if not isinstance(oracle, Runner) or not _is_possible(options):
        return None
    checks: list[tuple[str, int]] = []
    for _ in range(MOST_CHECKS):
        observation = _observation(options, program, oracle, real, checks)
        failure = failure_of(observation.outcome, options, program) if observation is not None else None
        if observation is None or failure is None or observation.outcome.end is not End.EXCEPTION:
            return None
        if not kinds.signature(failure, options, program.entry.text).is_about_values:
            return None if failure.type == "ModuleNotFoundError" else Rehearsal(observation, failure, tuple(checks))
        frame = next((each for each in reversed(observation.outcome.frames) if each.user), None)
        if frame is None or (frame.file, frame.line) in checks:
            return None
        checks.append((frame.file, frame.line))
    return None


def _observation(
    options: Options, program: Inputs, runner: Runner, real: Beside, passed_over: Sequence[tuple[str, int]]
) -> Observation | None:
    entry = program.entry
    with Scratch() as scratch:
        out = scratch / "observation.json"
        spec = {"entry": str(entry.path), "argv": list(options.args), "out": str(out), "passed_over": passed_over}
        watched = runner.watch(entry.text, spec)
        either: list[Future[Any]] = [watched, real.future]
        wait(either, return_when=FIRST_COMPLETED)
        if real.is_over and (real.future.exception() or real.result().observation.outcome.end is not End.EXCEPTION):
            return None
        if watched.exception() is not None or not out.exists():
            return None
        return Observation.load(out)


def _is_possible(options: Options) -> bool:
    """Whether tracing may show what is asked for, in one run and without a second way of running."""
    more = (options.hang, options.recompiles, options.match, options.repeat, options.passes_on, options.test)
    return all(one is None for one in more) and not options.passes_with and options.tier in (None, Tier.ABSTRACT)


class Beside:
    """The real first run in a thread of its own, for as long as the context lasts. `run` must heed the event."""

    def __init__(self, run: Callable[[threading.Event], FirstRun]):
        self.stop = threading.Event()
        self.pool = ThreadPoolExecutor(1, "jaxshrink first run")
        self.future = self.pool.submit(run, self.stop)

    @property
    def is_over(self) -> bool:
        return self.future.done()

    def result(self) -> FirstRun:
        """Waits for it. Raises JaxshrinkError as `first_run` does."""
        return self.future.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self.is_over:  # `FirstRun.again` may still be called
            self.stop.set()
        self.pool.shutdown()
