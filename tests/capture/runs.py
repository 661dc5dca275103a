"""Runs programs, plainly or under capture, each in a fork of a process that has imported JAX.

Runs in the interpreter that is tested. A job is a line of JSON on stdin: `source` and `mode`, which is "plain",
"failing" (the programs of the failure come back) or "everything" (the program of the whole run does). The answer is a
line on stdout: `error` (type and message) or None, `last` (the numbers that the last statement gave), `warnings`,
`printed`, `texts`, `notes`, `seconds`.
"""

import ast
import contextlib
import io
import json
import os
import signal
import sys
import time
import traceback
import warnings

import jax
import jax.numpy
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jaxshrink", "inside"))
LIMIT = 60


def main():
    for name in ("jax.experimental.pallas", "jax.experimental.checkify", "jax.scipy.stats", "jax.export"):
        with contextlib.suppress(Exception):
            __import__(name)
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(forked(job)), flush=True)


def forked(job):
    """What `run` answers, from a fork."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        signal.alarm(LIMIT)
        os.close(read)
        try:
            text = json.dumps(run(job))
        except BaseException:
            text = json.dumps({"error": ["Broken", traceback.format_exc()], "texts": [], "last": None, "notes": []})
        with os.fdopen(write, "w") as file:
            file.write(text)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"error": ["Died", str(status)], "texts": [], "last": None, "notes": []}


def run(job):
    """Run a program as its job says."""
    source, mode = job["source"], job["mode"]
    answer = {"texts": [], "notes": [], "data": []}
    session = None if mode == "plain" else _session(mode, answer)
    printed = io.StringIO()
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        answer["error"], answer["last"], answer["trace"] = _executed(source, job.get("data"))
    answer["mistakes"] = [] if session is None else ["".join(traceback.format_exception(e)) for e in session.mistakes]
    answer["seconds"] = time.perf_counter() - start
    answer["warnings"] = sorted({str(one.message) for one in caught})
    answer["printed"] = printed.getvalue()
    if mode == "everything" and answer["error"] is None:
        _write(session, answer)
    return answer


def _session(mode, answer):
    from capture import calls, programs, recorder, surface

    session = recorder.Session()

    def failed(scope, error):
        start = time.perf_counter()
        found = list(programs.failing(session, scope))
        answer["texts"] = [one.source for one in found]
        answer["notes"] = list(found[-1].notes) if found else []
        answer["failed"] = [type(error).__name__, str(error)]
        answer["writing"] = time.perf_counter() - start

    if mode == "failing":
        session.failed = failed
    else:
        session.top = calls.Scope()
    session.is_on = True
    surface.install(session)
    return session


def _write(session, answer):
    from capture import programs

    session.is_on = False
    text = programs.everything(session, session.top, fill="exact")
    answer["texts"], answer["notes"] = [text.source], list(text.notes)
    answer["data"] = {name: np.asarray(value).tolist() for name, value in text.data.items()}


def _executed(source, data=None):
    """Run it: the error, and what its last statement gave."""
    # A real file, as tracebacks and JAX's own messages tell lines of it.
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"program_{os.getpid()}.py")
    with open(path, "w") as file:
        file.write(source)
    scope = {"__name__": "__main__", "__file__": path}
    if data:
        scope["data"] = {name: np.array(value) for name, value in data.items()}
    try:
        tree = ast.parse(source)
        last = _named_last(tree)
        exec(compile(tree, path, "exec"), scope)
        values = [scope[name] for name in last if name in scope]
        return None, _numbers(values), None
    except BaseException as error:
        trace = traceback.format_exc()
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        return [name, str(error).replace(path, "PROGRAM")], None, trace
    finally:
        os.unlink(path)


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
