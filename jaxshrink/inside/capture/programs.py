"""Programs of what was recorded."""

import ast
import collections
import contextlib

from .constants import Constants
from .needed import Needed, chain, suspects
from .unrun import traced
from .writer import Writer

MOST_CALLS, MOST_INNER = 10_000, 4_000
"""A program of more calls is not written; the same where there are many programs."""

LEVELS, SUSPECTS = 3, 24
"""Calls that the error came through, and calls in the functions of each, that are tried as what it is about."""

Text = collections.namedtuple("Text", ["source", "notes", "data"])
"""A program, what of the original it does not express, and the arrays that it reads (by name)."""


class TooLong(Exception):
    """There are too many calls for a program."""


_TOO_LONG = f"more than {MOST_CALLS} calls are needed"


def failing(session, scope, fill="ones"):
    """The programs that may fail as the outermost call of a scope did, the smallest first.

    For each call that the error came through, with what it needs below it: what is out of its reach is replaced by
    ones. Before that the same where functions that ended well only return ones, and where also those that did not
    compute nothing for the call that failed. Last come those where one of the calls in a function stands for all of it.
    """
    for call in chain(scope.calls[-1]):
        try:
            if call.scopes:
                yield text(session, [call], Needed([call], skeleton=True), fill, MOST_INNER)
                yield text(session, [call], Needed([call], hollow=True), fill, MOST_INNER)
            yield text(session, [call], Needed([call]), fill, MOST_INNER)
        except TooLong:
            break
    for call in chain(scope.calls[-1])[:LEVELS]:
        for where, suspect in suspects(call)[:SUSPECTS]:
            yield text(session, [call], Needed([call], skeleton=True, only=(where, suspect)), fill)


def valued(session, scope):
    """The programs of the calls that the error came through with numbers that may do as the real ones did.

    None that would read them from a file.
    """
    for call in chain(scope.calls[-1]):
        for fill in ("integers", "exact"):
            with contextlib.suppress(TooLong):
                found = text(session, [call], Needed([call]), fill, MOST_INNER)
                if not found.data:
                    yield found


def outermost(session, scope, fill="ones"):
    """The program of the outermost call that failed; or of the next within it, where that is too long.

    Raises TooLong where all are.
    """
    notes = ()
    for call in reversed(chain(scope.calls[-1]) or scope.calls[-1:]):
        with contextlib.suppress(TooLong):
            found = text(session, [call], Needed([call]), fill)
            return found._replace(notes=(*found.notes, *notes))
        notes = (f"what is around the call that failed, as that needs more than {MOST_CALLS} calls",)
    raise TooLong(_TOO_LONG)


def everything(session, scope, fill="ones"):
    """The program of all calls. Raises TooLong."""
    calls = [call for call in scope.calls if call.error is None or call is scope.failing]
    unrun = traced(session, calls)
    found = text(session, calls, Needed(calls, everything=True), fill)
    return found._replace(notes=(*found.notes, *unrun))


def text(session, calls, needed, fill, most=MOST_CALLS):
    """The program of calls, with what they need. Raises TooLong."""
    if len(needed.calls) > most:
        raise TooLong(_TOO_LONG)
    constants = Constants(fill, session.public_name)
    writer = Writer(needed, constants, session.settings.made())
    source = ast.unparse(writer.program(calls)) + "\n"
    return Text(source, tuple(writer.notes), constants.data)
