"""What must hold before anything lands: `pip install nox && nox`."""

import argparse
import os
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests", "corpus"]

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
CASES = "../shared"


@nox.session
def lint(session: nox.Session) -> None:
    """Style and likely mistakes."""
    session.install("ruff>=0.6")
    session.run("ruff", "check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types, checked strictly."""
    session.install(".[test]")
    session.run("mypy", "--strict", "jaxshrink")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All but the corpus, on each Python that is there; each gets the newest JAX that it can run."""
    session.install(".[test]")
    session.run("pytest", "-m", "not corpus", *session.posargs)


@nox.session(python=PYTHONS)
def corpus(session: nox.Session) -> None:
    """The whole job on the programs of corpus/."""
    session.install(".[test]")
    session.run("pytest", "-m", "corpus", *session.posargs)


@nox.session(python=PYTHONS)
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
    out = os.path.join(session.create_tmp(), "exam")
    command = ["--jaxshrink", bin_ / "jaxshrink", "--python", bin_ / "python", "--kind", "exception", "--out", out]
    session.run("python", script, *command, *rest)
