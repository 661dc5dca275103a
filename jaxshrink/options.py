"""What the user may choose: one `Options` for a job, made by the command line and by the API alike."""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from jaxshrink.errors import TargetError, UsageError
from jaxshrink.oracle.command import words
from jaxshrink.outcome import Tier

SAME = ("type", "site", "message", "exact")
"""How much of a failure must stay the same, loosest first."""

SUFFIX = ".min.py"

ALSO = ("stablehlo",)
"""What may be written beside the result."""


class Given(TypedDict, total=False):
    """The options as a user writes them; those left out, or None, take their defaults."""

    output: str | os.PathLike[str] | None
    args: Sequence[str]
    python: str | os.PathLike[str] | None
    env: Mapping[str, str]
    same: str
    match: str | None
    hang: float | None
    recompiles: str | int | None
    repeat: int | None
    passes_with: Mapping[str, str]
    passes_on: str | os.PathLike[str] | None
    no_control: bool
    keep_frameworks: bool
    test: str | None
    jobs: int | None
    timeout: float | None
    memory: float | None
    time_limit: float | None
    tier: str | None
    also: Iterable[str]
    force: bool
    only_pass: Iterable[str]
    skip_pass: Iterable[str]
    resume: bool


@dataclasses.dataclass(frozen=True)
class Options:
    """Checked options. `selector` names a test in the file, from outside to inside.

    Times are in seconds, `memory` is in GiB; None is no limit, or one that the job finds itself.

    `python` is the path of the interpreter that runs the candidates, `tier` the cheapest tier allowed. `recompiles` is
    a function's name, or nothing for any, and a number. `passes_with` and `passes_on` are an environment and an
    interpreter with which the failure does not occur. `test` is a command in the sense of `oracle.command`.
    """

    path: Path
    output: Path
    python: Path
    jobs: int
    selector: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    same: str = "site"
    match: str | None = None
    hang: float | None = None
    recompiles: tuple[str, int] | None = None
    repeat: int | None = None
    passes_with: Mapping[str, str] = dataclasses.field(default_factory=dict)
    passes_on: Path | None = None
    no_control: bool = False
    keep_frameworks: bool = False
    test: str | None = None
    timeout: float | None = None
    memory: float | None = None
    time_limit: float | None = None
    tier: Tier | None = None
    also: tuple[str, ...] = ()
    force: bool = False
    only_pass: tuple[str, ...] = ()
    skip_pass: tuple[str, ...] = ()
    resume: bool = False

    @classmethod
    def of(cls, path: str | os.PathLike[str], given: Given) -> Options:
        """Check what the user gave and fill in the rest. Raises UsageError, and TargetError for the interpreter."""
        if unknown := sorted(set(given) - Given.__optional_keys__):
            raise UsageError(f"there is no option {unknown[0]!r}: {', '.join(sorted(Given.__optional_keys__))}")
        path, selector = _split(os.fspath(path))
        output, tier = given.get("output"), given.get("tier")
        return cls(
            path=path,
            selector=selector,
            output=path.parent / (path.stem + SUFFIX) if output is None else Path(output),
            python=_interpreter(given.get("python")),
            jobs=_jobs(given.get("jobs")),
            args=tuple(map(str, given.get("args", ()))),
            env=_environment(given.get("env", {})),
            same=_one_of("same", given.get("same", "site"), SAME),
            match=_regex(given.get("match")),
            hang=_positive("hang", given.get("hang")),
            recompiles=_recompiles(given.get("recompiles")),
            repeat=None if given.get("repeat") is None else _whole("repeat", given.get("repeat")),
            passes_with=_environment(given.get("passes_with", {})),
            passes_on=None if given.get("passes_on") is None else _interpreter(given.get("passes_on")),
            no_control=given.get("no_control", False),
            keep_frameworks=given.get("keep_frameworks", False),
            test=_test(given),
            timeout=_positive("timeout", given.get("timeout")),
            memory=_positive("memory", given.get("memory")),
            time_limit=_positive("time_limit", given.get("time_limit")),
            tier=None if tier is None else Tier(_one_of("tier", tier, [each.value for each in Tier])),
            also=tuple(_one_of("also", each, ALSO) for each in _names(given.get("also", ()))),
            force=given.get("force", False),
            only_pass=_names(given.get("only_pass", ())),
            skip_pass=_names(given.get("skip_pass", ())),
            resume=given.get("resume", False),
        )


def _split(path: str) -> tuple[Path, tuple[str, ...]]:
    """The file, and which of its tests is meant."""
    if "::" not in path:
        return Path(path), ()
    from jaxshrink import testfile

    file, selector = testfile.split(path)
    return Path(file), selector


def check_passes(options: Options, known: Sequence[str]) -> None:
    """Raises UsageError where the options name a pass that is none of the known."""
    for name in (*options.only_pass, *options.skip_pass):
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else "--list-passes shows them all"
            raise UsageError(f"there is no pass {name!r}: {hint}")


def assignment(text: str, option: str = "--env") -> tuple[str, str]:
    """The name and the value of `NAME=VALUE`. Raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{option} takes NAME=VALUE, not {text!r}")
    return name, value


def _interpreter(python: str | os.PathLike[str] | None) -> Path:
    """An absolute path. Links stay: through them an interpreter knows its virtual environment."""
    if python is None:
        return Path(sys.executable)
    found = shutil.which(python)
    if found is None:
        raise TargetError(f"there is no interpreter {os.fspath(python)!r}: give the path of a Python that has jax")
    return Path(os.path.abspath(found))


def _jobs(jobs: int | None) -> int:
    return _usable_cpus() if jobs is None else _whole("jobs", jobs)


def _whole(option: str, value: int | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{option} must be a whole number of 1 or more, not {value!r}")
    return value


def _recompiles(given: str | int | None) -> tuple[str, int] | None:
    """The name and the number of `[NAME:]N`."""
    if given is None:
        return None
    name, _, count = str(given).rpartition(":")
    if not count.isdecimal() or int(count) < 2:
        raise UsageError(f"recompiles must be [NAME:]N with N of 2 or more, not {given!r}")
    return name, int(count)


def _usable_cpus() -> int:
    """The CPUs that this process may use, where the system tells."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(env, Mapping):
        raise UsageError("env must be a mapping of names to values")
    for name, value in env.items():
        if not name or "=" in name or "\0" in name + str(value):
            raise UsageError(f"{name!r} cannot be the name of an environment variable, or {value!r} its value")
    return {name: str(value) for name, value in env.items()}


def _one_of(option: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise UsageError(f"{option} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def _regex(match: str | None) -> str | None:
    try:
        re.compile(match or "")
    except (re.error, TypeError) as error:
        raise UsageError(f"match must be a regular expression, and {match!r} is none: {error}") from None
    return match


def _positive(option: str, value: float | None) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise UsageError(f"{option} must be a number above 0, not {value!r}")
    return float(value)


def _test(given: Given) -> str | None:
    """The command, which alone says what is interesting, and which is never run in anything but fresh processes."""
    test = given.get("test")
    if test is None:
        return None
    for option in ("match", "hang", "recompiles", "tier", "passes_with", "passes_on"):
        if given.get(option):
            raise UsageError(f"test and {option} do not go together: the command alone says what is interesting")
    words(test)
    return test


def _names(names: Iterable[str]) -> tuple[str, ...]:
    """A single name given as a plain string is a list of one."""
    return (names,) if isinstance(names, str) else tuple(names)
