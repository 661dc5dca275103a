"""Observations of a run that does not come to its end: written while it still goes on.

Runs in the target interpreter.
"""

import _thread
import contextlib
import json
import os
import signal
import sys
import threading
import time

import stack

_MOST_SECONDS = 2.0
_MOST_OF_THE_RUN = 0.3
_IN_TURN = 1e-4  # seconds for which a busy thread keeps the interpreter from us
_LAST_WORDS = 0.3


class Snapshots:
    """Writes observations of a run to one file, each in place of the last, so that there is always a whole one.

    `observe(entries, ended)` makes them: of a run that has ended, or of one that stands where the entries say.
    """

    def __init__(self, observe, path):
        self.observe, self.path = observe, path
        self.process, self.main, self.lock = os.getpid(), threading.get_ident(), threading.Lock()
        self.ended = False
        self.started = time.perf_counter()
        self.spent = {True: 0.0, False: 0.0}

    def final(self, traceback):
        """The observation of a run that has ended, by an exception or without one."""
        self.ended = True
        with self.lock:
            self._write(stack.of_traceback(traceback), ended=True)

    def before(self, expected):
        """What instrumented code calls before a statement in which the process may die: `expected` to, or just so."""
        began = time.perf_counter()
        most = max(_MOST_SECONDS, _MOST_OF_THE_RUN * (began - self.started))
        if self.spent[expected] > most or os.getpid() != self.process or not self.lock.acquire(False):
            return
        try:
            self._write(stack.of_thread(sys._getframe(1)))
        finally:
            self.lock.release()
            self.spent[expected] += time.perf_counter() - began

    def listen(self, pipe):
        """Wait in the background for a word through a pipe: then tell where the main thread stands, and abort.

        So the last words are those of faulthandler.
        """
        os.set_inheritable(pipe, False)
        _thread.start_new_thread(self._wait, (pipe,))

    def _wait(self, pipe):
        try:
            word = os.read(pipe, 1)
        except OSError:  # the program has closed all files
            word = b""
        if not word:
            return
        sys.setswitchinterval(_IN_TURN)
        with self.lock:
            if not self.ended:
                self._write(stack.of_thread(sys._current_frames().get(self.main)))
        flush()
        os.kill(os.getpid(), signal.SIGABRT)
        time.sleep(_LAST_WORDS)
        os._exit(1)

    def _write(self, entries, ended=False):
        temporary = self.path + ".part"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(self.observe(entries, ended), file)
        os.replace(temporary, self.path)


def flush():
    """Write out what the program has printed."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):  # closed by the program
            stream.flush()
