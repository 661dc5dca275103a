"""The command `jaxshrink capture`: options become a call of `capturing`, its errors exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from jaxshrink.subcommands import SETTINGS, failed, run, say

SUFFIX = ".captured.py"


def main(own: Sequence[str], program: Sequence[str]) -> int:
    """Run the command with its own options and the program's. Returns the exit code."""
    interrupted = "interrupted before anything was captured"
    return run(command, own, lambda parameters: _capture(parameters, program), interrupted)


@click.command("capture", **SETTINGS)
@click.argument("program", metavar="PROGRAM [-- ARGS...]")
@click.option("-o", "--output", metavar="PATH",
              help="Where the captured program goes.  [default: PROGRAM with the suffix .captured.py]")  # fmt: skip
@click.option("--on-success", is_flag=True, help="Capture all of a program that need not fail.")
@click.option("--data", metavar="ones|integers|exact", help="What large arrays hold.  [default: what will do]")
@click.option("--python", metavar="PATH", help="Interpreter that runs the program.  [default: this one]")
@click.option("--env", metavar="NAME=VALUE", multiple=True, help="Environment of the program; repeatable.")
@click.option("--hang", metavar="S", type=float, help="It fails by not ending: it still runs after S seconds.")
@click.option("--force", is_flag=True, help="Replace an output that jaxshrink did not write.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
def command(**parameters: Any) -> None:
    """Run PROGRAM, and write the calls of JAX that failed as a program of their own, which fails in the same way."""


def _capture(parameters: dict[str, Any], arguments: Sequence[str]) -> int:
    from pathlib import Path

    from jaxshrink.capturing import capture
    from jaxshrink.options import Options, assignment
    from jaxshrink.result import brief

    path = Path(parameters["program"])
    output = Path(parameters["output"] or path.parent / (path.stem + SUFFIX))
    env = dict(assignment(each, "--env") for each in parameters["env"])
    python, force = parameters["python"], parameters["force"]
    hang = parameters["hang"]
    options = Options.of(
        path, {"output": output, "python": python, "env": env, "args": arguments, "force": force, "hang": hang}
    )
    found = capture(options, on_success=parameters["on_success"], data=parameters["data"])
    same = "ends well" if found.failure is None else f"fails with {brief(found.failure)}"
    if not parameters["quiet"]:
        for note in found.notes:
            say(f"not expressed: {note}")
    for mistake in found.mistakes:
        say(f"a mistake of jaxshrink's own, which may have made the program worse: {mistake}")
    if not found.holds:
        return _failed_to_hold(output, same)
    if not parameters["quiet"]:
        say(f"captured {output}, which {same}")
    return 0


def _failed_to_hold(output: Any, same: str) -> int:
    from jaxshrink.errors import Unreliable

    return failed(Unreliable(f"captured {output}, but it is not known that it {same}"))
