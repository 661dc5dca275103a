"""Mistakes of the recorder's own: they are told, and never become the program's."""

import collections
import traceback

MOST = 20
"""Mistakes that are kept: one that is made at all is made at many calls."""

Mistake = collections.namedtuple("Mistake", ["text", "trace"])
"""An error in a line, and with its traceback: the error itself would keep all that its frames hold."""


class Guard:
    """Runs what is done for the record alone."""

    def __init__(self):
        self.mistakes = []

    def __call__(self, default, fun, *args):
        """What a function gives, or the default where it raises."""
        try:
            return fun(*args)
        except Exception as error:
            self.tell(error)
            return default

    def tell(self, error):
        """Keep an error as a mistake, unless there is one like it."""
        text = in_a_line(error)
        if len(self.mistakes) < MOST and all(one.text != text for one in self.mistakes):
            trace = traceback.format_exception(type(error), error, error.__traceback__, chain=False)
            self.mistakes.append(Mistake(text, "".join(trace)))


def in_a_line(error):
    """The type of an error, and the first line of what it says."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
