"""Helpers for the tests of the observation: run the observer as the main job does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import jaxshrink
from jaxshrink.observation import Observation, Recipe

INSIDE = Path(jaxshrink.__path__[0]) / "inside"


def observe(folder: Path, files: str | Mapping[str, str | bytes], argv: tuple[str, ...] = ()) -> Observation:
    """The observation of a program of one text, or of several files with the entry `repro.py`."""
    for name, text in ({"repro.py": files} if isinstance(files, str) else files).items():
        path = folder / "program" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    spec = folder / "spec.json"
    spec.write_text(json.dumps({"entry": "repro.py", "argv": argv, "out": str(folder / "observation.json")}))
    command = [sys.executable, str(INSIDE / "observe.py"), str(spec)]
    env = {**os.environ, "JAX_TRACEBACK_FILTERING": "off", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        command, cwd=folder / "program", env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert (folder / "observation.json").exists(), done.stderr
    return Observation.load(folder / "observation.json")


def local(observation: Observation, name: str, frame: int = 0) -> Recipe:
    """A variable of a user frame, innermost frame first."""
    return observation.objects[observation.frames[frame].locals[name]]
