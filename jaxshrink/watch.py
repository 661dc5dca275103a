"""The first run: the user's program as it is, cold, in a mirror of its folder, watched.

It tells of itself when it ends. One whose time is up is asked where it stands. One that dies, or does not answer,
runs once more, and writes what is known so far before each statement in which it may die.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jaxshrink.faults import explained
from jaxshrink.observation import Observation
from jaxshrink.outcome import End, Frame, Outcome
from jaxshrink.scratch import Scratch
from jaxshrink.watched import Bounds, Watched

INSIDE = Path(__file__).parent / "inside" / "observe.py"

_LONGER = 3
"""So many times the time given for a hang goes to a run that was still importing when that was up."""


class NotObserved(Exception):
    """The run has left no observation. `outcome` is what is known of its end."""

    def __init__(self, outcome: Outcome):
        super().__init__(outcome.end)
        self.outcome = outcome


@dataclasses.dataclass(frozen=True)
class _Seen:
    """A run from outside, and from inside: its own observation, if it wrote one."""

    outcome: Outcome
    observation: Observation | None


def watch(
    python: str,
    folder: Path,
    entry: str,
    argv: Sequence[str],
    environment: Mapping[str, str],
    timeout: float | None = None,
    *,
    hang: float | None = None,
    memory: int | None = None,
    compiles: bool = False,
    match: str | None = None,
    stop: threading.Event | None = None,
) -> Observation:
    """Run the program that lies in `folder`, a mirror that may be written to. Raises NotObserved.

    After `timeout` seconds it is killed. After `hang` seconds, or above `memory` bytes, it is asked where it stands.
    `compiles`: the outcome tells of compilations. `match`: a pattern for warnings; in a run that ends well, what is
    known of the stack is that of the first that it matches. Once `stop` is set it is killed too, and Stopped is raised.
    """

    def run(times: int = 1, **more: object) -> _Seen:
        spec = {"entry": entry, "argv": list(argv), "compiles": compiles, "match": match, **more}
        bounds = Bounds(timeout, hang and times * hang, memory, stop)
        return _run(python, folder, spec, environment, bounds)

    seen = run()
    if hang is not None and _is_importing(seen):  # it has not begun: the machine is busy, or all was imported anew
        seen = run(_LONGER)
    ended, observation = seen.outcome, seen.observation
    if observation is None and (ended.end is not End.TIMEOUT or hang is not None):
        observation = _before_death(run, ended)
    if observation is None:
        raise NotObserved(ended)
    return _completed(observation, ended)


def _is_importing(seen: _Seen) -> bool:
    """Whether what the program ran last, when its time was up, was an import of a library."""
    if seen.outcome.end is not End.TIMEOUT:
        return False
    stack = seen.observation.outcome.frames if seen.observation else seen.outcome.stack
    last = max((index for index, frame in enumerate(stack) if frame.user), default=len(stack))
    return any(frame.file.startswith("<frozen importlib") for frame in stack[last + 1 : last + 2])


def _before_death(run: Callable[..., _Seen], ended: Outcome) -> Observation | None:
    """What is known when the program dies again: in the statement that did it, if waiting shows that, else anywhere."""
    observation = None
    for wait in (True, False):
        stack = ended.stack
        for _ in range(2):
            seen = run(deadly=[[frame.file, frame.line] for frame in stack if frame.user], wait=wait)
            observation = seen.observation or observation
            if _manner(seen.outcome) != _manner(ended):
                break
            stack = seen.outcome.stack
            if observation is not None and _function(stack) == _function(observation.outcome.frames):
                return observation
    return observation


def _function(stack: Sequence[Frame]) -> tuple[str, str] | None:
    """The innermost function of the program."""
    return next(((frame.file, frame.function) for frame in reversed(stack) if frame.user), None)


def _manner(outcome: Outcome) -> tuple[End, int | None, int | None]:
    return outcome.end, outcome.signal, outcome.code


def _completed(observation: Observation, ended: Outcome) -> Observation:
    """The observation with the end as the run itself saw it, if that was the end, else as it is seen from outside."""
    seen = observation.outcome
    if seen.end is End.EXIT and ended.end is not End.EXIT:  # it had left all of the program's frames
        observation = dataclasses.replace(observation, frames=(), transforms=(), library_calls=())
        outcome = dataclasses.replace(ended, frames=(), compiles=seen.compiles)
    elif seen.end is End.EXIT or seen.end is End.UNKNOWN:
        stack = ended.stack if ended.stack or ended.end is End.SIGNAL else seen.frames
        outcome = dataclasses.replace(ended, frames=seen.frames, stack=stack, compiles=seen.compiles)
    else:
        told = ended.stdout, ended.stderr, ended.descendant_signal
        outcome = dataclasses.replace(seen, stdout=told[0], stderr=told[1], descendant_signal=told[2])
    return dataclasses.replace(observation, outcome=outcome)


def _run(
    python: str, folder: Path, spec: Mapping[str, object], environment: Mapping[str, str], bounds: Bounds
) -> _Seen:
    wake, word = os.pipe()
    asks = "deadly" not in spec and (bounds.hang is not None or bounds.memory is not None)
    with Scratch() as scratch:
        told, out = scratch / "spec.json", scratch / "observation.json"
        told.write_text(json.dumps({**spec, "out": str(out), "wake": wake if asks else None}))
        try:
            process = subprocess.Popen(
                [python, str(INSIDE), str(told)],
                cwd=folder,
                env={**environment, "TMPDIR": str(scratch)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[wake] if asks else [],
                start_new_session=True,
            )
            outcome = Watched(process, bounds, word if asks else None).outcome()
        finally:
            os.close(wake)
            os.close(word)
        observation = Observation.load(out) if out.exists() else None
    return _Seen(explained(_without_folder(outcome, folder)), observation and _named(observation, folder))


def _named(observation: Observation, folder: Path) -> Observation:
    return dataclasses.replace(observation, outcome=_without_folder(observation.outcome, folder))


def _without_folder(outcome: Outcome, folder: Path) -> Outcome:
    """The files in texts named as in those of candidates: the folder was the mirror's."""
    for path in {f"{folder}{os.sep}", f"{folder.resolve()}{os.sep}"}:
        outcome = dataclasses.replace(
            outcome,
            message=outcome.message and outcome.message.replace(path, ""),
            stdout=outcome.stdout.replace(path, ""),
            stderr=outcome.stderr.replace(path, ""),
        )
    return outcome
