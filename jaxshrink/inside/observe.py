"""One watched run of the user's program, told in a JSON file.

    python observe.py SPEC.json      in the target interpreter, in a copy of the program's folder

SPEC: `{"entry": "repro.py", "argv": [...], "out": path of the observation}`, and where they are wanted

- `"wake"`: the descriptor of a pipe. A byte that comes through it says that the time is up: what can be observed is
  written, and the run ends;
- `"deadly"`: `[[file, line], ...]` where the process may die. The observation is written before each statement of
  these functions, and of the main module;
- `"compiles"`: whether the outcome tells of compilations;
- `"match"`: a pattern. If the program ends well, the stack is that of the first warning which it matches;
- `"abstract"`: whether the run is an abstract one (see `abstract.py`). If it ends in what may come of that, the end is
  unknown;
- `"passed_over"`: `[[file, line], ...]` of statements that are left out;
- `"wait"`: whether arrays are waited for, so that the process does not die in a later statement.

The observation's format is that of `jaxshrink/observation.py`. The program runs as `python repro.py` would run it:
only the program's own files are instrumented, the libraries run as they are.
"""

import builtins
import json
import os
import re
import sys
import time
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
sys.path.insert(0, HERE)

import abstract
import callbacks
import compiles
import localmodules
import publicnames
import recorder
import render
import stack
import warned
from instrument import SNAPSHOT, Sites
from snapshots import Snapshots, flush

_OUR_FRAMES = re.compile(rf'^ *File "{re.escape(HERE)}[^"]*", line \d+, in .*\n(?:    .*\n)*', re.MULTILINE)
_LIBRARIES = ("jax", "jaxlib")


def main(spec_path):
    with open(spec_path, encoding="utf-8") as file:
        observe(json.load(file))


def observe(spec):
    """Run the program as the spec says, and write what is known of it. Ends the process if the run ended badly."""
    watched = Run(spec)
    snapshots = Snapshots(watched.observation, spec["out"])
    if spec.get("wake") is not None:
        snapshots.listen(spec["wake"])
    if spec.get("deadly") is not None:
        watched.recorder.sites.deadly = set(map(tuple, spec["deadly"]))
        setattr(builtins, SNAPSHOT, snapshots.before)
    if spec.get("compiles"):
        compiles.listen(lambda *compiled: watched.compiles.append(compiled))
    if spec.get("match") is not None:
        warned.listen(spec["match"], watched.warn)
    process = os.getpid()
    code = watched.execute()
    if os.getpid() != process:  # a child that the program forked
        sys.exit(code)
    sys.setrecursionlimit(max(1000, sys.getrecursionlimit()))
    snapshots.final(getattr(watched.exception, "__traceback__", None))
    if isinstance(watched.exception, SystemExit):
        sys.exit(code)
    if watched.exception is not None:  # its end is known: no need to wait for the libraries' teardown
        flush()
        os._exit(code)


