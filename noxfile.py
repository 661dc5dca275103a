"""What must hold before anything lands: `pip install nox && nox`."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"

CASES = "../shared"


def output(*command: str) -> list[str]:
    """The words that a command prints; none where it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


def pythons() -> list[str]:
    """The versions of Python that are there, and can run jaxshrink."""
    if shutil.which("pyenv"):  # it hides all but the chosen one
        names = [*output("pyenv", "version-name"), *output("pyenv", "versions", "--bare")]
        os.environ["PYENV_VERSION"] = ":".join(dict.fromkeys(names))
    versions = [f"3.{minor}" for minor in range(11, 20)]
    return [version for version in versions if shutil.which(f"python{version}") and output(f"python{version}", "-V")]


PYTHONS = pythons()
OLDEST_AND_NEWEST = list(dict.fromkeys(PYTHONS[:1] + PYTHONS[-1:]))
"""Enough for an old and a new JAX: each Python gets the newest that it can run."""

EVERYTHING = ("--no-compile", ".[test,frameworks]")
"""What the checks need; most of what is installed is never imported."""

MYPY = ("mypy", "--strict", "jaxshrink", "benchmarks")

nox.options.sessions = ["lint", *(f"tests-{python}" for python in OLDEST_AND_NEWEST)]


@nox.session
def lint(session: nox.Session) -> None:
    """Style and likely mistakes."""
    session.install("ruff>=0.6")
    session.run("ruff", "check", ".")


@nox.session(python=PYTHONS[:1])
def types(session: nox.Session) -> None:
    """Types alone, checked strictly."""
    session.install(*EVERYTHING)
    session.run(*MYPY)


def left_out(python: str) -> list[str]:
    """What takes long runs on one Python only, on the oldest or on the newest: the markers of what others do."""
    return [*(["slow"] if python != PYTHONS[0] else []), *(["newest"] if python != PYTHONS[-1] else [])]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, on each Python; by default on the oldest and the newest. Some of those that take long run on one only:
    `nox -s tests -- -m ""` runs them on all. On the oldest, types are checked first, as all that takes is there.

    Two at once, on however many cores: most tests wait for other processes, and some of these use two themselves.
    """
    session.install(*EVERYTHING)
    if session.python == PYTHONS[0]:
        session.run(*MYPY)
    markers = " and ".join(f"not {marker}" for marker in left_out(str(session.python)))
    session.run("pytest", "--numprocesses", "2", "-m", markers, *session.posargs)


JAX_VERSIONS = ("0.4.30", "0.4.38", "0.5.3", "0.6.2", "0.7.2", "0.8.1", "0.9.2", "0.10.2")
"""For each way in which JAX has changed what is used of its internals, one release; newer ones are for `tests`."""


@nox.session(python="3.11")
@nox.parametrize("jax", JAX_VERSIONS)
def jax_versions(session: nox.Session, jax: str) -> None:
    """What needs JAX's internals, on older releases of it.

    One alone is `nox -s "jax_versions(jax='0.5.3')"`; names of tests go on: `-- tests/jaxprs` runs all on jaxprs.
    """
    session.install(".", f"jax=={jax}", "hypothesis>=6.100", "pytest>=8")
    chosen = ["tests/jaxprs/test_internals.py", "tests/jaxprs/test_releases.py", "tests/recompiles"]
    session.run("pytest", "-m", "not slow", *(session.posargs or chosen))


@nox.session(python="3.12")
def benchmarks(session: nox.Session) -> None:
    """jaxshrink beside its peers, as `benchmarks/README.md` says; options go on: `nox -s benchmarks -- --budget 60`."""
    session.install(".[benchmarks]")
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session(python=OLDEST_AND_NEWEST)
def exam(session: nox.Session) -> None:
    """The whole job on given cases, where their folder exists: `nox -s exam -- [--cases FOLDER] [--only 001 004]`.

    The folder holds `tools/exam.py`, which knows its own cases; what else is given goes to it.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default=CASES)
    given, rest = parser.parse_known_args(session.posargs)
    script = Path(given.cases, "tools", "exam.py").resolve()
    if not script.exists():
        session.skip(f"there is no {script}")
    session.install(".")
    bin_ = Path(session.bin)
    out = Path(session.create_tmp(), "exam").resolve()  # the script runs elsewhere
    command = ["--jaxshrink", bin_ / "jaxshrink", "--python", bin_ / "python", "--kind", "exception", "--out", out]
    session.run("python", script, *command, *rest)
