"""The command as a user types it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Command

pytestmark = pytest.mark.newest  # and the same on each Python

SLOW = "import time\n\ntime.sleep(600)\n"


def test_reduces(repro: Path, command: Command) -> None:
    done = command("repro.py")
    assert done.returncode == 0, done.stderr
    result = repro.with_name("repro.min.py")
    assert done.stdout == result.read_text()
    assert done.stdout.startswith("# TypeError: dot_general requires contracting dimensions")
    assert "width" not in done.stdout
    lines = done.stderr.splitlines()
    assert all(line.startswith("jaxshrink: ") for line in lines)
    assert "repro.py: 27 tokens" in lines[0]
    assert "verified" in lines[-2]
    assert "repro.min.py" in lines[-1]

    alone = subprocess.run([sys.executable, result], capture_output=True, text=True, timeout=120)
    assert "TypeError: dot_general requires contracting dimensions" in alone.stderr


def test_json_and_options_after_the_program(repro: Path, command: Command) -> None:
    repro.write_text(
        "import os, sys\nimport jax.numpy as jnp\n\n"
        "jnp.dot(jnp.ones(int(sys.argv[1])), jnp.ones(int(os.environ['WIDTH'])))\n"
    )
    done = command("repro.py", "-q", "--json", "-o", "out.py", "--env", "WIDTH=4", "--jobs", "1", "--", "3")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert (report["status"], report["jobs"]) == ("reduced", 1)
    assert report["output"]["path"] == "out.py"
    assert report["output"]["source"] == repro.with_name("out.py").read_text()
    assert report["failure"]["type"] == "TypeError"
    assert report["failure"]["site"].startswith("jax._src.lax.lax:_dot_general_shape_rule:")
    assert report["runs"] == sum(report["runs_by_tier"].values())
    assert report["runs_by_tier"]["cold"] >= 4, "the first run and three verifications"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Missing argument"),
        (["repro.py", "extra"], "extra argument"),
        (["repro.py", "--fast"], "No such option"),
        (["repro.py", "--jobs", "many"], "not a valid integer"),
        (["repro.py", "--jobs", "0"], "jobs must be a whole number"),
        (["repro.py", "--env", "WIDTH"], "--env takes NAME=VALUE, not 'WIDTH'"),
        (["repro.py", "--same", "line"], "same must be one of type, site, message, exact"),
        (["repro.py", "--match", "["], "match must be a regular expression"),
        (["repro.py", "--tier", "hot"], "tier must be one of"),
        (["repro.py", "--skip-pass", "statments"], "no pass 'statments': did you mean 'statements'?"),
        (["repro.py", "--python", "/no/python"], "no interpreter '/no/python'"),
        (["repro.py", "-o", "repro.py"], "is the program itself"),
        (["repro.py", "-o", "/proc/out.py"], "cannot write /proc/out.py"),
        (["repro.py", "-o", "missing/out.py"], "no folder missing"),
        (["repro.py", "-o", "mine.py"], "exists and was not written by jaxshrink"),
        (["missing.py"], "there is no file missing.py"),
        (["missing/repro.py"], "there is no file missing/repro.py"),
        (["."], ". is a folder"),
        (["empty.py"], "empty.py is empty"),
        (["broken.py"], "broken.py has a syntax error: line 2: "),
        (["binary.py"], "binary.py is a binary file"),
    ],
)
def test_bad_input(arguments: list[str], complaint: str, repro: Path, command: Command) -> None:
    folder = repro.parent
    (folder / "mine.py").write_text("precious = 1\n")
    (folder / "empty.py").touch()
    (folder / "broken.py").write_text("x = 1\ny = = 2\n")
    (folder / "binary.py").write_bytes(b"\x7fELF\0\1")
    before = {path: path.read_bytes() for path in folder.iterdir()}

    done = command("--json", *arguments)
    report = json.loads(done.stdout)
    assert done.returncode == 2
    assert report["status"] == "error"
    assert complaint in report["message"]
    assert done.stderr == f"jaxshrink: error: {report['message']}\n"
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_syntax_error_is_shown(command: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f():\n    return (1 +\n")
    done = command("broken.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[1:] == ["    return (1 +", "           ^"]


def test_program_that_does_not_fail(command: Command, tmp_path: Path) -> None:
    (tmp_path / "fine.py").write_text("import sys\n\nif len(sys.argv) < 2:\n    raise SystemExit('usage')\n")
    code, report = command.report("fine.py", "--", "argument")
    assert (code, report["status"]) == (3, "not-failing")
    assert "fine.py" in report["message"]
    assert (report["input"]["tokens"], report["runs"], report["python"]) == (17, 1, platform.python_version())
    assert report["cold_seconds"] > 0
    assert not (tmp_path / "fine.min.py").exists()


def test_program_that_fails_only_elsewhere(command: Command, tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("import os\n\nif 'WIDTH' in os.environ:\n    {}[0]\n")
    code, report = command.report("repro.py")
    assert (code, report["status"]) == (3, "not-failing")
    code, report = command.report("repro.py", "--env", "WIDTH=1")
    assert (code, report["status"], report["failure"]["type"]) == (0, "reduced", "KeyError")


def test_program_that_fails_otherwise_each_time(command: Command, tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("{}[object()]\n")
    code, report = command.report("repro.py", "--same", "exact")
    assert (code, report["status"], report["failure"]["type"]) == (4, "unreliable", "KeyError")
    assert report["message"] == "repro.py fails, but not in the same way each time"
    assert report["input"]["tokens"] == 7
    assert report["runs"] == sum(report["runs_by_tier"].values()) > 2


def test_missing_module_is_named(command: Command, tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("import jax\nimport nonesuch\n\nx = jax.numpy.ones(3)\n")
    code, report = command.report("repro.py")
    assert (code, report["runs_by_tier"]["cold"], report["jax"]) == (2, 1, importlib.metadata.version("jax"))
    assert "the failure is a ModuleNotFoundError: No module named 'nonesuch'" in report["message"]


def test_interpreter_without_jax(repro: Path, command: Command, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    code, report = command.report("repro.py", "--python", "bare/bin/python")
    assert (code, report["status"]) == (2, "error")
    assert "jax" in report["message"]
    assert "bare/bin/python" in report["message"]


def test_interpreter_that_is_none(repro: Path, command: Command) -> None:
    code, report = command.report("repro.py", "--python", "/bin/true")
    assert (code, report["status"]) == (2, "error")
    assert "/bin/true" in report["message"]


# -- interrupts


def started(command: Command, *arguments: str) -> subprocess.Popen[str]:
    """The command, once it has begun to run the program."""
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxshrink", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=command.folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert process.stderr is not None
    assert "running it once" in process.stderr.readline()
    return process


def test_interrupt_before_there_is_a_result(command: Command, tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text(SLOW)
    process = started(command, "repro.py")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, "")
    assert "Traceback" not in stderr
    assert not (tmp_path / "repro.min.py").exists()


def halfway(repro: Path, command: Command) -> subprocess.Popen[str]:
    """The command on a program that takes a while, once it has found a smaller one."""
    names = [f"x{i}" for i in range(60)]
    lines = [f"{name} = jnp.dot(jnp.ones({i + 2}), jnp.ones({i + 2})) + {i}" for i, name in enumerate(names)]
    repro.write_text("\n".join(["import jax.numpy as jnp", *lines, f"total = {' + '.join(names)}", "{}[total]"]))
    process = started(command, "repro.py", "-v", "--tier", "warm")
    assert process.stderr is not None
    while "tokens after" not in (line := process.stderr.readline()):
        assert line, "no smaller program was ever told of"
    return process


def test_interrupt_keeps_the_best(repro: Path, command: Command) -> None:
    process = halfway(repro, command)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert "interrupted" in stderr
    assert stdout == repro.with_name("repro.min.py").read_text()


def test_resume_after_a_kill(repro: Path, command: Command) -> None:
    process = halfway(repro, command)
    process.kill()
    process.communicate(timeout=60)
    assert not repro.with_name("repro.min.py").exists()

    done = command("repro.py", "--json", "--tier", "warm", "--resume")
    report = json.loads(done.stdout)
    assert "resuming an earlier job" in done.stderr
    assert (done.returncode, report["status"]) == (0, "reduced")
    assert report["failure"]["type"] == "TypeError"
    assert report["jax"] == importlib.metadata.version("jax")
    assert report["cold_seconds"] > 0
    assert f"jax {report['jax']}" in repro.with_name("repro.min.py").read_text()


def test_termination_leaves_nothing_behind(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    (tmp_path / "repro.py").write_text(SLOW)
    process = started(command, "repro.py")
    time.sleep(0.5)
    process.terminate()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in stderr
    assert list(scratch.iterdir()) == []


# -- the terminal, and what is around


@pytest.fixture
def quick(repro: Path) -> None:
    """Instead of the program of the other tests one that fails without JAX."""
    repro.write_text("import os\n\n{}[len('abc')]\n")


def test_live_line_on_a_terminal(quick: None, command: Command) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxshrink", "repro.py"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=command.folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # Linux: the other end is closed
            break
    process.communicate(timeout=60)
    text = shown.decode()
    assert process.returncode == 0, text
    assert "of 10 tokens" in text
    assert "KeyError: 3" in text
    assert "verification" in text
    assert re.search(r"jaxshrink: reduced: .*repro\.min\.py\r\n", text)
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h")  # the cursor is shown again


def test_reader_of_stdout_goes_away(quick: None, command: Command) -> None:
    process = started(command, "repro.py")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    stderr = process.stderr.read()
    assert process.wait(60) == 0
    assert "Traceback" not in stderr
    assert "BrokenPipe" not in stderr


def test_no_stderr(quick: None, command: Command) -> None:
    line = f"exec {sys.executable} -m jaxshrink repro.py 2>&-"
    done = subprocess.run(
        ["sh", "-c", line],
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        cwd=command.folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.returncode == 0
    assert done.stdout.startswith("# KeyError")


def test_plain_answers(command: Command) -> None:
    assert command("--version").stdout.startswith("jaxshrink, version ")
    passes = command("--list-passes")
    assert passes.returncode == 0
    assert all(len(line.split(None, 1)) == 2 for line in passes.stdout.splitlines())
    usage = command("--help").stdout
    assert "[-- ARGS...]" in usage
    for option in (
        "--output", "--json", "--python", "--env", "--same", "--match", "--test", "--jobs", "--timeout", "--memory",
        "--time-limit", "--tier", "--force", "--list-passes", "--only-pass", "--skip-pass", "--resume", "-q", "-v",
    ):  # fmt: skip
        assert option in usage


# -- a test of the user's


def test_a_command_says_what_is_interesting(command: Command, tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text("import os\n\nWIDTH = len(os.environ['LETTERS'])\n")
    (tmp_path / "repro.py").write_text(
        "import sys\nfrom shapes import WIDTH\n\nprint('width', WIDTH)\nsys.exit(WIDTH)\n"
    )
    line = f"{sys.executable} repro.py; test $? = 3"
    code, report = command.report("repro.py", "--env", "LETTERS=abc", "--test", line)
    assert (code, report["status"], report["failure"]["kind"]) == (0, "reduced", "test")
    assert report["runs_by_tier"]["abstract"] == report["runs_by_tier"]["warm"] == 0
    assert "width" not in report["output"]["source"]
    assert subprocess.run([sys.executable, tmp_path / "repro.min.py"], check=False).returncode == 3


def test_a_command_that_does_not_find_the_program_interesting(repro: Path, command: Command) -> None:
    code, report = command.report("repro.py", "--test", "echo no such luck >&2; exit 7")
    assert (code, report["status"]) == (3, "not-failing")
    assert report["message"].endswith("does not find repro.py interesting (exit code 7: no such luck)")
