"""Runs a program as `python PROGRAM ARGUMENTS` would, and writes what JAX traced and compiled.

    python recompilesrun.py SPEC.json

SPEC: `{"program": path, "argv": [...], "out": path, "text": text}`, with None for a text that is the file's own. What
is written when the program ends is `{"notes": [...], "problem": text}`: notes as `recompiles.watcher` makes them, and
why there are none, which is empty where all is well. It ends as the program does.
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
sys.path.insert(0, HERE)

from child import compiled, hide, run_main, show
from recompiles.hooks import MissingHook
from recompiles.watcher import Watcher
from recompiles.whenimported import when_imported


class Run:
    """One watched run."""

    def __init__(self, spec):
        self.spec, self.path = spec, os.path.abspath(spec["program"])
        self.watcher, self.problem = Watcher(), ""

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
            self.write()
        return 0

    def begin(self):
        try:
            self.watcher.begin()
        except MissingHook as missing:
            self.problem = str(missing)

    def write(self):
        part = self.spec["out"] + ".part"
        with open(part, "w", encoding="utf-8") as file:
            json.dump({"notes": self.watcher.notes, "problem": self.problem}, file)
        os.replace(part, self.spec["out"])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as spec:
        run = Run(json.load(spec))
    sys.exit(run.execute())
