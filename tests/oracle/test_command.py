"""Commands that are asked about candidates."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxshrink.errors import UsageError
from jaxshrink.oracle import Setting
from jaxshrink.oracle.command import Command, accepts, words
from jaxshrink.outcome import End, Tier


def command(line: str, **setting: object) -> Command:
    return Command(line, "case.py", Setting(sys.executable, **{"jobs": 2, "timeout": 20.0, **setting}))  # type: ignore[arg-type]


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Path]:
    """A test that looks at everything which the contract promises, called from the folder that it lies in."""
    path = tmp_path / "check it.sh"
    path.write_text(
        "#!/bin/sh\n"
        'test "$(ls -A)" = case.py && test "$#" = 1 && test "$1" -ef case.py && test "$1" = "$PWD/case.py" &&\n'
        'test "$COLOUR" = blue && test "$SHADE" = dark && grep -q needle "$1"\n'
    )
    path.chmod(0o755)
    before = Path.cwd()
    os.chdir(tmp_path)
    yield path
    os.chdir(before)


def test_the_contract(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOUR", "blue")
    with command("check it.sh", env={"SHADE": "dark"}) as runner:
        outcomes = runner.run(["hay\n", "needle\n", "", "# a needle"], Tier.COLD)
    assert [accepts(outcome) for outcome in outcomes] == [False, True, False, True]
    assert runner.counts == {Tier.COLD: 4}


@pytest.mark.parametrize(
    ("line", "interesting"),
    [
        ("grep -q 'a|b'", True),  # the path is the last argument
        ("grep -q 'a b'", False),
        ("cat case.py | grep -q 'a|b'", True),  # the path would keep grep from reading the pipe
        ('! grep -q "a|b" "$1"', False),
        ("grep -q needle case.py || grep -q a.b $1", True),
        ("LANG=C grep -q a.b case.py", True),
        ("exit 3;", False),
        ("kill -9 $$", False),
    ],
)
def test_lines_of_the_shell(line: str, interesting: bool) -> None:
    with command(line) as runner:
        assert accepts(runner.run(["a|b\n"])[0]) is interesting


def test_ends() -> None:
    with command("cat case.py >&2; echo said; . ./case.py") as runner:
        exit_, killed = runner.run(["exit 7\n", "kill -SEGV $$\n"])
    assert (exit_.end, exit_.code, exit_.stdout, exit_.stderr) == (End.EXIT, 7, "said\n", "exit 7\n")
    assert (killed.end, killed.signal) == (End.SIGNAL, signal.SIGSEGV)


def test_nothing_survives_the_time_limit(tmp_path: Path) -> None:
    sleepers = f"for i in 1 2; do (setsid sleep 600 & echo $! >> {tmp_path}/pids; wait) & done; sleep 600"
    with command(sleepers, timeout=1.0) as runner:
        outcome = runner.run([""])[0]
    assert (outcome.end, accepts(outcome)) == (End.TIMEOUT, False)
    assert not [pid for pid in (tmp_path / "pids").read_text().split() if alive(int(pid))]


def test_what_runs_out_of_time_beside_others_runs_again_alone(tmp_path: Path) -> None:
    text = f"test -e {tmp_path}/again || {{ touch {tmp_path}/again; sleep 600; }}\n"
    with command("sh case.py;", timeout=1.0) as runner:
        assert [accepts(outcome) for outcome in runner.run([text, "true\n"])] == [True, True]
        assert runner.counts[Tier.COLD] == 3


def test_output_is_bounded_and_its_end_is_kept() -> None:
    with command(f"{sys.executable} case.py") as runner:
        outcome = runner.run(["print('x' * 10_000_000)\nprint('last')\n"])[0]
    assert len(outcome.stdout) == 1 << 16
    assert outcome.stdout.endswith("last\n")


def test_a_daemon_that_holds_the_pipe_keeps_nobody_waiting() -> None:
    with command("setsid sleep 600 & echo $!; sleep 0.3; exit 0") as runner:
        outcome = runner.run([""])[0]
    daemon = int(outcome.stdout)
    assert accepts(outcome)
    assert alive(daemon), "a session of its own is what the user's test may start and leave"
    os.kill(daemon, signal.SIGKILL)


def test_an_interrupt_ends_what_runs(tmp_path: Path) -> None:
    def interrupt() -> None:
        while len(list(tmp_path.glob("pid-*"))) < 2:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    with command(f"echo $$ > {tmp_path}/pid-$$; exec sleep 600") as runner:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            runner.run([""] * 5)
        thread.join()
        assert runner.counts[Tier.COLD] == 2, "the others never began"
        assert not [path for path in tmp_path.glob("pid-*") if alive(int(path.read_text()))]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("no-such-command --fast", "no command 'no-such-command'"),
        ("grep 'needle", "No closing quotation"),
        ("plain.sh", "chmod \\+x plain.sh"),
    ],
)
def test_what_is_no_command(line: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.sh").write_text("exit 0\n")
    with pytest.raises(UsageError, match=complaint):
        words(line)


def test_a_script_that_the_system_cannot_run(tmp_path: Path) -> None:
    path = tmp_path / "bare"
    path.write_text("exit 0\n")
    path.chmod(0o755)
    with command(str(path)) as runner, pytest.raises(UsageError, match="Exec format error"):
        runner.run([""])


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
