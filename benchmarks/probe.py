"""Runs a program as Python would, and writes down how it ended: `probe.py REPORT.json PROGRAM ARGUMENTS...`.

The report has the type, the message and the raise site of the uncaught exception: the file and the function of the
innermost frame if that belongs to a library, else "user". There is none where nothing was raised.
It runs in the interpreter of the programs: standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import types

_LIBRARY = ("site-packages" + os.sep, "dist-packages" + os.sep, os.path.dirname(os.__file__) + os.sep)


def main(report: str, program: str, arguments: list[str]) -> None:
    """Run the program, in place of this one."""
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    module = types.ModuleType("__main__")
    module.__file__ = program
    sys.modules["__main__"] = module
    with open(program, "rb") as file:
        source = file.read()
    try:
        exec(compile(source, program, "exec"), module.__dict__)
    except Exception as error:
        with open(report, "w", encoding="utf-8") as file:
            json.dump({"type": type_name(type(error)), "message": str(error), "site": site(error)}, file)
        traceback.print_exc()
        sys.exit(1)


def type_name(kind: type[BaseException]) -> str:
    """The name that a traceback shows."""
    module, name = kind.__module__, kind.__qualname__
    return name if module in ("builtins", "__main__") else f"{module}.{name}"


def site(error: BaseException) -> str:
    """Where in which library it was raised; "user" where not in a library."""
    place = "user"
    for frame, _ in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        root = next((root for root in _LIBRARY if root in name), None)
        place = "user" if root is None else f"{name.rpartition(root)[2]}:{frame.f_code.co_name}"
    return place


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
