"""`python -m jaxshrink.capture train.py [ARGS]`: run a program; JAX_REPRO_DIR says where what fails is saved."""

from __future__ import annotations

import os
import runpy
import sys


def main() -> None:
    """Run the program as `python train.py` would."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit("usage: JAX_REPRO_DIR=FOLDER python -m jaxshrink.capture PROGRAM [ARGS]")
    if not os.environ.get("JAX_REPRO_DIR"):
        sys.exit("jaxshrink: error: JAX_REPRO_DIR is not set: it names the folder to which programs are saved")
    if not os.path.isfile(sys.argv[1]):
        sys.exit(f"jaxshrink: error: there is no file {sys.argv[1]}")
    import jaxshrink.repro  # noqa: F401 - records from here on

    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
