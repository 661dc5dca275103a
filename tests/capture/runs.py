"""Runs programs, plainly or under capture, some in each fork of a process that has imported JAX.

Runs in the interpreter that is tested: `python runs.py [--watched] [MODULE ...]`. It imports the modules first; if
watched, with the wrappers of capture in place, as where a program is captured from its start. A job is a line of JSON
on stdin: `programs`, each with its `source` and `mode`, which is "plain", "failing" (the programs of the failure come
back), "valued" (those with its numbers do) or "everything" (the program of the whole run does).
The answer is a line on stdout, a list with for each: `error` (type and message) or None, `last` (the numbers that the
last statement gave), `warnings`, `printed`, `texts`, `notes`, `mistakes`, `trace`.
"""

import ast
import contextlib
import io
import json
import os
import signal
import sys
import traceback
import warnings

import jax
import jax.numpy
import numpy as np

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(_ROOT, "jaxshrink", "inside"))
LIMIT = 100
_files = []


MODULES = ("jax.experimental.pallas", "jax.experimental.checkify", "jax.scipy.stats", "jax.export")
"""Those that the programs of the battery import."""


def main():
    is_watched = sys.argv[1:2] == ["--watched"]
    session = _session() if is_watched else None
    for name in sys.argv[1 + is_watched :] or MODULES:
        with contextlib.suppress(Exception):
            __import__(name)
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(forked(job, session)), flush=True)


def forked(job, session=None):
    """The answers for the programs of a job, from a fork."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        os.close(read)
        try:
            answers = list(runs(job["programs"], session))
        except BaseException:
            answers = [_broken(traceback.format_exc())] * len(job["programs"])
        for path in _files:
            os.unlink(path)
        with os.fdopen(write, "w") as file:
            json.dump(answers, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else [_broken(f"died: {status}")] * len(job["programs"])


def _broken(text):
    return {"error": ["Broken", text], "texts": [], "last": None, "notes": [], "mistakes": [], "trace": text}


def runs(programs, session=None):
    """Run programs one after the other, all plainly or all under capture."""
    if session is None and any(program["mode"] != "plain" for program in programs):
        session = _session()
    for program in programs:
        yield run(session, **program)


def run(session, source, mode, data=None):
    """Run a program: see above."""
    answer = {"texts": [], "notes": [], "data": [], "mistakes": []}
    if session is not None:
        _prepare(session, mode, answer)
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        answer["error"], answer["last"], answer["trace"] = _executed(session, source, data)
    answer["warnings"] = sorted({str(one.message) for one in caught})
    answer["printed"] = printed.getvalue()
    if session is not None:
        if mode == "everything" and answer["error"] is None:
            _write(session, answer)
        answer["mistakes"] = [one.trace for one in session.mistakes]
        session.mistakes.clear()
    return answer


def _session():
    from capture import recorder, surface

    session = recorder.Session()
    surface.install(session)
    return session


def _prepare(session, mode, answer):
    from capture import calls, programs

    def failed(scope, error):
        if mode == "valued":
            found = [*programs.valued(session, scope)]
        else:
            found = [*programs.failing(session, scope), programs.outermost(session, scope)]
        answer["texts"] = [one.source for one in found]
        answer["notes"] = list(found[-1].notes) if found else []

    session.failed = failed if mode in ("failing", "valued") else None
    session.top = calls.Scope() if mode == "everything" else None
    session.is_on = True


def _write(session, answer):
    from capture import programs

    session.is_on = False
    text = programs.everything(session, session.top, fill="exact")
    answer["texts"], answer["notes"] = [text.source], list(text.notes)
    answer["data"] = {name: np.asarray(value).tolist() for name, value in text.data.items()}


def _executed(session, source, data=None):
    """Run it: the error, and what its last statement gave."""
    # A real file, as tracebacks and JAX's own messages tell lines of it.
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"program_{os.getpid()}_{len(_files)}.py")
    _files.append(path)
    with open(path, "w") as file:
        file.write(source)
    scope = {"__name__": "__main__", "__file__": path}
    if data:
        np.savez(path[:-3] + ".npz", **{name: np.array(value) for name, value in data.items()})
        _files.append(path[:-3] + ".npz")
    try:
        tree = ast.parse(source)
        last = _named_last(tree)
        exec(compile(tree, path, "exec"), scope)
        values = [scope[name] for name in last if name in scope]
        return None, _numbers(values), None
    except BaseException as error:
        trace = traceback.format_exc()
        if session is not None:
            session.raised(error)
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        return [name, str(error).replace(path, "PROGRAM").replace(os.path.basename(path), "PROGRAM")], None, trace


def _named_last(tree):
    """The names that the last statement binds, which is made to bind one if it is an expression."""
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.fix_missing_locations(
            ast.copy_location(ast.Assign([ast.Name("_last", ast.Store())], last.value), last)
        )
        return ["_last"]
    targets = last.targets if isinstance(last, ast.Assign) else []
    if isinstance(last, ast.If):
        return ["result"]
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _numbers(values):
    found = []
    for leaf in jax.tree_util.tree_leaves(values):
        if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        if isinstance(leaf, (jax.Array, np.ndarray, np.generic, float, int, complex)):
            array = np.asarray(leaf)
            found.append([str(array.dtype), list(array.shape), repr(array.tolist())])
    return found


if __name__ == "__main__":
    main()
