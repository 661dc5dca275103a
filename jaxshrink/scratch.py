"""Folders for a while: they go with the job, and those of a job that was killed go when the next begins."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

PREFIX = "jaxshrink-"
OWNER = ".owner"
"""A file in each folder, locked for as long as the process lives that made it."""


class Scratch:
    """A new folder `path` among the temporary files, until `remove` or the end of the context."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        new = self.path / f"{OWNER}.part"
        self.owner = new.open("w")
        with contextlib.suppress(OSError):  # no locks on this file system: then nobody sweeps it away
            fcntl.flock(self.owner, fcntl.LOCK_EX)
            new.rename(self.path / OWNER)  # under this name it has never been without the lock

    def remove(self) -> None:
        """Remove the folder; what a dying process still writes there goes with a later sweep."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.owner.close()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()


def sweep() -> None:
    """Remove this user's scratch folders whose makers are dead."""
    for owner in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        with contextlib.suppress(OSError):  # locked by one that lives, or gone meanwhile
            if owner.parent.lstat().st_uid != os.getuid():
                continue
            with owner.open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(owner.parent, ignore_errors=True)
