"""Runs a program as `python PROGRAM ARGUMENTS` would, and writes what JAX traced and compiled.

    python recompilesrun.py SPEC.json

SPEC: `{"program": path, "argv": [...], "out": path, "text": text}`, with None for a text that is the file's own. What
is written, as it happens, are lines of JSON: `[number, note]`, of which the last one with a number holds, with notes as
`recompiles.watcher` makes them; `{"problem": text}` says why there are none. It ends as the program does.
"""

import json
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
sys.path.insert(0, HERE)

from child import compiled, hide, run_main, show
from recompiles.hooks import MissingHook
from recompiles.watcher import Watcher
from recompiles.whenimported import when_imported


class Log:
    """Notes on disk while the program runs: they are there also where it is killed, or leaves without a word.

    Processes that are forked off have notes of their own, which are not told.
    """

    def __init__(self, path, watcher):
        self.watcher, self.process, self.lock = watcher, os.getpid(), threading.Lock()
        self.file = open(path, "a", encoding="utf-8")
        self.written = {}  # number of a note -> what was written of it

    def hear(self, note, step=None):
        notes = self.watcher.notes
        self.write(next(number for number in reversed(range(len(notes))) if notes[number] is note))

    def write(self, number):
        line = json.dumps([number, self.watcher.notes[number]])
        if self.written.get(number) != hash(line):
            self.written[number] = hash(line)
            self.tell(line)

    def tell(self, line):
        if os.getpid() == self.process:
            with self.lock:
                self.file.write(line + "\n")
                self.file.flush()

    def finish(self):
        """Write what has changed since it was written."""
        for number in range(len(self.watcher.notes)):
            self.write(number)


class Run:
    """One watched run."""

    def __init__(self, spec):
        self.spec, self.path = spec, os.path.abspath(spec["program"])
        self.watcher = Watcher()
        self.log = Log(spec["out"], self.watcher)
        self.watcher.hear = self.log.hear

    def execute(self):
        """Run the program; its exit code."""
        sys.path[0] = os.path.dirname(self.path)
        sys.argv[:] = [self.spec["program"], *self.spec["argv"]]
        hide()
        when_imported("jax", self.begin)
        try:
            run_main(compiled(self.path, self.spec["text"]), self.path)
        except SystemExit:
            raise
        except BaseException as error:
            show(error)
            return 1
        finally:
            self.log.finish()
        return 0

    def begin(self):
        try:
            self.watcher.begin()
        except MissingHook as missing:
            self.log.tell(json.dumps({"problem": str(missing)}))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as spec:
        run = Run(json.load(spec))
    sys.exit(run.execute())
