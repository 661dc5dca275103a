"""The first run: what the program does as it is, and whether that is a failure that can be reduced."""

from __future__ import annotations

import ast
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from jaxshrink import tree as trees
from jaxshrink.bundle import ModuleSource, bundle
from jaxshrink.environment import hoist_environment
from jaxshrink.errors import InputError, JaxshrinkError, NotFailing, TargetError
from jaxshrink.failure import Failure
from jaxshrink.inputs import Inputs
from jaxshrink.observation import Observation
from jaxshrink.options import Options
from jaxshrink.oracle import Setting
from jaxshrink.outcome import End, Outcome
from jaxshrink.watch import NotObserved, watch


@dataclasses.dataclass(frozen=True)
class FirstRun:
    """What the first run showed; `again` runs the program once more and gives how it fails then, if it does."""

    observation: Observation
    seconds: float
    again: Callable[[], Failure | None]


def first_run(options: Options, program: Inputs, folder: Path, setting: Setting) -> FirstRun:
    """Run the program in `folder`, the mirror of its own. Raises JaxshrinkError where that shows nothing."""

    def observe() -> Observation:
        entry = str(program.entry.path)
        return watch(setting.python, folder, entry, options.args, setting.environment(), options.timeout)

    def again() -> Failure | None:
        try:
            outcome = observe().outcome
        except NotObserved:
            return None
        return _failure(outcome, program) if outcome.end is End.EXCEPTION else None

    began = time.monotonic()
    try:
        observation = observe()
    except NotObserved as ended:
        raise _not_observed(options, ended) from None
    return FirstRun(observation, time.monotonic() - began, again)


def failure_to_keep(
    options: Options, program: Inputs, outcome: Outcome, predicate: Callable[[Outcome], bool] | None
) -> Failure:
    """The failure of the first run. Raises JaxshrinkError where there is none, or none that can be reduced."""
    if predicate is not None:
        if not predicate(dataclasses.replace(outcome, source=program.entry.text)):
            raise NotFailing(f"the predicate does not find {options.path} as it is interesting")
    elif outcome.end is not End.EXCEPTION:
        raise _not_failing(options, outcome)
    else:
        _check_modules(options, outcome)
    return _failure(outcome, program)


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


def libraries(program: Inputs) -> tuple[str, ...]:
    """The modules that the program imports and that are not its own."""
    own = {source.module.split(".")[0] for source in program.sources}
    found: dict[str, None] = {}
    for source in program.sources:
        for node in ast.walk(ast.parse(source.text)):
            match node:
                case ast.Import(names=names):
                    found.update((alias.name, None) for alias in names)
                case ast.ImportFrom(module=str(module), level=0):
                    found[module] = None
    return tuple(name for name in found if name.split(".")[0] not in own)


def _failure(outcome: Outcome, program: Inputs) -> Failure:
    texts = {str(source.path): source.text for source in program.sources}
    file = outcome.frames[-1].file if outcome.frames else ""
    return Failure.of(outcome, texts.get(file))


def _not_observed(options: Options, ended: NotObserved) -> JaxshrinkError:
    last = next(iter(reversed(ended.stderr.strip().splitlines())), "")
    if ended.code is None:
        return NotFailing(f"{options.path} did not end within {options.timeout:g} s, and hangs are not reduced yet")
    if ended.code < 0:
        return NotFailing(f"{options.path} was killed by signal {-ended.code}, and crashes are not reduced yet")
    return TargetError(f"{options.python} could not run {options.path}: {last or f'exit code {ended.code}'}")


def _not_failing(options: Options, outcome: Outcome) -> JaxshrinkError:
    if outcome.end is End.SYNTAX:
        return InputError(f"{options.python} cannot compile {options.path}: {outcome.message}")
    if outcome.code:
        return NotFailing(f"{options.path} exits with code {outcome.code} and without an exception")
    return NotFailing(f"{options.path} runs to its end without a failure")


def _check_modules(options: Options, outcome: Outcome) -> None:
    """A missing module is a matter of the installation."""
    if outcome.type == "ModuleNotFoundError" and outcome.frames and outcome.frames[-1].user:
        raise InputError(
            f"the failure is a ModuleNotFoundError: {outcome.message}: install it for {options.python}, "
            "or choose another interpreter with --python"
        )
