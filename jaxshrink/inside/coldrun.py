"""Runs a program in a fresh interpreter, as `python PROGRAM ARGUMENTS` would, and reports its failure.

    python coldrun.py DESCRIPTOR COMPILES PROGRAM [ARGUMENTS]

The descriptor is that of a `report.Report`'s memory, COMPILES is 1 if compilations are told. What
follows the failure is left to the interpreter: the traceback, threads to be waited for, exit handlers, finalisation.
"""

import os
import sys

import compiles
import workdir
from child import hide, run_main, show
from report import Report, of_exception


def main():
    told = Report(int(sys.argv.pop(1)))
    os.close(told.descriptor)
    if sys.argv.pop(1) == "1":
        compiles.listen(told.compiled)
    path = sys.argv[1]
    del sys.argv[0]
    workdir.enter(os.path.dirname(os.path.dirname(path)))
    hide()
    sys.setrecursionlimit(sys.getrecursionlimit() + 2)
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        told.append(of_exception(error, path, end="syntax"))
        raise
    try:
        run_main(code, path)
    except SystemExit:
        raise
    except BaseException as error:
        told.append(of_exception(error, path))
        show(error)
        sys.exit(1)


main()
