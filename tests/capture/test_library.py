"""Capturing from Python: `capture(fun, ...)`, `capture.recording`, `jaxshrink.repro`."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(folder: Path, text: str, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(textwrap.dedent(text))
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    arguments = [sys.executable, *command, "train.py"]
    return subprocess.run(arguments, cwd=folder, env=variables, capture_output=True, text=True, timeout=120)


def alone(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, timeout=120)


def test_a_function_that_fails(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        from jaxshrink import capture
        import jax, jax.numpy as jnp

        @jax.jit
        def predict(params, x):
            return jnp.tanh(x @ params["w"])

        def evaluate(params, x):
            scale = jnp.sin(x).sum()
            return predict(params, x) * scale

        program = capture(evaluate, {"w": jnp.ones((3, 4))}, jnp.ones((5, 30)))
        print(program.source)
        print(program.failure.type, program.failure.site, program.notes)
        program.save("repro.py")
        """,
    )
    assert done.returncode == 0, done.stderr
    source, _, told = done.stdout.rpartition("\n\n")
    assert told.startswith("TypeError jax._src.numpy.tensor_contractions:matmul"), done.stdout
    assert "def evaluate(params, x):" in source
    assert "jnp.sin(x).sum()" in source, "every call is kept"
    assert "jax.jit(predict)(params, x)" in source
    assert "TypeError: dot_general" in alone(tmp_path / "repro.py").stderr


def test_a_function_that_ends_well_gives_the_same_again(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        import runpy
        from jaxshrink import capture
        import jax, jax.numpy as jnp

        def f(x, n):
            y = jax.vmap(jax.grad(lambda x: jnp.sin(x) * n))(x)
            return {"y": y, "n": y.sum()}

        program = capture(f, jnp.arange(3.0), n=2)
        assert program.failure is None
        g = runpy.run_path(str(program.save("repro.py")))["f"]
        x = jnp.arange(3.0)
        assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), g(x, 2), f(x, 2)))
        again = capture(g, jnp.arange(3.0), n=2)
        assert again.source == program.source, again.source
        """,
    )
    assert done.returncode == 0, done.stderr


def test_errors_are_saved_while_recording(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
        from jaxshrink import capture
        import jax, jax.numpy as jnp

        add = jax.jit(lambda x, y: x + y)
        with capture.recording("repros"):
            add(jnp.ones(2), jnp.ones(2))
            for n in (3, 4):
                try:
                    add(jnp.ones(2), jnp.ones(n))
                except TypeError as error:
                    assert "incompatible shapes" in str(error)
        try:
            add(jnp.ones(2), jnp.ones(5))
        except TypeError:
            pass
        """,
    )
    assert done.returncode == 0, done.stderr
    saved = sorted((tmp_path / "repros").iterdir())
    assert [path.name for path in saved] == ["repro_TypeError_1.py", "repro_TypeError_2.py"]
    for path, shape in zip(saved, ("(3,)", "(4,)"), strict=True):
        assert f"TypeError: add got incompatible shapes for broadcasting: (2,), {shape}" in alone(path).stderr


FAILING = """
import {imported}jax, jax.numpy as jnp

@jax.jit
def f(x):
    return jnp.concatenate([x, jnp.ones((2, 2))])

f(jnp.ones(3))
"""


@pytest.mark.parametrize("command", [("-m", "jaxshrink.capture"), ()])
def test_a_program_is_saved_where_the_environment_says(command: tuple[str, ...], tmp_path: Path) -> None:
    text = FAILING.format(imported="" if command else "jaxshrink.repro, ")
    done = run(tmp_path, text, *command, JAX_REPRO_DIR="out")
    assert done.returncode == 1
    assert "TypeError: Cannot concatenate arrays with different numbers of dimensions" in done.stderr
    (path,) = (tmp_path / "out").iterdir()
    assert f"jaxshrink: saved {Path('out', path.name)}" in done.stderr
    assert "TypeError: Cannot concatenate" in alone(path).stderr


