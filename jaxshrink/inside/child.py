"""The life of a candidate: sandbox, run, report, end."""

import atexit
import builtins
import gc
import json
import linecache
import os
import random
import sys
import threading
import time
import types

import abstract
import compiles
import report
import sandbox
import workdir
from leftovers import State, backend_started, tells_of_another

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIMIT = sys.getrecursionlimit()
_MOST_PROGRAMS = 64  # in one process: what JAX caches of them adds up
_kept = []  # our modules, once the program can no longer see them


def forked(spec, abstract_works):
    """What a child of the zygote does."""
    state = State()

    def life(request, path, told, channel):
        _settle(request, path, spec["cache"])
        if request["abstract"] and not abstract_works:
            told.append({"end": "unknown"})
        elif request["watch"] is not None:
            _watch(request["watch"], path, told)
        elif request["abstract"]:
            _trace_in_turn(request["text"], path, spec, told, state, channel)
        elif request["in_turn"]:
            _compute_in_turn(request["text"], path, spec["argv"], told, state, channel)
        else:
            channel.close()
            if spec["compiles"]:
                compiles.listen(told.compiled)
            _compute(request["text"], path, spec["argv"], told, spec["finish"])

    return life


def executed(spec):
    """What a child does that becomes a fresh interpreter."""
    coldrun = os.path.join(_HERE, "coldrun.py")

    def life(request, path, told, channel):
        os.set_inheritable(told.descriptor, True)
        os.nice(request["nice"])
        _confine(request, path, spec["out"])
        listens = str(int(spec["compiles"]))
        os.execv(sys.executable, [sys.executable, coldrun, str(told.descriptor), listens, path, *spec["argv"]])

    return life


def hide():
    """Take our modules out of the program's sight."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.abspath(file).startswith(_HERE + os.sep):
            _kept.append(sys.modules.pop(name))


def compiled(path, text=None):
    """The code of a program: of its file, or of a text that was made of this, which tracebacks then show."""
    if text is None:
        with open(path, "rb") as file:
            text = file.read()
    else:
        linecache.cache[path] = len(text), None, text.splitlines(True), path
    return compile(text, path, "exec", dont_inherit=True)


def run_main(code, path):
    """Run a program's code as the module `__main__`."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __cached__=None, __builtins__=builtins)
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def show(error):
    """Print an exception that left the program, as the interpreter does."""
    traceback = error.__traceback__
    while traceback is not None and os.path.dirname(traceback.tb_frame.f_code.co_filename) == _HERE:
        traceback = traceback.tb_next
    error.__traceback__ = traceback
    sys.excepthook(type(error), error, traceback)


def _settle(request, path, cache):
    os.nice(request["nice"])
    devnull = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2) if request["in_turn"] else (0,):
        os.dup2(devnull, descriptor)
    os.close(devnull)
    _confine(request, path, cache)
    workdir.enter(os.path.dirname(os.path.dirname(path)))


def _confine(request, path, other):
    """Let this process write to the folders of its run and, if there is one, to another."""
    sandbox.die_with(request["parent"])
    cpus = os.cpu_count() or 1 if request["sample"] else 1  # the limit is one of the clock
    programs = _MOST_PROGRAMS if request["in_turn"] else 1
    sandbox.limit_resources(request["limit"] * cpus * programs)
    sandbox.confine([os.path.dirname(os.path.dirname(path)), *([other] if other else [])])


def _compute(text, path, argv, told, finish):
    """Run a program for real, and end almost as an interpreter does, or just so if `finish`."""
    outcome, error = _run(text, path, argv)
    if error is not None:
        told.append(outcome)
    if finish:
        if error is not None:
            show(error)
        raise SystemExit(outcome["code"])  # through all that runs us: from there the interpreter comes to its end
    _end(outcome, error)


def _end(outcome, error):
    """End as an interpreter does, but for what takes it long."""
    if error is not None:
        _wait_for_devices()
    else:
        threading._shutdown()
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # closed or replaced by the program
    os._exit(outcome["code"])


