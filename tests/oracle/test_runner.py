"""Starting, ending, and losing the processes that run candidates."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jaxshrink.errors import TargetError
from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import End, Tier


def test_nothing_is_started_before_it_is_needed() -> None:
    with Runner(Setting("/no/such/python")) as runner:
        assert not runner.servers


@pytest.mark.parametrize(
    ("python", "message"), [("/no/such/python", "cannot run the interpreter"), ("/bin/true", "did not start")]
)
@pytest.mark.parametrize("tier", [Tier.WARM, Tier.COLD])
def test_not_an_interpreter(python: str, message: str, tier: Tier) -> None:
    with Runner(Setting(python)) as runner, pytest.raises(TargetError, match=message):
        runner.run(["x = 1"], tier)


def test_an_interpreter_without_jax(tmp_path: Path) -> None:
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError(\"No module named 'jax'\")")
    with Runner(Setting(sys.executable, env={"PYTHONPATH": str(tmp_path)})) as runner:
        with pytest.raises(TargetError, match="cannot import JAX: No module named 'jax'"):
            runner.target()
        with pytest.raises(TargetError, match="cannot import JAX"):
            runner.run(["x = 1"], Tier.ABSTRACT)
        assert runner.run(["x = 1"], Tier.COLD)[0].end is End.EXIT


def test_imports_that_start_something_are_left_to_the_children(tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("import os; PID = os.getpid()")
    (tmp_path / "loud.py").write_text("import jax; jax.devices(); import os; PID = os.getpid()")
    (tmp_path / "broken.py").write_text("raise SystemExit")
    env = {"PYTHONPATH": str(tmp_path)}
    setting = Setting(sys.executable, env=env, imports=("broken", "loud", "quiet", "missing"))
    with Runner(setting) as runner:
        assert runner.target()["imports"] == ["quiet"]
        text = "import os, quiet, loud\nprint(quiet.PID == os.getpid(), loud.PID == os.getpid())"
        assert runner.run([text], Tier.WARM)[0].stdout == "False True\n"


def test_a_zygote_that_dies_is_replaced() -> None:
    with Runner(Setting(sys.executable)) as runner:
        runner.target()
        first = runner.servers[True].process.pid
        futures = [runner.submit(f"import time; time.sleep(0.5); raise ValueError({i})", Tier.WARM) for i in range(5)]
        os.kill(first, signal.SIGKILL)
        assert [future.result(60).message for future in futures] == ["0", "1", "2", "3", "4"]
        assert runner.servers[True].process.pid != first
        assert runner.counts == {Tier.WARM: 5}


def test_close_ends_what_runs_and_removes_its_files() -> None:
    with Runner(Setting(sys.executable)) as runner:
        runner.target()
        server = runner.servers[True]
        future = runner.submit("import time; time.sleep(1000)", Tier.WARM)
        while not list((server.root / "runs").iterdir()):
            time.sleep(0.01)
    assert future.exception(10) is not None
    assert server.process.poll() is not None
    assert not server.root.exists()


def test_the_zygote_ends_with_its_parent() -> None:
    parent = """\
import os, sys
from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import Tier
runner = Runner(Setting(sys.executable))
runner.target()
runner.submit("import time; time.sleep(1000)", Tier.WARM)
print(runner.servers[True].process.pid, runner.servers[True].root, flush=True)
os.kill(os.getpid(), 9)
"""
    here = Path(__file__).parents[2]
    told = subprocess.run([sys.executable, "-c", parent], cwd=here, stdout=subprocess.PIPE, text=True)
    process, root = told.stdout.split()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{process}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{process}").exists()
    assert not Path(root).exists()


def test_jobs_are_many_at_once_and_no_more() -> None:
    text = "import os, time; time.sleep(0.3); raise ValueError(len(os.listdir('../..')))"
    with Runner(Setting(sys.executable, jobs=2)) as runner:
        assert {outcome.message for outcome in runner.run([text] * 4, Tier.WARM)} <= {"1", "2"}


def test_abstract_runs_know_nothing_of_a_jax_that_works_otherwise(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import jax; jax.eval_shape = lambda *args: None")
    with Runner(Setting(sys.executable, env={"PYTHONPATH": str(tmp_path)}, imports=("other",))) as runner:
        assert runner.target()["abstract"] is False
        assert [outcome.end for outcome in runner.run(["1 / 0", "x = 1"], Tier.ABSTRACT)] == [End.UNKNOWN] * 2
        assert runner.run(["1 / 0"], Tier.WARM)[0].type == "ZeroDivisionError"


def test_a_closed_runner_starts_nothing() -> None:
    runner = Runner(Setting(sys.executable))
    runner.close()
    with pytest.raises(RuntimeError, match="closed"):
        runner.run(["x = 1"], Tier.COLD)
