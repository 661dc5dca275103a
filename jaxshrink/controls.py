"""Controls: a second way of running, in which what must stay the same shows itself in another way.

A wrong number says nothing about where it comes from: an `assert` of anything fails alike. So, where there is one, a
control is asked as well: the program must end well where the failure is known not to occur. Where NaNs are what is
wrong, JAX itself can say which operation makes them first: then it must be the same one.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Self

from jaxshrink.environment import without_settings
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

WAYS: Mapping[str, tuple[str, frozenset[str]]] = {
    "plain_rules": (
        "its own derivative rules left out",
        frozenset({"custom_jvp", "custom_vjp", "custom_gradient", "defjvp", "defvjp"}),
    ),
    "loops": ("loops in place of vmap", frozenset({"vmap"})),
    "double": (
        "64 bits for all numbers",
        frozenset({"float16", "bfloat16", "float32", "int8", "int16", "int32", "complex64"}),
    ),
}
"""Functions of `inside/otherwise.py`: what a program then runs with, and the names of which it must have one."""

_OTHERWISE = Path(__file__).parent / "inside" / "otherwise.py"

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
    """An environment, perhaps another interpreter, and what a program must do there: end well, or show an origin.

    `way`: what is replaced before the program runs, one of `WAYS`.
    """

    env: Mapping[str, str]
    python: Path | None = None
    origin: Origin | None = None
    versions: str = ""  # of the interpreter
    way: str | None = None

    def __str__(self) -> str:
        parts = [f"{name}={value}" for name, value in self.env.items()]
        parts += [WAYS[self.way][0]] if self.way is not None else []
        return ", ".join([*parts, *([self.versions or str(self.python)] if self.python else [])])

    def applied(self, text: str) -> str:
        """What is run under the control for a program: it, without what it sets itself of the environment."""
        if self.way is not None:
            return otherwise(text, self.way)
        return without_settings(text, self.env.keys()) if "environ" in text else text

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


def find(
    text: str,
    runner: Callable[[Control], Runner],
    leave: Callable[[Control], None] = lambda control: None,
    *,
    not_finite: bool = True,
) -> tuple[Control, ...]:
    """The first control under which a program ends well; where there is none, those that name an origin.

    The latter only where it is about numbers that are `not_finite`: others may be about anything. `leave` is told of
    controls whose `runner` is needed no more.
    """
    for controls in _rounds(text, not_finite):
        found: tuple[Control, ...] = ()
        try:
            runs = [runner(control).submit(control.applied(text), Tier.WARM) for control in controls]
            fitting = [_fitting(control, run.result()) for control, run in zip(controls, runs, strict=True)]
            found = tuple(each for each in fitting if each is not None)
            found = found if found and found[0].origin is not None else found[:1]
        finally:
            for control in controls:
                if all((control.env, control.way) != (each.env, each.way) for each in found):
                    leave(control)
        if found:
            return found
    return ()


def _rounds(text: str, not_finite: bool) -> Iterator[list[Control]]:
    """What is tried together, until something fits."""
    yield [Control(env) for env in SETTINGS[:2]]
    names = re.findall(r"\w+", text)
    ways = [Control({}, way=way) for way, (_, wanted) in WAYS.items() if not wanted.isdisjoint(names)]
    yield ways
    if not_finite:  # what goes wrong though nothing is compiled does not hang on how that is done
        yield [Control(env) for env in CHECKS]
    yield [Control(env) for env in SETTINGS[2:]]


def _fitting(control: Control, outcome: Outcome) -> Control | None:
    if control.env not in CHECKS:
        return control if control.allows(outcome) else None
    origin = Origin.of(outcome)
    return None if origin is None else dataclasses.replace(control, origin=origin)


def otherwise(text: str, way: str) -> str:
    """A program with something replaced that it imports: before its first import of what is not Python's own."""
    statements = ast.parse(text).body
    at = next((each.lineno - 1 for each in statements if _imports_package(each)), None)
    if at is None:
        return text
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:at], _replacing(way), *lines[at:]])


@functools.cache  # asked for with every candidate
def _replacing(way: str) -> str:
    """The statement that replaces something, on a line of its own."""
    source = f"{_OTHERWISE.read_text()}\n{way}()"
    return f"exec({source!r}, {{}})\n"


def _imports_package(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=names):
            modules = [alias.name for alias in names]
        case ast.ImportFrom(module=str(module)):
            modules = [module]
        case _:
            return False
    return any(module.partition(".")[0] not in sys.stdlib_module_names for module in modules)
