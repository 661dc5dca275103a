"""`jaxshrink capture` as a user types it: a program in, the calls of JAX that failed out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Command

pytestmark = pytest.mark.newest  # and the same on each Python

TRAINING = """\
import dataclasses, sys
import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: jax.Array
    bias: jax.Array

    def __call__(self, x):
        return jax.nn.relu(x @ self.weight + self.bias)


def loss(layers, batch):
    for layer in layers:
        batch = layer(batch)
    return jnp.mean(batch**2)


@jax.jit
def train_step(layers, batch):
    value, grads = jax.value_and_grad(loss)(layers, batch)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, layers, grads)


layers = [Layer(jnp.ones((8, 16)), jnp.zeros(16)), Layer(jnp.ones((16, 8)), jnp.zeros(8))]
for width in [8, int(sys.argv[1])]:
    value, layers = train_step(layers, jnp.ones((4, width)))
    print("loss", value)
"""

FAILING = '''\
import jax
import jax.numpy as jnp


def loss(layers, batch):
    batch @ layers[0]["weight"]


def train_step(layers, batch):
    jax.value_and_grad(loss)(layers, batch)


jax.jit(train_step)(
    [
        {"weight": jnp.ones((8, 16)), "bias": jnp.ones(16)},
        {"weight": jnp.ones((16, 8)), "bias": jnp.ones(8)},
    ],
    jnp.ones((4, 9)),
)
'''


@pytest.fixture
def training(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(TRAINING)
    return path


def code(path: Path) -> str:
    return "".join(line for line in path.read_text().splitlines(keepends=True) if not line.startswith("#"))


def alone(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, timeout=120)


def test_the_calls_that_failed_are_all_that_is_left(training: Path, command: Command) -> None:
    done = command("capture", "train.py", "-o", "repro.py", "--", "9")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "loss 16384.0" in done.stderr, "the program runs as ever, but for stdout, which is ours"
    assert "in train_step\n" in done.stderr
    assert "jaxshrink/inside" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("jaxshrink: captured repro.py, which fails with TypeError: dot_gen")
    repro = training.with_name("repro.py")
    assert repro.read_text().startswith("# captured by jaxshrink: TypeError: dot_general requires")
    assert code(repro).replace("jnp.array(\n", "") == FAILING or code(repro).count("\n") < 40
    assert "TypeError: dot_general requires contracting dimensions" in alone(repro).stderr


def test_what_ends_well(training: Path, command: Command) -> None:
    done = command("capture", "train.py", "-o", "repro.py", "--", "8")
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == (
        "jaxshrink: error: train.py runs to its end without a failure: --on-success captures it all the same"
    )
    assert not training.with_name("repro.py").exists()
    done = command("capture", "train.py", "-o", "repro.py", "--on-success", "--", "8")
    assert done.returncode == 0, done.stderr
    text = training.with_name("repro.py").read_text()
    assert text.count("jax.jit(train_step)(") >= 2, "each call is kept"
    assert alone(training.with_name("repro.py")).returncode == 0


def test_large_arrays_go_to_a_file_where_they_are_wanted(tmp_path: Path, command: Command) -> None:
    text = "import jax, jax.numpy as jnp\nx = jnp.arange(4000.0)\njax.jit(lambda x, y: x @ y)(x, jnp.ones(3))\n"
    (tmp_path / "repro.py").write_text(text)
    done = command("capture", "repro.py", "--data", "exact")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "repro.captured.npz").exists()
    assert "TypeError: dot_general" in alone(tmp_path / "repro.captured.py").stderr


@pytest.mark.parametrize(
    ("text", "arguments", "exit_code", "complaint"),
    [
        ("{}['a']\n", [], 3, "repro.py fails, but not in a call of JAX: KeyError: 'a'"),
        ("import jax\n", ["--data", "twos"], 2, "--data must be one of ones, integers, exact, not 'twos'"),
        ("import jax\n", ["--frobnicate"], 2, "No such option"),
        ("import jax\n", ["-o", "repro.py"], 2, "repro.py is the program itself, which is never replaced"),
        ("x = = 1\n", [], 2, "^"),
    ],
)
def test_told_in_a_sentence(
    text: str, arguments: list[str], exit_code: int, complaint: str, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "repro.py").write_text(text)
    done = command("capture", "repro.py", *arguments)
    assert done.returncode == exit_code
    assert complaint in done.stderr.splitlines()[-1]
    assert (tmp_path / "repro.py").read_text() == text


def test_a_file_of_the_user_is_not_replaced(training: Path, command: Command) -> None:
    training.with_name("repro.py").write_text("x = 1\n")
    done = command("capture", "train.py", "-o", "repro.py", "--", "9")
    assert done.returncode == 2
    assert "was not written by jaxshrink" in done.stderr
    for _ in range(2):  # the second time it is one that was captured
        assert command("capture", "train.py", "-o", "other.py", "--", "9").returncode == 0


def test_a_process_that_dies_leaves_what_it_was_about_to_run(tmp_path: Path, command: Command) -> None:
    text = (
        "import os, jax, jax.numpy as jnp\n\n"
        "def host(x):\n    os.abort()\n\n"
        "f = jax.jit(lambda x: jax.pure_callback(host, x, jnp.sin(x)))\n"
        "jax.block_until_ready(f(jnp.ones((3, 4))))\n"
    )
    (tmp_path / "repro.py").write_text(text)
    done = command("capture", "repro.py")
    assert done.returncode == 4, "what a host function does is not written down"
    assert "jax.pure_callback(" in (tmp_path / "repro.captured.py").read_text()


TEST = """\
import jax.numpy as jnp
import pytest


