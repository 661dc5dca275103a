"""Mistakes of jaxshrink's own: what the user is told, and a file for the bug report."""

from __future__ import annotations

import platform
import tempfile
import traceback
from pathlib import Path

from jaxshrink import __version__
from jaxshrink.errors import InternalError
from jaxshrink.journal import Journal, cache_folder
from jaxshrink.options import Options


def internal_error(error: Exception, options: Options | None = None) -> InternalError:
    """The error to raise from an unexpected one. It names the report, and the best program so far if there is one."""
    message = f"internal error, {type(error).__name__}: {error}"
    if report := _report(error, options):
        message += f"; please report it together with {report}"
    best = Journal.of(options).best if options and options.path.is_file() else None
    if best:
        message += f"; the best program so far is {best}"
    return InternalError(message, best=best)


def _report(error: Exception, options: Options | None) -> Path | None:
    """A file with what a maintainer needs; None where not even that can be written."""
    about = f"jaxshrink {__version__}, Python {platform.python_version()}, {platform.platform()}\n{options}\n\n"
    folder = cache_folder() / "crashes"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".txt", delete=False, encoding="utf-8") as file:
            file.write(about + "".join(traceback.format_exception(error)))
    except OSError:
        return None
    return Path(file.name)
