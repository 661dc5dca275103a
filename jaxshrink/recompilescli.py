"""The command `jaxshrink recompiles`: run a program, tell which functions JAX compiles again, and why."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from jaxshrink.errors import Interrupted, NotFailing, UsageError
from jaxshrink.subcommands import SETTINGS, run, say

if TYPE_CHECKING:
    from jaxshrink.recompiles import Report

EXCEEDED = 1
"""The exit code where a function was compiled more often than it may."""

_MOST_NAMES = 10


def main(own: Sequence[str], program: Sequence[str]) -> int:
    """Run the command with its own options and the program's. Returns the exit code."""
    interrupted = "interrupted before the program had ended"
    return run(command, own, lambda parameters: _watch(parameters, program), interrupted)


@click.command("recompiles", **SETTINGS)
@click.argument("program", metavar="PROGRAM [-- ARGS...]")
@click.option("--max", "most", metavar="[NAME:]N", multiple=True,
              help="Exit with 1 if a function not of JAX is compiled more than N times; repeatable.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show all functions, also of JAX, with all their calls.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--python", metavar="PATH", help="Interpreter that runs the program.  [default: this one]")
@click.option("--env", metavar="NAME=VALUE", multiple=True, help="Environment of the program; repeatable.")
def command(**parameters: Any) -> None:
    """Run PROGRAM, and tell which functions JAX traces and compiles, why again, and what to do about it."""


def _watch(parameters: dict[str, Any], arguments: Sequence[str]) -> int:
    from pathlib import Path

    from jaxshrink.options import Options, assignment
    from jaxshrink.recompiles.running import watched_run

    limits = [_limit(each) for each in parameters["most"]]
    env = dict(assignment(each, "--env") for each in parameters["env"])
    options = Options.of(Path(parameters["program"]), {"python": parameters["python"], "env": env, "args": arguments})
    watched, code = watched_run(options)
    exceeded = [(each, count, most) for name, most in limits for each, count in watched.beyond(most, name).items()]
    if parameters["as_json"]:
        told = [{"function": each, "compiles": count, "most": most} for each, count, most in exceeded]
        print(json.dumps({**watched.to_json(), "exit_code": code, "exceeded": told}))
    else:
        _show(watched, parameters["everything"])
    for each, count, most in exceeded:
        say(f"{each} was compiled {count} times, and at most {most} were allowed")
    if code is None:
        raise Interrupted("interrupted: what is told is what the program did until then")
    if code:
        raise NotFailing(f"{options.path} itself {_end(code)}: what is told is what it did until then")
    _check(watched, [name for name, _ in limits if name])
    return EXCEEDED if exceeded else 0


def _end(code: int) -> str:
    """How the program ended, by its exit code."""
    return f"ended with exit code {code}" if code > 0 else f"was ended by {signal.Signals(-code).name}"


def _check(watched: Report, names: Sequence[str]) -> None:
    """A limit for a function that is not there is a mistake: it would hold whatever happens."""
    known = dict.fromkeys(each.name for each in watched.functions if each.owner != "jax")
    for name in names:
        if not watched.named(name):
            there = ", ".join(list(known)[:_MOST_NAMES]) or "none"
            raise UsageError(f"--max: no function {name} was traced or compiled. Those that were: {there}")


def _limit(text: str) -> tuple[str, int]:
    """The name and the number of `[NAME:]N`."""
    name, _, count = text.rpartition(":")
    if not count.isdecimal():
        raise UsageError(f"--max must be [NAME:]N with a whole number N, not {text!r}")
    return name, int(count)


def _show(watched: Report, everything: bool) -> None:
    from jaxshrink.recompiles.table import rendered, table

    shown = watched.functions if everything else watched.worth_showing
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(rendered(watched, shown, is_brief=not everything))
    else:
        print(table(watched, shown, is_brief=not everything), end="")
