"""`jaxshrink recompiles` as a user types it, and the fixture of pytest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jaxshrink.recompiles.origin import lines, origins, told

pytestmark = pytest.mark.newest  # and the same on each Python

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import sys
import jax
import jax.numpy as jnp


@jax.jit
def train_step(w, x):
    return w - 0.1 * x.sum()


print("training")
for size in map(int, sys.argv[1:]):
    train_step(jnp.ones(3), jnp.ones(size))
"""


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "jaxshrink", "recompiles", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def test_tables(program: Path) -> None:
    done = command(program, "--", "8", "8", "5")
    assert done.returncode == 0
    assert done.stdout.startswith(f"train_step  {program}:6  compiled twice")
    assert "x: f32[8] → f32[5]" in done.stdout
    assert "→ the shape of x follows the last batch: pad it, or drop it (2)" in done.stdout
    assert "training" in done.stderr  # stdout is ours


def test_json(program: Path) -> None:
    done = command(program, "--json", "--env", "JAX_ENABLE_X64=1", "--", "2")
    (told,) = (each for each in json.loads(done.stdout)["functions"] if each["name"] == "train_step")
    assert told["compiles"] == told["traces"] == 1
    assert told["misses"][0]["signature"]["arguments"]["x"]["leaves"]["x"]["type"] == "f64"
    assert told["misses"][0]["at"] == f"{program}:13"


@pytest.mark.parametrize(("most", "code"), [("2", 1), ("3", 0), ("train_step:2", 1), ("broadcast_in_dim:3", 1)])
def test_at_most(program: Path, most: str, code: int) -> None:
    done = command(program, "--max", most, "--", "4", "5", "6")
    assert done.returncode == code
    assert ("were allowed" in done.stderr) == bool(code)


def test_a_program_that_fails(program: Path) -> None:
    done = command(program, "--", "4", "five")
    assert done.returncode == 3
    assert "invalid literal" in done.stderr and "ended with exit code 1" in done.stderr
    assert command(program, "--max", "many").returncode == 2


@pytest.mark.parametrize(("end", "code", "told"), [
    ("os._exit(0)", 0, ""),
    ("os.kill(os.getpid(), 9)", 3, "was ended by SIGKILL: what is told is what it did until then"),
])  # fmt: skip
def test_a_program_that_leaves_without_a_word(program: Path, end: str, code: int, told: str) -> None:
    program.write_text(f"import os\n{PROGRAM}{end}\n")
    done = command(program, "--json", "--", "4", "5")
    assert (done.returncode, told in done.stderr) == (code, True)
    report = json.loads(done.stdout)
    assert [each["compiles"] for each in report["functions"] if each["name"] == "train_step"] == [2]
    assert report["exit_code"] == (-9 if code else 0)


def test_interrupted(program: Path) -> None:
    program.write_text(f"{PROGRAM}import time\nprint('sleeping', flush=True)\ntime.sleep(100)\n")
    line = [sys.executable, "-m", "jaxshrink", "recompiles", program, "--json", "--", "4"]
    with subprocess.Popen(
        line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout and process.stderr
        assert any("sleeping" in written for written in process.stderr)
        os.killpg(process.pid, signal.SIGINT)
        report = json.loads(process.stdout.read())
        assert "what is told is what the program did until then" in process.stderr.read()
    assert process.returncode == 130
    assert report["functions"][0]["name"] == "train_step" and report["exit_code"] is None


def test_a_limit_for_a_function_that_is_not_there(program: Path) -> None:
    done = command(program, "--max", "trian_step:2", "--max", "1", "--json", "--", "4", "5")
    assert done.returncode == 2
    assert "--max: no function trian_step was traced or compiled. Those that were: train_step" in done.stderr
    (exceeded,) = json.loads(done.stdout)["exceeded"]
    assert exceeded == {"function": f"train_step ({program}:6)", "compiles": 2, "most": 1}


def test_a_test_or_none(tmp_path: Path) -> None:
    path = tmp_path / "test_sum.py"
    path.write_text("import jax\n\n\ndef test_sum():\n    assert jax.jit(lambda x: x + 1)(1) == 2\n")
    done = command(f"{path}::test_sum", "--all")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"<lambda>  {path}:5  compiled once"), done.stdout
    done = command(path)
    assert (done.returncode, done.stdout) == (2, "") and f"name one, as in {path}::test_sum" in done.stderr
    done = command(tmp_path / "none.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"jaxshrink: error: there is no file {tmp_path / 'none.py'}\n"


def test_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / "sums.ipynb"
    sources = ["%matplotlib inline\nimport jax", "def total(x):\n    return x + 1", "!ls\n\njax.jit(total)(1)"]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "# Sums"}, *cells]}))
    done = command(path, "--json")
    assert done.returncode == 0, done.stderr
    (function,) = json.loads(done.stdout)["functions"]
    assert (function["defined"], function["misses"][0]["at"]) == (f"{path}:cell 2:1", f"{path}:cell 3:3")


def test_lines_that_are_not_in_the_original() -> None:
    where = origins("import jax\n\ntest_it(3)\n", lines("test_it.py", b"import os\nimport jax\n"))
    notes = [{"defined": f"/test_it.py:{line}", "at": "/other.py:2"} for line in (1, 3)]
    assert [each["defined"] for each in told(notes, "/test_it.py", where)] == ["/test_it.py:2", "/test_it.py:script 3"]


def test_the_same_count_as_where_it_is_reduced(program: Path, tmp_path: Path) -> None:
    """`--recompiles` and the command agree on how often a function is compiled."""
    line = [sys.executable, "-m", "jaxshrink", program, "--recompiles", "train_step:4", "-o", tmp_path / "o.py", "-q"]
    done = subprocess.run([*line, "--", "4", "5", "6"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "compiled 3 times" in done.stderr


FIXTURE = """\
import jax, pytest, numpy as np

@jax.jit
def step(x):
    return x + 1

def test_block(assert_compiles):
    with assert_compiles(step, 1) as watched:
        step(np.ones(3))
        step(np.ones(3))
    assert watched.compiles == 1

def test_block_fails(assert_compiles):
    with assert_compiles(step, 1):
        for size in (4, 5):
            step(np.ones(size))

def test_rest(assert_compiles):
    assert_compiles(step, 2, at_most=True)
    step(np.ones(6))

def test_rest_fails(assert_compiles):
    assert_compiles(step, 0)
    step(np.ones(7))

def test_error(assert_compiles):
    assert_compiles(step, 3)
    raise ValueError("of the test")
"""


def test_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FIXTURE)
    (tmp_path / "conftest.py").write_text("from jaxshrink.pytestplugin import assert_compiles\n")
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    told = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert "2 failed, 3 passed, 1 error" in told
    assert "AssertionError: step was compiled 2 times, not 1" in told and "f32[4] → f32[5]" in told
    assert "AssertionError: step was compiled 1 times, not 0" in told
