"""A jaxpr in a file is a program like any other."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxshrink import inputs, jaxprs
from jaxshrink.errors import InputError


def wrong(x, w):
    return jnp.log(jnp.tanh(x @ w) - 5.0).sum()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "traced.jaxpr"
    path.write_bytes(jaxprs.dumps(jax.make_jaxpr(wrong)(jnp.ones((3, 4)), jnp.ones((4, 2)))))
    return path


def test_the_program_calls_the_jaxpr(file):
    program = inputs.read(file)
    assert program.is_made and str(program.entry.path) == "traced.py"
    assert "return jnp.sum(jnp.log(jnp.tanh(x @ w) - 5.0))" in program.entry.text
    assert program.entry.text.endswith("jax.block_until_ready(jax.jit(f)(jnp.ones((3, 4)), jnp.ones((4, 2))))\n")


def test_what_is_no_jaxpr_is_said_to_be_none(tmp_path):
    path = tmp_path / "broken.jaxpr"
    path.write_bytes(b"no jaxpr")
    with pytest.raises(InputError, match=r"broken.jaxpr is no jaxpr that can be run: these bytes are no jaxpr"):
        inputs.read(path)
    with pytest.raises(InputError, match="there is no file"):
        inputs.read(tmp_path / "none.jaxpr")


def printed(file):
    command = [sys.executable, "-m", "jaxshrink.jaxprs", str(file)]
    return subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)


def test_the_module_prints(file):
    assert printed(file).stdout == jaxprs.to_source(jax.make_jaxpr(wrong)(jnp.ones((3, 4)), jnp.ones((4, 2))))


def test_the_module_prints_pickled_bytes_and_runs_no_pickle(file):
    pickled = file.with_suffix(".pkl")
    pickled.write_bytes(pickle.dumps(file.read_bytes()))
    assert printed(pickled).stdout == printed(file).stdout
    pickled.write_bytes(b"cos\nmkdir\n(S'" + str(file.with_name("made")).encode() + b"'\ntR.")
    none = file.with_name("none")
    for path, why in ((pickled, "these bytes are no jaxpr"), (none, "cannot read .*none: No such file")):
        done = printed(path)
        assert (done.returncode, done.stdout) == (2, "") and re.match(f"jaxshrink.jaxprs: error: {why}", done.stderr)
    assert not file.with_name("made").exists()


@pytest.mark.slow
def test_it_is_reduced(file):
    command = [sys.executable, "-m", "jaxshrink", str(file), "--env", "JAX_DEBUG_NANS=1", "-q"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert "jnp.log(" in done.stdout and "tanh" not in done.stdout
    assert file.with_name("traced.min.py").read_text() == done.stdout
