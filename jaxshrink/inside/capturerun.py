"""Runs a program as `python PROGRAM ARGUMENTS` would, and writes what it captured of it.

    python capturerun.py SPEC.json

SPEC: `{"program": path, "argv": [...], "out": path, "on_success": bool, "fills": ["ones", ...], "text": text}`, with
None for a text that is the file's own. What is written, and again whenever there is more to tell (the process may die),
is `{"outcome": ..., "programs": [...], "mistakes": [...]}`: an outcome as `report` tells it, None as long as the
program runs, and for each way to fill arrays `{"fill", "source", "notes", "data"}`, `data` being the path of an .npz
file or None; or `{"problem": ...}` where it cannot be written. The mistakes are capture's own.
"""

import functools
import itertools
import json
import os
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
sys.path.insert(0, HERE)

from capture import programs, recorder, surface
from capture.calls import Scope
from capture.failures import before_compiling, causes
from capture.failures import hide as hide_frames
from capture.guard import in_a_line
from child import compiled, hide, run_main
from report import exit_code, of_exception

LATE = ("JaxRuntimeError", "XlaRuntimeError")
"""Errors that may come when a result is read."""

MOST = 12
"""Programs of what failed within the outermost call."""


class Run:
    """One run under a recording session."""

    def __init__(self, spec):
        self.spec, self.path = spec, os.path.abspath(spec["program"])
        self.session = recorder.Session()
        self.session.failed = self.failed
        self.failures = []
        self.latest = []  # what is computed last, as its error may come when the result is read

    def execute(self):
        """Run the program; its exit code."""
        sys.path[0] = os.path.dirname(self.path)
        sys.argv[:] = [self.spec["program"], *self.spec["argv"]]
        hide()
        surface.install(self.session, self.installed)
        self.session.top = Scope() if self.spec["on_success"] else None
        self.session.is_on = True
        try:
            run_main(compiled(self.path, self.spec["text"]), self.path)
        except SystemExit as error:
            self.ended({"end": "exit", "code": exit_code(error)}, None)
            raise
        except BaseException as error:
            self.session.raised(error)
            self.ended(of_exception(error, self.path), error)
            hide_frames(error, HERE)
            _filter(error)
            show = traceback.print_exception if self.spec["text"] is not None else sys.excepthook
            show(type(error), error, error.__traceback__)
            return 1
        self.ended({"end": "exit", "code": 0}, None)
        return 0

    def installed(self):
        if not self.spec["on_success"]:
            before_compiling(self.session, self.compiling)

    def failed(self, scope, error):
        self.failures.append((scope, error))

    def compiling(self, scope):
        """What may be the last words of a process that dies in the compiler, or in the computation."""
        self.latest = [(fill, functools.cache(make)) for fill, make in self.filled(programs.outermost, scope)[:1]]
        self.write(None, self.latest)

    def ended(self, outcome, error):
        self.session.is_on = False
        if self.session.top is not None:
            self.session.top.error = error
            self.write(outcome, self.filled(programs.everything, self.session.top))
            return
        scope = next((scope for scope, each in reversed(self.failures) if each in causes(error)), None)
        if scope is not None:
            self.write(outcome, [*self.filled(programs.outermost, scope), *self.inner(scope)])
        else:
            self.write(outcome, self.latest if type(error).__name__ in LATE else [])

    def filled(self, program, scope):
        """The program with each way to fill arrays."""
        return [(fill, lambda fill=fill: program(self.session, scope, fill)) for fill in self.spec["fills"]]

    def inner(self, scope):
        """What failed within the outermost call, the largest first: for where that as a whole does not fail again."""
        found = []
        try:
            found.extend(itertools.islice(programs.failing(self.session, scope), MOST))
        except Exception as mistake:  # there are others
            self.session.guard.tell(mistake)
        return [("ones", lambda text=text: text) for text in sorted(found, key=lambda text: -len(text.source))]

    def write(self, outcome, made):
        """Write the outcome, and the programs that are made: (fill, function that gives the text)."""
        told = []
        for fill, make in made:
            try:
                told.append(self.told(fill, make()))
            except programs.TooLong as problem:
                told.append({"problem": str(problem)})
            except Exception as mistake:  # the program's own end is not to be disturbed
                self.session.guard.tell(mistake)
                told.append({"problem": in_a_line(mistake)})
        part = self.spec["out"] + ".part"
        with open(part, "w", encoding="utf-8") as file:
            json.dump({"outcome": outcome, "programs": told, "mistakes": self.mistakes()}, file)
        os.replace(part, self.spec["out"])

    def mistakes(self):
        """What capture itself has done wrong, each once."""
        return [one.text for one in self.session.mistakes]

    def told(self, fill, text):
        data = None
        if text.data:
            data = f"{self.spec['out']}.{fill}.npz"
            sys.modules["numpy"].savez(data, **text.data)
        return {"fill": fill, "source": text.source, "notes": text.notes, "data": data}


def _filter(error):
    """Show the traceback as JAX does: its own frames are in it only because they tell where the error was raised."""
    util = sys.modules.get("jax._src.traceback_util")
    if os.environ.get(ASKED) is None and hasattr(util, "filter_traceback"):
        error.__traceback__ = util.filter_traceback(error.__traceback__)


ASKED = "JAXSHRINK_TRACEBACK_FILTERING"
"""How the user wants tracebacks, if at all."""

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as spec:
        run = Run(json.load(spec))
    sys.exit(run.execute())
