"""Controls: a second way of running, in which what must stay the same shows itself in another way.

A wrong number says nothing about where it comes from: an `assert` of anything fails alike. So, where there is one, a
control is asked as well: the program must end well where the failure is known not to occur. Where NaNs are what is
wrong, JAX itself can say which operation makes them first: then it must be the same one.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from jaxshrink.messages import first_sentence
from jaxshrink.options import Options
from jaxshrink.oracle import Runner
from jaxshrink.outcome import End, Outcome, Tier

SETTINGS: tuple[Mapping[str, str], ...] = (
    {"JAX_DISABLE_JIT": "1"},
    {"JAX_ENABLE_X64": "1"},
    {"JAX_DEFAULT_MATMUL_PRECISION": "highest"},
    {"XLA_FLAGS": "--xla_backend_optimization_level=0"},
    {"XLA_FLAGS": "--xla_cpu_enable_fast_math=false"},
)
"""Environments in which a wrong number may be right, tried in this order."""

CHECKS: tuple[Mapping[str, str], ...] = (
    {"JAX_DEBUG_NANS": "1", "JAX_DISABLE_JIT": "1"},
    {"JAX_DEBUG_INFS": "1", "JAX_DISABLE_JIT": "1"},
)
"""Environments in which JAX says which operation makes a wrong number first."""

_MOVES = ("convert_element_type", "broadcast_in_dim", "select_n", "reshape", "concatenate", "copy", "copy_p")
"""Operations that make no number: what they are given is in the program on purpose, the -inf of a mask."""


@dataclasses.dataclass(frozen=True)
class Origin:
    """The first operation that gave a NaN or an infinity: what JAX says, the operations of `jax.lax` in which it was.

    In a derivative these are that which the program called and its rule's. `backward`: in a backward pass.
    """

    message: str
    operations: tuple[str, ...]
    backward: bool

    @classmethod
    def of(cls, outcome: Outcome) -> Self | None:
        """What an outcome says of it."""
        if outcome.end is not End.EXCEPTION or outcome.type != "FloatingPointError":
            return None
        message = first_sentence(outcome.message or "")
        if message.endswith(tuple(f" in {name}" for name in _MOVES)):
            return None
        inner = list(itertools.takewhile(lambda frame: not frame.user, reversed(outcome.frames)))
        operations = (frame.function for frame in reversed(inner) if frame.file.startswith("jax/_src/lax/"))
        backward = any(frame.function.startswith("backward_pass") for frame in inner)
        return cls(message, tuple(operations), backward)


@dataclasses.dataclass(frozen=True)
class Control:
    """An environment, perhaps another interpreter, and what a program must do there: end well, or show an origin."""

    env: Mapping[str, str]
    python: Path | None = None
    origin: Origin | None = None
    versions: str = ""  # of the interpreter

    def __str__(self) -> str:
        parts = [f"{name}={value}" for name, value in self.env.items()]
        return ", ".join([*parts, *([self.versions or str(self.python)] if self.python else [])])

    def allows(self, outcome: Outcome) -> bool:
        """Whether a run under the control went as it must."""
        if self.origin is not None:
            return Origin.of(outcome) == self.origin
        return outcome.end is End.EXIT and not outcome.code

    def described(self) -> str:
        """What it means for the program that comes out."""
        if self.origin is not None:
            where = " of a backward pass" if self.origin.backward else ""
            return f"with {self} it fails in the same operation{where} ({self.origin.message})"
        return f"with {self} it does not fail"


def given(options: Options) -> tuple[Control, ...]:
    """Those that the user names."""
    named = []
    if options.passes_with:
        named.append(Control(options.passes_with))
    if options.passes_on is not None:
        named.append(Control({}, options.passes_on))
    return tuple(named)


def find(text: str, new_runner: Callable[[Control], Runner], *, not_finite: bool = True) -> tuple[Control, ...]:
    """The first control under which a program ends well; where there is none, those that name an origin.

    The latter only where it is about numbers that are `not_finite`: others may be about anything.
    """
    for settings in (SETTINGS[:2], SETTINGS[2:], *([CHECKS] if not_finite else [])):
        runners = [new_runner(Control(env)) for env in settings]
        try:
            runs = [runner.submit(text, Tier.WARM) for runner in runners]
            fitting = [_fitting(env, run.result()) for env, run in zip(settings, runs, strict=True)]
        finally:
            for runner in runners:
                runner.close()
        found = tuple(each for each in fitting if each is not None)
        if found:
            return found if settings is CHECKS else found[:1]
    return ()


def _fitting(env: Mapping[str, str], outcome: Outcome) -> Control | None:
    if env not in CHECKS:
        control = Control(env)
        return control if control.allows(outcome) else None
    origin = Origin.of(outcome)
    return None if origin is None else Control(env, origin=origin)
