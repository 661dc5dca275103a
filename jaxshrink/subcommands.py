"""What the commands beside the main one share: settings, an exit code for each way to end, errors in a sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from jaxshrink.errors import Interrupted, JaxshrinkError, UsageError

SETTINGS: dict[str, Any] = {
    "options_metavar": "[OPTIONS]",
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
    "epilog": "Arguments of the program itself come after `--`.",
}
"""How such a command is declared."""


def run(command: click.Command, own: Sequence[str], act: Callable[[dict[str, Any]], int], interrupted: str) -> int:
    """Do what `act` does with the values of a command's options, as they stand in `own`. Returns the exit code.

    `interrupted` is what is said after Ctrl-C, where `act` does not say more.
    """
    try:
        with command.make_context(f"jaxshrink {command.name}", list(own)) as context:
            return act(context.params)
    except click.exceptions.Exit as answered:  # --help
        return answered.exit_code
    except click.ClickException as error:
        return failed(UsageError(error.format_message().rstrip(".")))
    except JaxshrinkError as error:
        return failed(error)
    except KeyboardInterrupt:
        return failed(Interrupted(interrupted))
    except Exception as error:
        from jaxshrink.crash import internal_error

        return failed(internal_error(error))


def say(text: str) -> None:
    """Tell the user something, on stderr."""
    if sys.stderr is not None:
        print(f"jaxshrink: {text}", file=sys.stderr)


def failed(error: JaxshrinkError) -> int:
    """Tell of an error. Returns its exit code."""
    say(f"error: {error}")
    return error.exit_code
