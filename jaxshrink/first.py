"""The first run: what the program does as it is, and whether that is a failure that can be reduced."""

from __future__ import annotations

import ast
import collections
import dataclasses
import threading
import time
from collections.abc import Callable
from pathlib import Path

from jaxshrink import chance, kinds, testfile
from jaxshrink import tree as trees
from jaxshrink.bundle import ModuleSource, bundle
from jaxshrink.environment import hoist_environment
from jaxshrink.errors import InputError, JaxshrinkError, NotFailing, TargetError
from jaxshrink.failure import Failure
from jaxshrink.inputs import Inputs
from jaxshrink.observation import Observation, UserModule
from jaxshrink.options import Options
from jaxshrink.oracle import Setting
from jaxshrink.outcome import End, Outcome
from jaxshrink.watch import NotObserved, watch


@dataclasses.dataclass(frozen=True)
class FirstRun:
    """What the first run showed that failed, which was the last of `tries`.

    `again` runs the program once more and gives how it fails then, if it does.
    """

    observation: Observation
    seconds: float
    tries: int
    again: Callable[[], Failure | None]


def first_run(
    options: Options,
    program: Inputs,
    folder: Path,
    setting: Setting,
    *,
    judged: bool = False,
    stop: threading.Event | None = None,
) -> FirstRun:
    """Run the program in `folder`, the mirror of its own. Raises JaxshrinkError where that shows nothing.

    Where it does not fail, though it may do so by chance, it is run again. `judged`: something else than a failure
    decides what is interesting, so one run is enough. `stop`: set when nobody waits for it any more.
    """

    def observe() -> Observation:
        entry = str(program.entry.path)
        hang = options.hang if options.test is None else setting.time_limit(abstract=False)
        return watch(
            setting.python, folder, entry, options.args, setting.environment(), options.timeout, hang=hang,
            memory=setting.memory_limit(), compiles=options.recompiles is not None, match=options.match, stop=stop,
        )  # fmt: skip

    def again() -> Failure | None:
        try:
            return failure_of(observe().outcome, options, program)
        except NotObserved:
            return None

    most = 1 if judged else options.repeat or _tries(options, program)
    tries = 0
    while tries < most:
        tries += 1
        began = time.monotonic()
        try:
            observation = observe()
        except NotObserved as ended:
            if options.test is None:
                raise _not_observed(options, ended) from None
            observation = _nothing(program)
        if failure_of(observation.outcome, options, program) is not None:
            break
    return FirstRun(observation, time.monotonic() - began, tries, again)


def failed_test(outcome: Outcome) -> tuple[str, ...]:
    """The selector of a test that a runner within the program has found to fail, if that is how it ended."""
    return testfile.failed(f"{outcome.stderr}\n{outcome.stdout}") if outcome.end is End.EXIT and outcome.code else ()


def failure_of(outcome: Outcome, options: Options, program: Inputs) -> Failure | None:
    """How a run of the whole program failed, if it did in the way that is asked for."""
    if outcome.end is End.EXIT:
        return kinds.failure(outcome, options, program.original)
    return kinds.failure(outcome, options, program.text(outcome.frames[-1].file if outcome.frames else ""))


def failure_to_keep(
    options: Options, program: Inputs, outcome: Outcome, predicate: Callable[[Outcome], bool] | None
) -> Failure:
    """The failure of the first run. Raises JaxshrinkError where there is none, or none that can be reduced."""
    failure = failure_of(outcome, options, program)
    if predicate is not None:
        if not predicate(dataclasses.replace(outcome, source=program.entry.text)):
            raise NotFailing(f"the predicate does not find {options.path} as it is interesting")
        return failure or Failure.of(outcome)
    if failure is None:
        raise _not_failing(options, program, outcome)
    _check_modules(options, outcome)
    return failure


def whole_program(program: Inputs, observation: Observation, args: tuple[str, ...]) -> ast.Module:
    """The files that took part, in the order in which their execution ended, as one module; arguments set in it."""
    texts = {str(source.path): source.text for source in program.sources}
    modules = {module.name: module for module in observation.modules if module.file in texts}
    ended = [name for name in observation.finished if name in modules and name != "__main__"]
    unfinished = [name for name in reversed(modules) if name not in ended and name != "__main__"]
    sources = [
        ModuleSource(name, modules[name].file, texts[modules[name].file], modules[name].package)
        for name in [*ended, *unfinished]
    ]
    entry = program.entry
    tree, _ = hoist_environment(bundle([*sources, ModuleSource("__main__", str(entry.path), entry.text)]))
    if not args:
        return tree
    argv = trees.statements(f"import sys\nsys.argv = {[entry.path.name, *args]!r}")
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return ast.Module([*future, *argv, *(node for node in tree.body if node not in future)], [])


