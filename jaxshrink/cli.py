"""The command: options become a call of the API, its errors exit codes. stdout gets the program or the JSON only."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from jaxshrink import __version__
from jaxshrink.errors import Interrupted, JaxshrinkError, UsageError

if TYPE_CHECKING:
    from jaxshrink.options import Given
    from jaxshrink.progress import Progress
    from jaxshrink.result import Result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or those of the process. Returns the exit code."""
    start = time.monotonic()
    own, program = _split(sys.argv[1:] if arguments is None else arguments)
    if own[:1] == ["capture"]:
        from jaxshrink.capturecli import main as capture

        return capture(own[1:], program)
    if own[:1] == ["recompiles"]:
        from jaxshrink.recompilescli import main as recompiles

        return recompiles(own[1:], program)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # temporary files are removed
    try:
        with command.make_context("jaxshrink", list(own)) as context:
            result = _reduce(context.params, program)
    except click.exceptions.Exit as answered:  # --help and the like
        return answered.exit_code
    except click.ClickException as error:
        return _failed(UsageError(error.format_message().rstrip(".")), own, start)
    except JaxshrinkError as error:
        return _failed(error, own, start)
    except KeyboardInterrupt:
        return _failed(Interrupted("interrupted before there was a result"), own, start)
    except Exception as error:
        from jaxshrink.crash import internal_error

        return _failed(internal_error(error), own, start)
    _print(_report(result) if "--json" in own else result.source or "")
    return 0


def _list_passes(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from jaxshrink.passes import PASSES

    width = max(len(each.name) for each in PASSES)
    _print("".join(f"{each.name:{width}}  {each.summary}\n" for each in PASSES))
    context.exit()


@click.command(
    options_metavar="[OPTIONS]",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
    epilog="Arguments of the program itself come after `--`.",
)
@click.argument("repro", metavar="REPRO [-- ARGS...]")
@click.option("-o", "--output", metavar="PATH", help="Where the result goes.  [default: REPRO with the suffix .min.py]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the program.")
@click.option("--python", metavar="PATH", help="Interpreter that runs the program.  [default: this one]")
@click.option("--env", metavar="NAME=VALUE", multiple=True, help="Environment of the program; repeatable.")
@click.option("--same", metavar="type|site|message|exact", default="site", help="What of the failure must stay.")
@click.option("--match", metavar="REGEX", help="The message must match this instead.")
@click.option("--test", metavar="COMMAND", help="Interesting is what this exits with code 0 for instead.")
@click.option("--hang", metavar="S", type=float, help="It fails by not ending: it still runs after S seconds.")
@click.option("--recompiles", metavar="[NAME:]N", help="It fails by compiling a function N times or more.")
@click.option("--repeat", metavar="N", type=int, help="Run what fails by chance so often before it counts as good.")
@click.option("--passes-with", metavar="NAME=VALUE", multiple=True,
              help="Environment in which it does not fail; repeatable.")  # fmt: skip
@click.option("--passes-on", metavar="PYTHON", help="Interpreter with which it does not fail.")
@click.option("--no-control", is_flag=True, help="Do not look for a setting in which wrong numbers are right.")
@click.option("--keep-frameworks", is_flag=True, help="Do not put calls of JAX in place of Flax and the like.")
@click.option("--jobs", metavar="N", type=int, help="Parallel candidates.  [default: the usable CPUs]")
@click.option("--timeout", metavar="S", type=float, help="Longest that a candidate may run, in seconds.")
@click.option("--memory", metavar="GIB", type=float, help="A candidate that takes more memory is killed.")
@click.option("--time-limit", metavar="S", type=float, help="Stop after so many seconds and keep the best.")
@click.option("--tier", metavar="abstract|warm|cold", help="Cheapest kind of run allowed.  [default: what agrees]")
@click.option("--also", metavar="stablehlo", multiple=True, help="Write what the result lowers beside it.")
@click.option("--force", is_flag=True, help="Replace an output that jaxshrink did not write.")
@click.option("--list-passes", is_flag=True, is_eager=True, expose_value=False, callback=_list_passes,
              help="List the passes and exit.")  # fmt: skip
@click.option("--only-pass", metavar="NAME", multiple=True, help="Use no pass but these; repeatable.")
@click.option("--skip-pass", metavar="NAME", multiple=True, help="Do not use this pass; repeatable.")
@click.option("--resume", is_flag=True, help="Go on from where an interrupted run with the same options was.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Tell of every step.")
@click.version_option(__version__, prog_name="jaxshrink")
def command(**parameters: Any) -> None:
    """Reduce REPRO, a Python file that fails with JAX, to the smallest program that fails in the same way."""


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and those of the program behind `--`."""
    arguments = list(arguments)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end + 1 :]


def _reduce(parameters: dict[str, Any], arguments: Sequence[str]) -> Result:
    from jaxshrink.delivery import deliver
    from jaxshrink.options import Given, Options, assignment

    given = {name: value for name, value in parameters.items() if name in Given.__optional_keys__}
    passes_with = dict(assignment(each, "--passes-with") for each in parameters["passes_with"])
    given |= {"args": arguments, "env": dict(map(assignment, parameters["env"])), "passes_with": passes_with}
    options = Options.of(parameters["repro"], cast("Given", given))
    with _progress(parameters["quiet"], parameters["verbose"]) as progress:
        return deliver(options, progress)


def _progress(quiet: bool, verbose: bool) -> Progress:
    from jaxshrink.progress import Lines, Live, Progress

    if quiet or sys.stderr is None:
        return Progress()
    live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return (Live if live else Lines)(sys.stderr, verbose)


def _failed(error: JaxshrinkError, own: Sequence[str], start: float) -> int:
    """Tell of an error, on stdout too where JSON is wanted."""
    if sys.stderr is not None:
        print(f"jaxshrink: error: {error}", file=sys.stderr)
    if "--json" in own:
        from jaxshrink.result import Result, Stats

        known = error.result or Result(error.status, str(error), stats=Stats(seconds=time.monotonic() - start))
        _print(_report(dataclasses.replace(known, status=error.status, message=str(error))))
    return error.exit_code


def _report(result: Result) -> str:
    return json.dumps(result.to_json()) + "\n"


def _print(text: str) -> None:
    """To stdout, as UTF-8 whatever the locale; a reader that has gone away is no error."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
