"""The whole job on the programs of corpus/, as a user would call it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command

CORPUS = Path(__file__).parents[1] / "corpus"

pytestmark = pytest.mark.corpus


METAS = {path.parent.name: tomllib.loads(path.read_text(encoding="utf-8")) for path in CORPUS.glob("*/meta.toml")}
ON_OLDEST = {"kind", "control", "slow"}
CASES = [
    pytest.param(case, marks=pytest.mark.slow if ON_OLDEST & meta.keys() else pytest.mark.newest)
    for case, meta in sorted(METAS.items())
]


@pytest.mark.parametrize("case", CASES)
def test_corpus(case: str, command: Command, tmp_path: Path) -> None:
    meta = METAS[case]
    folder, alone = tmp_path / "given", tmp_path / "alone"
    shutil.copytree(CORPUS / case, folder)
    alone.mkdir()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    command.folder = folder
    options = [part for name, value in meta.get("env", {}).items() for part in ("--env", f"{name}={value}")]
    options += meta.get("options", [])
    entry = meta.get("entry", "repro.py")
    code, report = command.report(entry, "-o", alone / "out.py", *options, "--", *meta.get("args", []), timeout=600)

    assert code == 0, report["message"]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert report["failure"]["kind"] == meta.get("kind", "exception")
    source = report["output"]["source"]
    assert report["output"]["tokens"] <= meta["max_tokens"], source
    assert all(re.search(rf"\b{word}\b", source) for word in meta.get("keeps", [])), source

    assert any(fails(meta, alone) for _ in range(meta.get("tries", 1))), source
    if "control" in meta:
        assert run(alone, **meta["control"]).returncode == 0, source


def fails(meta: dict[str, Any], folder: Path) -> bool:
    """Whether the result does what `meta` says, in a fresh interpreter."""
    match meta.get("kind", "exception"):
        case "exception":
            done = run(folder)
            message = f": .*{meta['message']}" if meta["message"] else r"\b"
            exception = f"^{re.escape(meta['exception'])}{message}"
            return done.returncode == 1 and re.search(exception, done.stderr, re.MULTILINE | re.DOTALL) is not None
        case "crash":
            done = run(folder)
            return done.returncode == meta["code"] and re.search(meta["message"], done.stderr) is not None
        case "output":
            done = run(folder)
            return done.returncode == 0 and re.search(meta["message"], done.stdout + done.stderr) is not None
        case "recompile":
            done = run(folder, JAX_LOG_COMPILES="1")
            compiled = re.findall(rf"Compiling (?:jit\()?{meta['function']}\b", done.stderr)
            return done.returncode == 0 and len(compiled) >= meta["times"]
        case "memory":
            return peak(folder) > meta["gibibytes"] << 30
        case "hang":
            with pytest.raises(subprocess.TimeoutExpired):
                run(folder, meta["seconds"])
            return True
    raise AssertionError(f"no such kind: {meta['kind']}")


def run(folder: Path, seconds: float = 120, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "out.py"]
    environment = {**os.environ, **env}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, env=environment)


def peak(folder: Path) -> int:
    """The most memory that the result takes, in bytes."""
    code = "import resource, subprocess, sys; subprocess.run([sys.executable, 'out.py'], check=False); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=120)
    return int(done.stdout.split()[-1]) << 10
