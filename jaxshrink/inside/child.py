"""The life of a candidate: sandbox, run, report, end."""

import atexit
import os
import sys
import threading
import types

import abstract
import report
import sandbox
import workdir

_HERE = os.path.dirname(os.path.abspath(__file__))
_kept = []  # our modules, once the program can no longer see them


def forked(spec, checked):
    """What a child of the zygote does. `checked`: abstract runs work with this JAX."""

    def life(request, path, told):
        _settle(request, path, spec["cache"])
        sys.argv[:] = [path, *spec["argv"]]
        if not request["abstract"]:
            _end(_run(request["text"], path, told))
        elif checked:
            abstract.trace(lambda: _exit(_run(request["text"], path, told, abstract.is_artefact)))
        told.write({"end": "unknown"})

    return life


def executed(spec):
    """What a child does that becomes a fresh interpreter."""
    coldrun = os.path.join(_HERE, "coldrun.py")

    def life(request, path, told):
        os.set_inheritable(told.descriptor, True)
        environment = dict(os.environ, **request["env"])
        _confine(request, path, None)
        arguments = [sys.executable, coldrun, str(told.descriptor), path, *spec["argv"]]
        os.execve(sys.executable, arguments, environment)

    return life


def hide():
    """Take our modules out of the program's sight, and our folder off its path."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and isinstance(file, str) and os.path.dirname(os.path.abspath(file)) == _HERE:
            _kept.append(sys.modules.pop(name))


def run_main(code, path):
    """Run a program's code as the module `__main__`."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __cached__=None, __builtins__=__builtins__)
    _kept.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _settle(request, path, cache):
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    _confine(request, path, cache)
    workdir.enter(os.path.dirname(os.path.dirname(path)))
    hide()


def _confine(request, path, cache):
    sandbox.die_with(request["parent"])
    sandbox.limit_resources(request["limit"])
    sandbox.confine([os.path.dirname(os.path.dirname(path)), *([cache] if cache else [])])


def _run(text, path, told, is_artefact=lambda error: False):
    """The program's exit code. A failure is told, and ends the process; one that is an artefact of ours is unknown."""
    try:
        code = compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _fail(told, report.of_exception(error, path, end="syntax"))
    sys.setrecursionlimit(sys.getrecursionlimit() + _depth())
    try:
        run_main(code, path)
    except SystemExit as error:
        return report.exit_code(error)
    except BaseException as error:
        _fail(told, report.of_exception(error, path, end="unknown" if is_artefact(error) else "exception"))
    return 0


def _fail(told, outcome):
    told.write(outcome)
    _exit(1)


def _end(code):
    """What an interpreter does when its program has come to an end."""
    threading._shutdown()
    atexit._run_exitfuncs()
    _exit(code)


def _exit(code):
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # closed or replaced by the program
    os._exit(code)


def _depth():
    """How deep the stack is here: as much deeper the program may go than the interpreter allows."""
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