def test_the_module_needs_to_know_where(tmp_path: Path) -> None:
    done = run(tmp_path, FAILING.format(imported=""), "-m", "jaxshrink.capture", JAX_REPRO_DIR="")
    assert done.returncode == 1
    assert done.stderr == (
        "jaxshrink: error: JAX_REPRO_DIR is not set: it names the folder to which programs are saved\n"
    )


def test_save_repro(tmp_path: Path) -> None:
    text = """
    import jaxshrink.repro as repro
    import jax, jax.numpy as jnp

    assert repro.last_repro() is None
    assert repro.save_repro(lambda x: jnp.sum(x) + 1, jnp.ones(3)) == 4
    path, source = repro.last_repro()
    assert source == path.read_text() and "jnp.sum(x)" in source
    try:
        repro.save_repro(jax.jit(jnp.dot), jnp.ones(3), jnp.ones(4))
    except TypeError as error:
        print(error)
    print(repro.last_repro()[0])
    """
    done = run(tmp_path, text, JAX_REPRO_DIR="out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("dot_general requires")
    assert "TypeError: dot_general" in alone(tmp_path / done.stdout.splitlines()[-1]).stderr
    done = run(tmp_path, text.replace("assert repro.last_repro() is None", ""), JAX_REPRO_DIR="")
    assert "UsageError: JAX_REPRO_DIR is not set" in done.stderr


def test_recording_anywhere(tmp_path: Path) -> None:
    """Without a source file, in threads at once, nested, and past a KeyboardInterrupt."""
    text = """
    import os, threading
    from jaxshrink import capture
    import jax, jax.numpy as jnp

    def attempt(fun, *args):
        try:
            fun(*args)
        except (TypeError, KeyboardInterrupt) as error:
            return type(error).__name__

    def saved(folder):
        return len(os.listdir(folder))

    fails = jax.jit(lambda x: jnp.dot(x, jnp.ones(4)))
    with capture.recording("typed"):
        typed = "def g(x):\\n    y = x @ jnp.ones(4)\\n    return y\\njax.jit(g)(jnp.ones(3))"
        assert attempt(exec, typed, {"jax": jax, "jnp": jnp}) == "TypeError"
    assert saved("typed") == 1

    barrier = threading.Barrier(4)
    def work(n):
        barrier.wait()
        attempt(fails, jnp.ones(n))
    with capture.recording("threads"):
        threads = [threading.Thread(target=work, args=(n,)) for n in (5, 6, 7, 8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    assert saved("threads") == 4

    with capture.recording("outer"):
        with capture.recording("inner"):
            assert attempt(fails, jnp.ones(3)) == "TypeError"
        assert attempt(fails, jnp.ones(2)) == "TypeError"
    assert (saved("outer"), saved("inner")) == (2, 1)

    def interrupted(x):
        raise KeyboardInterrupt
    with capture.recording("interrupted"):
        assert attempt(jax.jit(interrupted), 1.0) == "KeyboardInterrupt"
        assert saved("interrupted") == 0
        assert attempt(fails, jnp.ones(3)) == "TypeError"
    assert saved("interrupted") == 1
    """
    done = run(tmp_path, text)
    assert done.returncode == 0, done.stderr
    threads = [path.read_text() for path in (tmp_path / "threads").iterdir()]
    assert all(any(f"jnp.ones({n})" in text for text in threads) for n in (5, 6, 7, 8)), "each its own"
    for path in (*(tmp_path / "typed").iterdir(), *(tmp_path / "interrupted").iterdir()):
        assert "TypeError: dot_general requires contracting dimensions" in alone(path).stderr, path.read_text()


def test_a_failing_test_is_saved(tmp_path: Path) -> None:
    text = """
    import jaxshrink.repro
    import jax, jax.numpy as jnp, pytest

    @pytest.fixture
    def x():
        return jnp.ones(3)

    def test_dot(x):
        jax.jit(jnp.dot)(x, jnp.ones(4))
    """
    done = run(tmp_path, text, "-m", "pytest", "-p", "no:cacheprovider", JAX_REPRO_DIR="out")
    assert "1 failed" in done.stdout, done.stdout
    (path,) = (tmp_path / "out").iterdir()
    assert "TypeError: dot_general requires contracting dimensions" in alone(path).stderr
