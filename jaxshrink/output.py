"""The file that the result goes to. It never holds half a result, and no file of the user's is replaced."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

from jaxshrink.errors import OutputError
from jaxshrink.options import Options
from jaxshrink.result import Result, brief

WIDTH = 100

_OURS = re.compile(r"^# reduced by jaxshrink from \d+ to \d+ tokens", re.MULTILINE)
_HEADER_LINES = 3


def header(result: Result) -> str:
    """The comment on top of a result, at most three lines: what fails, its sizes, the versions."""
    failure = result.shown or result.failure
    told = [(_plain(brief(failure)), _HEADER_LINES - 1 - bool(result.controls))] if failure else []
    told += [(_plain(control), 1) for control in result.controls[:1]]
    lines = [line for text, most in told for line in textwrap.wrap(text, WIDTH - 2, max_lines=most, placeholder=" …")]
    if result.input_size and result.output_size:
        versions = {"Python": result.python, "jax": result.jax, "jaxlib": result.jaxlib}
        known = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        sizes = f"from {result.input_size.tokens} to {result.output_size.tokens} tokens"
        lines.append(f"reduced by jaxshrink {sizes}" + (f" ({known})" if known else ""))
    return "".join(f"# {line}\n" for line in lines)


def is_ours(path: Path) -> bool:
    """Whether jaxshrink wrote the file."""
    with path.open(encoding="utf-8", errors="replace") as file:
        top = "".join(line for _, line in zip(range(_HEADER_LINES), file, strict=False))
    return _OURS.search(top) is not None


class Output:
    """A place that was found fit for the result. Raises OutputError where it is not."""

    def __init__(self, path: Path, program: Path, force: bool = False, ours: Callable[[Path], bool] = is_ours):
        self.path, self.force, self.ours = path, force, ours
        self._target = Path(os.path.realpath(path))  # through a link its target is written, as editors do
        try:
            self._check(program)
            with tempfile.TemporaryFile(dir=self._target.parent):
                pass  # permission bits do not tell it all: read-only file systems, quotas, root
        except OSError as error:
            raise self._error(error) from None

    @classmethod
    def of(cls, options: Options) -> Output:
        """The place that the options name."""
        return cls(options.output, options.path, options.force)

    def write(self, text: str) -> None:
        """Put the text there, whole or not at all."""
        scratch = self._target.with_name(f".{self._target.name[:100]}.{os.getpid()}.part")
        try:
            self._check_owner()  # again: the job may have taken long
            with open(scratch, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.replace(scratch, self._target)
        except OSError as error:
            raise self._error(error) from None
        finally:
            with contextlib.suppress(OSError):  # it has been moved, or there is nothing that could be done
                scratch.unlink()

    def remove(self) -> None:
        """Leave nothing of an earlier job there."""
        if self._target.is_file() and self.ours(self._target):
            self._target.unlink()

    def _check(self, program: Path) -> None:
        if self._target.exists() and self._target.samefile(program):
            raise OutputError(f"{self.path} is the program itself, which is never replaced: give another --output")
        if self._target.is_dir():
            raise OutputError(f"{self.path} is a folder: give the name of a file as --output")
        if self._target.exists() and not self._target.is_file():
            raise OutputError(f"{self.path} is not a regular file: give another --output")
        if not self._target.parent.is_dir():
            raise OutputError(f"there is no folder {self.path.parent} to write {self.path.name} to")
        self._check_owner()

    def _check_owner(self) -> None:
        if not self.force and self._target.exists() and not self.ours(self._target):
            raise OutputError(f"{self.path} exists and was not written by jaxshrink: give another --output, or --force")

    def _error(self, error: OSError) -> OutputError:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return OutputError(f"no space left on the disk for {self.path}")
        return OutputError(f"cannot write {self.path}: {os.strerror(error.errno or errno.EIO)}")


def _plain(line: str) -> str:
    """Text fit for a comment: printable, and no coding declaration (PEP 263) by accident."""
    line = "".join(char if char.isprintable() else " " for char in line)
    return re.sub(r"coding(?=[:=])", "coding ", line)