def _watch(asked, path, told):
    """Observe, or capture, a run of the whole program, which lies in the working directory."""
    sys.path.insert(0, _HERE)
    out = workdir.observation(os.path.dirname(os.path.dirname(path)))
    if asked.get("capture"):
        import captured

        captured.tell({**asked, "out": out})
    else:
        import observe

        observe.observe({**asked, "abstract": True, "out": out})
    told.append({"end": "exit", "code": 0})


def _wait_for_devices():
    """What JAX still computes in the background, as the interpreter's end would: an endless loop hangs there."""
    if backend_started():
        used = None
        while used is None or time.process_time() - used > 0.003:
            used = time.process_time()
            time.sleep(0.006)


def _trace_in_turn(text, path, spec, told, state, channel):
    """Trace one program after another, as they come, until one leaves something behind that the next could notice."""
    compiled = []
    if spec["compiles"]:
        listener = compiles.listen(lambda *each: compiled.append(each), abstract.is_outermost)
    programs = channel.makefile("r", encoding="utf-8")
    state.enter(os.path.dirname(os.path.dirname(path)))
    for number in range(_MOST_PROGRAMS):
        text = _next(programs, path) if number else text
        if text is None:
            return
        if spec["compiles"]:
            listener.forget()
            compiled.clear()
        outcome, error = abstract.trace(lambda text=text: _run(text, path, spec["argv"]))
        if number and error is not None and tells_of_another(error):
            told.append(report.DECLINED)
            return
        if error is not None and abstract.is_artefact(error):
            outcome["end"] = "unknown"
        unchanged, modules = state.is_unchanged(), state.new_modules()
        outcome.update(reads=abstract.reads(), compiles=compiled[: report.MOST_COMPILES])
        told.append(dict(outcome, modules=modules if unchanged else []))
        if modules or not unchanged or number + 1 == _MOST_PROGRAMS:
            return
        channel.send(b"!")


def _compute_in_turn(text, path, argv, told, state, channel):
    """Run one program after another for real, as they come, until one leaves something behind, and that to its end."""
    programs = channel.makefile("r", encoding="utf-8")
    state.enter(os.path.dirname(os.path.dirname(path)))
    handlers, started = atexit._ncallbacks(), False
    for number in range(_MOST_PROGRAMS):
        text = _next(programs, path) if number else text
        if text is None:
            return
        outcome, error = _run(text, path, argv)
        if number and error is not None and tells_of_another(error):
            told.append(report.DECLINED)
            return
        told.append(outcome)
        _wait_for_devices()
        if backend_started() and not started:
            handlers, started = handlers + 1, True  # it has one of its own
        if number + 1 == _MOST_PROGRAMS or atexit._ncallbacks() > handlers or not state.is_unchanged():
            _end(outcome, error)
        del error  # with its frames, and all else that the program has made: there may be much of it
        sys.modules["__main__"] = types.ModuleType("__main__")
        gc.collect()
        channel.send(b"!")


def _next(programs, path):
    """The next program, which lies at the path now; None where there is no more."""
    text = json.loads(programs.readline() or "null")
    if text is not None:
        workdir.write(path, text)
        linecache.cache.pop(path, None)
    return text


def _run(text, path, argv):
    """How a program ends: its outcome, and the exception if that is what it ends with."""
    sys.argv[:] = [path, *argv]
    random.seed(0)
    sys.modules["numpy"].random.seed(0)
    try:
        code = compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return report.of_exception(error, path, end="syntax"), error
    sys.setrecursionlimit(_LIMIT + _depth())
    try:
        run_main(code, path)
    except SystemExit as error:
        return {"end": "exit", "code": report.exit_code(error)}, None
    except BaseException as error:
        return report.of_exception(error, path), error
    return {"end": "exit", "code": 0}, None


def _depth():
    """How deep the stack is here: as much deeper the program may go than the interpreter allows."""
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
