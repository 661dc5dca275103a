"""The whole job on the programs of corpus/, as a user would call it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import Command

CORPUS = Path(__file__).parents[1] / "corpus"

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("case", sorted(path.parent.name for path in CORPUS.glob("*/meta.toml")))
def test_corpus(case: str, command: Command, tmp_path: Path) -> None:
    meta = tomllib.loads((CORPUS / case / "meta.toml").read_text(encoding="utf-8"))
    folder, alone = tmp_path / "given", tmp_path / "alone"
    shutil.copytree(CORPUS / case, folder)
    alone.mkdir()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    command.folder = folder
    options = [part for name, value in meta.get("env", {}).items() for part in ("--env", f"{name}={value}")]
    code, report = command.report("repro.py", "-o", alone / "out.py", *options, "--", *meta.get("args", []))

    assert code == 0, report["message"]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert report["failure"]["type"] == meta["exception"]
    assert report["output"]["tokens"] <= meta["max_tokens"], report["output"]["source"]

    done = subprocess.run([sys.executable, "out.py"], cwd=alone, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert re.search(rf"^{re.escape(meta['exception'])}: .*{meta['message']}", done.stderr, re.MULTILINE | re.DOTALL)
