"""One run of the user's program, told as programs of JAX calls that may fail as it did.

The spec is that of a watched run (see `observe`), of which `entry`, `argv`, `out`, `abstract` and `passed_over`
count. What is written is `{"programs": [text, ...]}`; nothing where the failure came through no call of JAX.
"""

import ast
import itertools
import json
import os
import sys

import abstract
from capture import programs, recorder, surface
from capture.failures import causes
from child import hide, run_main
from localmodules import pass_over

MOST_TEXT = 300_000
"""Characters of a program beyond which no larger one is written."""


def tell(spec):
    """Run the program as the spec says, and write what was captured."""
    path = os.path.join(os.path.realpath(os.getcwd()), spec["entry"])
    session = recorder.Session()
    failures = []
    session.failed = lambda scope, error: failures.append((scope, error))
    hide()
    sys.argv[:] = [path, *spec["argv"]]
    sys.path[0] = os.path.dirname(path)
    surface.install(session)
    passed_over = {line for file, line in spec["passed_over"] if file == spec["entry"]}

    def body():
        session.is_on = True  # not before: the outermost trace is none of the program's calls
        error = _error(session, path, passed_over)
        session.is_on = False
        return error

    error = abstract.trace(body) if spec["abstract"] else body()
    scope = next((scope for scope, each in reversed(failures) if each in causes(error)), None)
    found = []
    for texts in _programs(session, scope, spec["abstract"]) if scope is not None else ():
        found += [text.source for text in itertools.takewhile(lambda text: len(text.source) <= MOST_TEXT, texts)]
    with open(spec["out"], "w", encoding="utf-8") as file:
        json.dump({"programs": found}, file)


def _programs(session, scope, is_abstract):
    """Programs that may fail alike; a real run tells of the numbers, too."""
    yield programs.failing(session, scope)
    if not is_abstract:
        yield programs.valued(session, scope)


def _error(session, path, passed_over):
    """The exception that ends the program, or None."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
        pass_over(tree, passed_over)
        run_main(compile(tree, path, "exec", dont_inherit=True), path)
    except SystemExit:
        return None
    except BaseException as error:
        session.raised(error)
        return error
    return None
