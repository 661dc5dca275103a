"""Programs of what was recorded."""

import ast
import collections

from .constants import Constants
from .needed import Needed, chain
from .writer import Writer

MOST_CALLS = 4000
"""A program of more calls is not written."""

Text = collections.namedtuple("Text", ["source", "notes", "data"])
"""A program, what of the original it does not express, and the arrays that it reads (by name)."""


class TooLong(Exception):
    """There are too many calls for a program."""


def failing(session, scope, fill="ones"):
    """The programs that may fail as the outermost call of a scope did, the smallest first.

    For each call that the error came through, with what it needs below it: what is out of its reach is replaced by
    ones. Before that the same with functions that only return ones. The last has the whole of the outermost call.
    """
    for call in chain(scope.calls[-1]):
        try:
            if any(not scope.is_failed for scope in call.scopes):
                yield text(session, [call], Needed([call], hollow=True), fill)
            yield text(session, [call], Needed([call]), fill)
        except TooLong:
            return


def outermost(session, scope, fill="ones"):
    """The program of the outermost call that failed. Raises TooLong."""
    call = scope.calls[-1]
    return text(session, [call], Needed([call]), fill)


def everything(session, scope, fill="ones"):
    """The program of all calls. Raises TooLong."""
    calls = [call for call in scope.calls if call.error is None or call is scope.failing]
    return text(session, calls, Needed(calls, everything=True), fill)


def text(session, calls, needed, fill):
    if len(needed.calls) > MOST_CALLS:
        raise TooLong
    constants = Constants(fill, session.public_name)
    writer = Writer(needed, constants, session.settings.made())
    source = ast.unparse(writer.program(calls)) + "\n"
    return Text(source, tuple(writer.notes), constants.data)
