"""The first run: the user's program as it is, cold, in a mirror of its folder, watched."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from jaxshrink.observation import Observation
from jaxshrink.scratch import Scratch

INSIDE = Path(__file__).parent / "inside" / "observe.py"


class NotObserved(Exception):
    """The run left no observation: it was killed, or did not end in time. `code` is how the process ended."""

    def __init__(self, code: int | None, stderr: str):
        super().__init__(code)
        self.code, self.stderr = code, stderr


def watch(
    python: str, folder: Path, entry: str, argv: Sequence[str], environment: Mapping[str, str], timeout: float | None
) -> Observation:
    """Run the program that lies in `folder`, a mirror that may be written to. Raises NotObserved."""
    with Scratch() as scratch:
        out = scratch / "observation.json"
        spec = scratch / "spec.json"
        spec.write_text(json.dumps({"entry": entry, "argv": list(argv), "out": str(out)}))
        process = subprocess.Popen(
            [python, str(INSIDE), str(spec)],
            cwd=folder,
            env={**environment, "TMPDIR": str(scratch)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            _, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise NotObserved(None, "") from None
        finally:
            _kill_group(process)
        if not out.exists():
            raise NotObserved(process.returncode, stderr.decode(errors="replace"))
        return _without_folder(Observation.load(out), folder)


def _without_folder(observation: Observation, folder: Path) -> Observation:
    """The files in a message named as in those of candidates: the folder was the mirror's."""
    message = observation.outcome.message
    for path in {str(folder), str(folder.resolve())}:
        message = message and message.replace(f"{path}{os.sep}", "")
    return dataclasses.replace(observation, outcome=dataclasses.replace(observation.outcome, message=message))


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End what the program has left running, and itself."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
