"""Exceptions in functions that JAX calls back: compiled code turns them into text, only JAX's log still has them.

Runs in the target interpreter.
"""

import logging

_LOGGERS = ("jax._src.callback", "jax._src.debugging")


class Callbacks:
    """Listens to JAX's log. `traceback`: the last one that it told of, None at first."""

    def __init__(self):
        self.traceback = None

    def install(self):
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self.filter)

    def filter(self, record):
        """What a logger asks of each record; lets all of them through."""
        if record.exc_info:
            self.traceback = record.exc_info[2]
        return True
