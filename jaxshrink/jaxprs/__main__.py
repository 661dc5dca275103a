"""`python -m jaxshrink.jaxprs FILE`: print a jaxpr as Python source.

FILE holds what `dumps` gives, as it is or as a pickle of these bytes. Nothing in it is executed: a pickle of anything
else is refused.
"""

from __future__ import annotations

import io
import pickle
import sys
from pathlib import Path
from typing import Any

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
        text = to_source(loads(_bytes(Path(files[0]))), called=call)
    except OSError as error:
        return _failed(f"cannot read {files[0]}: {error.strerror}")
    except JaxprError as error:
        return _failed(str(error))
    sys.stdout.write(text)
    return 0


def _failed(why: str) -> int:
    print(f"jaxshrink.jaxprs: error: {why}", file=sys.stderr)
    return 2


class _Plain(pickle.Unpickler):
    """Reads what is made of no classes and functions."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it has {module}.{name}")


def _bytes(path: Path) -> bytes:
    """What `dumps` has given, or what is no such thing, as `loads` will say."""
    data = path.read_bytes()
    if data.startswith(MAGIC):
        return data
    try:
        found = _Plain(io.BytesIO(data)).load()
    except Exception:  # bytes that are no pickle may raise anything
        return data
    return found if isinstance(found, bytes) else data


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
