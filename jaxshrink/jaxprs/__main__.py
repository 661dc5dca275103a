"""`python -m jaxshrink.jaxprs FILE`: print a jaxpr as Python source.

FILE is what `dumps` has written, or a pickle of such bytes or of a source text. A pickle of a jaxpr itself cannot be
made: JAX's jaxprs do not pickle. Pickles run code when they are read: print only those that you trust.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from jaxshrink.jaxprs import JaxprError, loads, to_source
from jaxshrink.jaxprs.wire import MAGIC


def main(arguments: list[str]) -> int:
    """Print, and return the exit code: 2 for what cannot be read."""
    call = "--call" in arguments
    files = [one for one in arguments if one != "--call"]
    if len(files) != 1 or files[0] in ("-h", "--help"):
        print("usage: python -m jaxshrink.jaxprs [--call] FILE\n\n"
              "Prints a jaxpr as Python source; with --call, as a program that calls it on arrays of ones.",
              file=sys.stderr if not files else sys.stdout)  # fmt: skip
        return 0 if files else 2
    try:
        jaxpr = _read(Path(files[0]))
        text = to_source(jaxpr, called=call)
    except (OSError, JaxprError, pickle.UnpicklingError) as error:
        print(f"jaxshrink.jaxprs: error: {error}", file=sys.stderr)
        return 2
    sys.stdout.write(text)
    return 0


def _read(path: Path) -> object:
    data = path.read_bytes()
    if data.startswith(MAGIC) or path.suffix == ".jaxpr":
        return loads(data)
    found = pickle.loads(data)
    return loads(found) if isinstance(found, bytes) else found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
