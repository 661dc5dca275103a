"""The oracles of one job: who runs candidates, under which settings."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from jaxshrink.controls import Control
from jaxshrink.inputs import Inputs
from jaxshrink.kinds import Needs
from jaxshrink.options import Options
from jaxshrink.oracle import Command, Oracle, Runner, Setting
from jaxshrink.outcome import Tier

VERIFIED = 3
"""Runs of a verification."""


class Oracles:
    """Makes runners, or the user's command, and ends them with the stack.

    `main` is asked by the search; it has the environment `env` of the program and lies in `folder`, the mirror of the
    program's own.
    """

    def __init__(
        self, options: Options, program: Inputs, folder: Path, env: Mapping[str, str], stack: contextlib.ExitStack
    ):
        self.options, self.program, self.folder, self.env, self.stack = options, program, folder, env, stack
        self.needs = Needs()
        self.timeout = options.timeout
        self.made: list[Oracle] = []
        self.controls: dict[tuple[Hashable, ...], Runner] = {}
        self.main = self._oracle(env)

    @property
    def counts(self) -> collections.Counter[Tier]:
        """Runs so far."""
        return sum((oracle.counts for oracle in self.made), collections.Counter[Tier]())

    def adapt(self, needs: Needs, timeout: float | None) -> None:
        """Make `main` one that can show a kind of failure, within a time limit."""
        self.timeout = timeout
        old, self.needs = self.needs, needs
        if (needs.cache, needs.finish, needs.compiles) == (old.cache, old.finish, old.compiles):
            self.main.setting = self._setting(self.env)
        else:
            self.main.close()
            self.main = self._oracle(self.env)

    def alone(self, *, files: bool, out: Path | None = None, env: Mapping[str, str] | None = None) -> Oracle:
        """One without the program's environment, imports and, but for `files`, its folder.

        It has the environment `env`, and may write to `out`.
        """
        return self._oracle(env or {}, out=out, **self._apart(files))

    def under(self, control: Control) -> Runner:
        """The one under a control: `main`, where only the program's text differs."""
        if not control.env and control.python is None and isinstance(self.main, Runner):
            return self.main
        key = _key(control)
        if key not in self.controls:
            self.controls[key] = self._runner(_joined(self.env, control.env), **_interpreter(control))
        return self.controls[key]

    def leave(self, control: Control) -> None:
        """End the one under a control."""
        runner = self.controls.pop(_key(control), None)
        if runner is not None:
            runner.close()

    def alone_under(self, control: Control, *, files: bool) -> Runner:
        """One under a control, and else as `alone` has it."""
        own = {name: value for name, value in self.env.items() if name in control.env}
        return self._runner(_joined(own, control.env), **_interpreter(control), **self._apart(files))

    def _apart(self, files: bool) -> dict[str, Any]:
        # A hang is waited for, and the longer where the machine is busy: all its runs may be under way at once.
        jobs = self.options.jobs if self.needs.hang is None else max(self.options.jobs, VERIFIED)
        return {"imports": (), "jobs": jobs, **({} if files else {"folder": None})}

    def _oracle(self, env: Mapping[str, str], **other: Any) -> Oracle:
        if self.options.test is None:
            return self._runner(env, **other)
        command = Command(self.options.test, self.program.entry.path.name, self._setting(env, **other))
        self.made.append(self.stack.enter_context(command))
        return command

    def _runner(self, env: Mapping[str, str], **other: Any) -> Runner:
        runner = self.stack.enter_context(Runner(self._setting(env, **other)))
        self.made.append(runner)
        return runner

    def _setting(self, env: Mapping[str, str], **other: Any) -> Setting:
        options, needs = self.options, self.needs
        around = {"python": str(options.python), "folder": self.folder, "imports": self.program.libraries}
        around["jobs"] = options.jobs
        return Setting(
            env=env,
            memory=None if options.memory is None else int(options.memory * 2**30),
            timeout=self.timeout,
            cache=needs.cache,
            shared=needs.shared,
            finish=needs.finish,
            compiles=needs.compiles,
            **{**around, **other},
        )


def _key(control: Control) -> tuple[Hashable, ...]:
    return control.python, *sorted(control.env.items())


def _joined(env: Mapping[str, str], control: Mapping[str, str]) -> dict[str, str]:
    """The program's environment and a control's; of both their XLA_FLAGS all."""
    both = env.keys() & control.keys() & {"XLA_FLAGS"}
    return {**env, **control, **{name: f"{env[name]} {control[name]}" for name in both}}


def _interpreter(control: Control) -> dict[str, str]:
    return {} if control.python is None else {"python": str(control.python)}