@pytest.fixture
def x():
    return jnp.ones(3)


def test_dot(x):
    assert (x @ jnp.ones(4)).shape == ()
"""


def test_a_test_and_a_notebook(tmp_path: Path, command: Command) -> None:
    (tmp_path / "test_dot.py").write_text(TEST)
    cell = {"cell_type": "code", "source": "import jax.numpy as jnp\n%time jnp.ones(3) @ jnp.ones(4)"}
    (tmp_path / "notes.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    for given, written in [("test_dot.py::test_dot", "test_dot.captured.py"), ("notes.ipynb", "notes.captured.py")]:
        done = command("capture", given)
        assert done.returncode == 0, done.stderr
        assert "jnp.ones(3) @ jnp.ones(4)\n" in done.stderr or "x @ jnp.ones(4)" in done.stderr
        assert code(tmp_path / written) == "import jax.numpy as jnp\n\njnp.ones(3) @ jnp.ones(4)\n"


LATE = """
import jax, jax.numpy as jnp, numpy as np


def look_up(x):
    raise KeyError("row")


@jax.jit
def step(x):
    return 2 * jax.pure_callback(look_up, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


print(f"{step(jnp.ones(3))}")
"""


def test_an_error_that_comes_when_a_result_is_read(tmp_path: Path, command: Command) -> None:
    (tmp_path / "repro.py").write_text(LATE)
    done = command("capture", "repro.py")
    assert done.returncode == 0, done.stderr
    assert "JaxRuntimeError: INTERNAL: CpuCallback error" in alone(tmp_path / "repro.captured.py").stderr


BREAKING = """
import gc, sys, jax

for one in gc.get_objects():
    if isinstance(one, type(sys)) and one.__name__ == "capture.programs":
        one.suspects = lambda call: 1 / 0
jax.jit(lambda x: x @ x)(jax.numpy.ones((2, 3)))
"""


def test_a_mistake_of_captures_own_is_told_and_the_program_saved(tmp_path: Path, command: Command) -> None:
    (tmp_path / "repro.py").write_text(BREAKING)
    done = command("capture", "repro.py")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-2:] == [
        "jaxshrink: a mistake of jaxshrink's own, which may have made the program worse: "
        "ZeroDivisionError: division by zero",
        "jaxshrink: captured repro.captured.py, which fails with TypeError: dot_general requires contracting "
        "dimensions to have the same shape, got (3,) and (2,).",
    ]


# Its lines are written whole: print alone writes the end of a line by itself, and an interrupt may come before it.
HANGING = """\
import jax
import jax.numpy as jnp


class Model:
    def step(self, s):
        jax.debug.callback(lambda: print("running\\n", end="", flush=True))
        return jnp.where(s > 0, s, 1.0)


model = Model()
jax.jit(lambda s: jax.lax.while_loop(lambda s: jnp.any(s > 0), model.step, s))(jnp.ones(3))
"""


def test_what_never_ends(tmp_path: Path, command: Command) -> None:
    (tmp_path / "repro.py").write_text(HANGING)
    for seconds in (6, 40):  # where the machine is busy, JAX is not even imported after the first
        done = command("capture", "repro.py", "--hang", str(seconds))
        if done.returncode == 0:
            break
    told = f"captured repro.captured.py, which fails with hang: still running after {seconds} s\n"
    assert done.stderr.endswith(told), done.stderr
    assert "jax.lax.while_loop(lambda s: jnp.any(s > 0), step, s)" in (tmp_path / "repro.captured.py").read_text()


def test_who_has_waited_long_enough_gets_the_call_that_does_not_end(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text(HANGING)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    words = [sys.executable, "-m", "jaxshrink", "capture", "repro.py"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(line == "running\n" for line in process.stderr)
        process.send_signal(signal.SIGINT)
        told = [line for line in process.stderr if line != "running\n"]
    assert process.returncode == 130
    assert told[-1].startswith("jaxshrink: error: interrupted, but captured repro.captured.py, the call that had not")
    assert "jax.lax.while_loop(" in (tmp_path / "repro.captured.py").read_text()