class Run:
    """The program's run: before, while and after."""

    def __init__(self, spec):
        self.program = localmodules.Program(os.getcwd(), spec.get("passed_over", ()))
        self.path = self.program.folder + spec["entry"]
        self.argv = spec["argv"]
        self.is_abstract = spec.get("abstract", False)
        self.compiles = []  # (name, reason)
        self.exception = None
        self.warned = None  # what is known of the stack at a warning
        self.started = time.perf_counter()
        self.callbacks = callbacks.Callbacks()
        own, wait = _is_local(self.program), spec.get("wait", False)
        self.recorder = recorder.Recorder(Sites(), own, keep_containers=not self._checks_leaks(), wait=wait)

    def execute(self):
        """Run the program; its exit code."""
        self._prepare()
        self.started = time.perf_counter()
        return abstract.trace(self._executed) if self.is_abstract else self._executed()

    def _executed(self):
        try:
            self._run_main()
        except SystemExit as error:
            self.exception = error
            if not isinstance(error.code, (int, type(None))):
                print(error.code, file=sys.stderr)
            return self._exit_code()
        except BaseException as error:
            self.exception = error
            _hide_our_frames(error)
            traceback.print_exception(type(error), error, error.__traceback__)
            return 1
        return 0

    def warn(self, frame):
        """Remember where the program stands, with what is there now."""
        names = publicnames.PublicNames(self.program.is_module)
        renderer = render.Renderer(self.program, self.recorder, names)
        at = stack.Stack(stack.of_thread(frame), self.program, names)
        known = {
            "frames": at.user_frames(renderer),
            "transforms": at.transforms(),
            "library_calls": at.library_calls(renderer),
        }
        self.warned = known, renderer

    def observation(self, entries, ended):
        """What is known of the run when it has ended, or else as long as it stands where the stack's entries say."""
        seconds = time.perf_counter() - self.started
        names = publicnames.PublicNames(self.program.is_module)
        at, renderer = self.warned or ({}, render.Renderer(self.program, self.recorder, names))
        renderer.extend()
        failing = stack.Stack(entries, self.program, names)
        called_back = stack.Stack(stack.of_traceback(self.callbacks.traceback), self.program, names)
        outcome = self._outcome(failing) if ended else {"end": "unknown"}
        versions = {name: getattr(sys.modules.get(name), "__version__", None) for name in _LIBRARIES}
        return {
            "outcome": {**outcome, "frames": failing.frames(), "seconds": seconds, "compiles": self.compiles},
            "python": sys.version.partition(" ")[0],
            **versions,
            "modules": [
                {"name": name, "file": file, "package": package} for name, file, package in self.program.started
            ],
            "finished": self.recorder.finished,
            "lines": self.recorder.lines(),
            "frames": failing.user_frames(renderer),
            "called_back": called_back.user_frames(renderer),
            "transforms": failing.transforms(),
            "library_calls": failing.library_calls(renderer),
            "values": list(self._values(renderer)),
            "objects": renderer.objects,
            **({} if entries else at),
        }

    def _prepare(self):
        """The state in which `python entry` finds itself; our own modules are out of sight."""
        self.recorder.install()
        self.callbacks.install()
        sys.path[0] = self.program.folder.rstrip(os.sep)
        for module in [name for name, one in sys.modules.items() if _file_folder(one) == HERE]:
            _KEPT.append(sys.modules.pop(module))
        sys.argv[:] = [self.path, *self.argv]
        sys.meta_path.insert(0, localmodules.Finder(self.program, self.recorder))

    def _run_main(self):
        main = types.ModuleType("__main__")
        main.__dict__.update(__file__=self.path, __builtins__=builtins, __cached__=None)
        sys.modules["__main__"] = main
        with open(self.path, "rb") as file:
            source = file.read()
        code = localmodules.compile_instrumented(source, self.path, "__main__", self.program, self.recorder)
        self.program.start("__main__", self.path)
        exec(code, main.__dict__)

    def _values(self, renderer):
        """The recorded expressions whose value can be told."""
        for site, span in enumerate(self.recorder.sites.values):
            value = self.recorder.value(site)
            if value is recorder.Nothing:
                continue
            index = renderer.ref(value)
            if not renderer.is_opaque(index):
                yield {**dict(zip(("file", "line", "column", "end_line", "end_column"), span)), "value": index}

    def _outcome(self, failing):
        error = self.exception
        if error is None or isinstance(error, SystemExit):
            return {"end": "exit", "code": self._exit_code()}
        end = "syntax" if isinstance(error, SyntaxError) and not failing.entries else "exception"
        end = "unknown" if self.is_abstract and abstract.is_artefact(error) else end
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
        return {"end": end, "type": name, "message": _message(error), "code": 1}

    def _exit_code(self):
        """As the interpreter takes it from SystemExit."""
        code = getattr(self.exception, "code", None)
        if code is None:
            return 0
        return code & 0xFF if isinstance(code, int) else 1

    def _checks_leaks(self):
        """Whether the run looks for leaked tracers: then no container that may hold some is kept."""
        if os.environ.get("JAX_CHECK_TRACER_LEAKS", "").lower() in ("1", "true", "t", "yes", "on", "y"):
            return True
        try:
            with open(self.path, "rb") as file:
                text = file.read()
        except OSError:
            return False
        return b"check_tracer_leaks" in text or b"checking_leaks" in text


_KEPT = []  # our modules, out of sys.modules


def _is_local(program):
    """Whether a class or function is the program's own."""

    def own(thing):
        if type(thing) is types.FunctionType:
            return program.relative(thing.__code__.co_filename) is not None
        return issubclass(type(thing), type) and program.is_module(thing.__module__)

    return own


def _file_folder(module):
    file = getattr(module, "__file__", None)
    return os.path.dirname(os.path.abspath(file)) if isinstance(file, str) else None


def _hide_our_frames(error):
    """Take our frames from the tracebacks of an exception and of those that it came from."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        entry = error.__traceback__
        while entry is not None and os.path.dirname(entry.tb_frame.f_code.co_filename) == HERE:
            entry = entry.tb_next
        error.__traceback__ = entry
        error = error.__cause__ or error.__context__


def _message(error):
    """The message; tracebacks in it (of callbacks) show no frames of ours."""
    try:
        return _OUR_FRAMES.sub("", str(error))
    except BaseException as problem:
        return f"<{type(problem).__name__} while making the message>"


if __name__ == "__main__":
    main(sys.argv[1])
