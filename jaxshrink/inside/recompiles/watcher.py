"""Notes the calls of jitted functions that JAX traces or compiles.

A note is a dictionary, of plain values: `{"name", "defined", "owner", "at", "within", "signature", "traced",
"compiled", "seconds": {"trace", "lower", "compile"}, "outermost", "cleared", "programs", "cached"}`. `defined` and `at`
are "path:line"; `signature` is as `signature.take` makes it; `traced` is whether the Python function ran, `compiled`
the number of programs that were compiled in this call, without those of functions that it calls. Seconds of tracing
include the functions that are traced within, not what is compiled meanwhile; `outermost` tells the calls that are not
within another. `cleared` counts the times that JAX's caches were cleared before, `programs` what was compiled before at
all, `cached` programs that came from the persistent cache on disk. What `differences.explain` says of it is in there
too, and the `number` of the note among those of its function. JAX's own functions are noted where they are compiled
only, and count as one for each line of the program.
"""

import threading
import time

from . import hooks, signature
from .differences import explain
from .identity import Identities
from .places import caller, definition

_SECONDS = {
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_TRACED = "/jax/core/compile/jaxpr_trace_duration"
_FROM_DISK = "/jax/compilation_cache/cache_retrieval_time_sec"
_HELD_BACK = 200
"""So many calls that were traced and not run are kept in mind, for when they are compiled."""


class _Call:
    """A call under way. `given` is what JAX looks it up with, `trace` how long tracing took.

    `program` is (name, arguments) of what JAX runs without a call: the backward pass of a jitted function.
    """

    __slots__ = ("given", "note", "program", "trace")

    def __init__(self, given=None, program=None):
        self.given, self.program, self.note, self.trace = given, program, None, None

    @property
    def is_known(self):
        return self.given is not None or self.program is not None

    @property
    def parts(self):
        """(function, options, args, kwargs); older versions have the function among the options."""
        *first, args, kwargs = self.given
        info = first[-1]
        return (first[0] if len(first) > 1 else info.fun), info, args, kwargs


class _Thread(threading.local):
    def __init__(self):
        self.calls = []  # under way, innermost last
        self.spent = 0.0  # seconds in lowering and compiling
        self.last = None  # the call that was traced, or looked up, last
        self.mapped = None  # the last one of pmap, which has no end


class Watcher:
    """Notes calls between `begin` and `end`; `notes` has them in the order in which they were noted.

    `hear(note, step)` is called when a function was traced, or compiled: steps "trace" and "compile".
    """

    def __init__(self, hear=lambda note, step: None):
        self.hear = hear
        self.thread = _Thread()
        self.forget()

    def forget(self):
        """What comes is another program."""
        self.notes = []
        self.identities = Identities()
        self.cleared = self.programs = 0
        self.functions = {}  # (name, defined, line or None) -> notes
        self.known = {}  # name -> the note of the function that was noted last under it
        self.ahead = {}  # id of a note -> note, of calls that were traced and not run

    def begin(self):
        """Raises `hooks.MissingHook` where this version of JAX cannot be watched."""
        hooks.begin(self)

    def end(self):
        hooks.end(self)

    def tracing(self, infer, given, named):
        """In place of what looks a call up, and traces it where it is new."""
        calls = self.thread.calls
        is_own = not calls or calls[-1].given is not None
        call = _Call() if is_own else calls[-1]
        call.given = given
        if is_own:
            calls.append(call)
        before, start = hooks.misses(), time.perf_counter() - self.thread.spent
        try:
            result = infer(*given, **named)
            if hooks.misses() != before:
                self._traced(call, time.perf_counter() - self.thread.spent - start)
        finally:
            if is_own:
                calls.pop()
        self.thread.last = call
        return result

    def running(self, run, given, named):
        """In place of what compiles a call, and runs it; in older versions it looks it up too."""
        last, self.thread.last = self.thread.last, None
        is_looked_up = last is not None and len(given) > 1 and last.given[-2] is given[-2]
        call = last if is_looked_up else _Call()
        self.thread.calls.append(call)
        try:
            return run(*given, **named)
        finally:
            self.thread.calls.pop()
            self.thread.last = None
            self.ahead.pop(id(call.note), None)

    def preparing(self, prepare, given, named):
        """In place of what takes the arguments of a call of pmap apart, in older versions."""
        fun, args, kwargs = given[0], given[-2], given[-1]
        self.thread.mapped = _Call((fun, None, args, kwargs))
        return prepare(*given, **named)

    def executing(self, execute, given, named):
        """In place of what compiles and runs a program, within a call or without one."""
        calls = self.thread.calls
        if calls or "name" not in named:
            return execute(*given, **named)
        calls.append(_Call(program=(named["name"], given)))
        try:
            return execute(*given, **named)
        finally:
            calls.pop()

    def clearing(self, clear, given, named):
        self.cleared += 1
        return clear(*given, **named)

    def event(self, event, seconds, name):
        """A step of JAX in this thread has ended."""
        step = _SECONDS.get(event)
        if event == _TRACED:
            if not self.thread.calls and self.thread.mapped is not None:
                self._traced(self.thread.mapped, seconds)
            return
        note = self._current(name) if step or event == _FROM_DISK else None
        if note is None:
            return
        if step is None:
            note["cached"] += 1
            return
        self.thread.spent += seconds
        note["seconds"][step] += seconds
        if step == "compile":
            note["compiled"] += 1
            self.programs += 1
            self.hear(note, step)

    def _current(self, name):
        """The note of the call that is under way; where none is, of the one that was traced last under this name."""
        calls, mapped, name = self.thread.calls, self.thread.mapped, _plain(name)
        if calls:
            return self._noted(calls[-1]) if calls[-1].is_known else None
        if mapped is not None and name in ("", definition(mapped.parts[0])[0]):
            return self._noted(mapped)
        ahead = [note for note in list(self.ahead.values()) if name in ("", note["name"])]
        return ahead[-1] if ahead else None

    def _traced(self, call, seconds):
        call.trace = seconds
        if definition(call.parts[0])[2] != "jax":  # these come in crowds, and cost as good as nothing
            note = self._noted(call)
            self.ahead[id(note)] = note
            for each in list(self.ahead)[:-_HELD_BACK]:  # other threads are at it too
                self.ahead.pop(each, None)
            self.hear(note, "trace")

    def _noted(self, call):
        if call.note is None and call.program is not None:
            call.note = self._backward(*call.program)
        elif call.note is None:
            defined, taken = self._taken(call)
            call.note = self._note(*defined, taken)
            self.known[call.note["name"]] = call.note
        if call.trace is not None:
            call.note["traced"], call.note["seconds"]["trace"] = True, call.trace
        return call.note

    def _taken(self, call):
        try:
            return signature.take(self.identities, *call.parts)
        except Exception as problem:  # of the program's own classes, whose run is not to be disturbed
            return definition(call.parts[0]), signature.nothing(f"{type(problem).__name__}: {problem}")

    def _backward(self, name, args):
        forward = self.known.get(_plain(name), {"name": _plain(name), "defined": "", "owner": "jax", "signature": None})
        taken = signature.of_program(self.identities, forward["signature"], args)
        return self._note(forward["name"], forward["defined"], forward["owner"], taken)

    def _note(self, name, defined, owner, taken):
        at, within = caller()
        note = {
            "name": name, "defined": defined, "owner": owner, "at": at, "within": within, "signature": taken,
            "traced": False, "compiled": 0, "seconds": {"trace": 0.0, "lower": 0.0, "compile": 0.0},
            "outermost": len(self.thread.calls) <= 1, "cleared": self.cleared,
            "programs": self.programs, "cached": 0,
        }  # fmt: skip
        earlier = self.functions.setdefault((name, defined, at if owner == "jax" else None), [])
        explain(note, earlier)
        earlier.append(note)
        self.notes.append(note)
        return note


def _plain(name):
    """The name of a function as its events tell it: `f` or `jit(f)`, empty in older versions."""
    return (name or "").partition("(")[2].rstrip(")") or name or ""