def _tries(options: Options, program: Inputs) -> int:
    asked = options.hang is not None or options.recompiles is not None
    return 1 if asked or not chance.takes_part(source.text for source in program.sources) else chance.TRIES


def _nothing(program: Inputs) -> Observation:
    """What is known of a program that could not be watched: its files, those that were found last imported first."""
    names = ["__main__", *(source.module for source in program.sources[1:])]
    files = zip(names, program.sources, strict=True)
    modules = [UserModule(name, str(source.path), source.package) for name, source in files]
    finished = tuple(reversed(names))
    return Observation(Outcome(End.UNKNOWN), "", None, None, tuple(modules), finished, {}, {}, (), (), (), ())


def _not_observed(options: Options, ended: NotObserved) -> JaxshrinkError:
    last = next(iter(reversed(ended.outcome.stderr.strip().splitlines())), "")
    if ended.outcome.end is End.TIMEOUT:
        return NotFailing(f"{options.path} did not end within {options.timeout:g} s: if it hangs, give --hang S")
    return TargetError(f"{options.python} could not run {options.path}: {last or _described(ended.outcome)}")


def _not_failing(options: Options, program: Inputs, outcome: Outcome) -> JaxshrinkError:
    """Why what the run showed is not the failure that is looked for."""
    path, ends = options.path, _described(outcome)
    if options.test is not None:
        how = f"exit code {outcome.code}" if outcome.end is End.EXIT else outcome.end.value
        said = next((f": {line}" for line in reversed(outcome.stderr.strip().splitlines())), "")
        return NotFailing(f"{options.test} does not find {path} interesting ({how}{said})")
    if outcome.end is End.SYNTAX:
        return InputError(f"{options.python} cannot compile {path}: {outcome.message}")
    if outcome.end is End.TIMEOUT:
        return NotFailing(f"{path} did not end within {options.timeout:g} s: if it hangs, give --hang S")
    if options.hang is not None:
        return NotFailing(f"{path} does not hang: after {outcome.seconds:.1f} s it {ends}")
    if options.recompiles is not None:
        name, count = options.recompiles
        compiled = collections.Counter(each.name for each in outcome.compiles)
        most = compiled[name] if name else max(compiled.values(), default=0)
        if not name:
            return NotFailing(f"no function of {path} is compiled {count} times, but one is {most} times")
        return NotFailing(f"{name} of {path} is compiled {most} times, and {count} were asked for")
    if options.match is not None and not outcome.code:
        return NotFailing(f"{path} runs to its end, and nothing that it writes matches {options.match!r}")
    tests = [] if program.is_made else testfile.tests_in(program.entry.text)
    if tests and not outcome.code:
        return NotFailing(f"{path} defines tests and runs none of them: name one, as in {path}::{tests[0]}")
    return NotFailing(f"{path} {ends}")


def unreliable(options: Options, *, alike: bool) -> str:
    """What to say of a program of which no candidate fails reliably; `alike`: where it lies it fails the same again."""
    name = options.path
    if options.test is not None:
        return f"{options.test} does not find {name} interesting each time, or not without its comments"
    if alike:
        return f"{name} fails by itself, but not as a candidate run from another folder: is it the surroundings?"
    return f"{name} fails, but not in the same way each time"


def _described(outcome: Outcome) -> str:
    if outcome.end is End.EXCEPTION:
        return f"raises {outcome.type}"
    if outcome.end is End.SIGNAL:
        return f"is killed by signal {outcome.signal}"
    if outcome.end is End.MEMORY:
        return "takes too much memory"
    if outcome.code:
        return f"exits with code {outcome.code} and without an exception"
    return "runs to its end without a failure"


def _check_modules(options: Options, outcome: Outcome) -> None:
    """A missing module is a matter of the installation."""
    if outcome.type == "ModuleNotFoundError" and outcome.frames and outcome.frames[-1].user:
        raise InputError(
            f"the failure is a ModuleNotFoundError: {outcome.message}: install it for {options.python}, "
            "or choose another interpreter with --python"
        )
