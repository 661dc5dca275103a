"""Programs that nobody wrote do anything. The zygote outlives them, and so do the user's files."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxshrink.oracle import Runner
from jaxshrink.outcome import End, Outcome, Tier


def run(runner: Runner, text: str, tier: Tier = Tier.WARM, timeout: float | None = None) -> Outcome:
    return runner.run([text], tier, timeout)[0]


def zygote(runner: Runner) -> int:
    return runner.servers[True].process.pid


@pytest.fixture(autouse=True)
def survives(runner: Runner) -> Iterator[None]:
    """After each test the same zygote works, and nothing is left of its candidates but what waits for more of them."""
    runner.target()
    before = zygote(runner)
    yield
    assert run(runner, "raise ValueError('well')").message == "well"
    assert zygote(runner) == before
    deadline = time.monotonic() + 5
    while left(before) > runner.setting.jobs and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left(before) <= runner.setting.jobs


def left(pid: int) -> int:
    """The number of its children and their children."""
    own = children(pid)
    return len(own) + sum(len(children(int(child))) for child in own if Path(f"/proc/{child}").exists())


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.parametrize("tier", [Tier.WARM, Tier.COLD])
def test_endless_loop(runner: Runner, tier: Tier) -> None:
    assert run(runner, "while True: pass", tier, 0.2).end is End.TIMEOUT


def test_endless_sleep(runner: Runner) -> None:
    assert run(runner, "import time; time.sleep(1000)", timeout=0.05).end is End.TIMEOUT


def test_endless_loop_is_unknown_to_an_abstract_run(runner: Runner) -> None:
    assert run(runner, "while True: pass", Tier.ABSTRACT, 0.2).end is End.UNKNOWN


def test_lack_of_time_counts_only_the_second_time(runner: Runner) -> None:
    """What a busy machine looks like: never idle for long, and little CPU time in much time."""
    text = """\
import time
start = time.monotonic()
while time.monotonic() - start < {}:
    until = time.process_time() + 0.01
    while time.process_time() < until:
        pass
    time.sleep(0.09)
"""
    assert run(runner, text.format(1.2), timeout=0.25).end is End.EXIT
    assert run(runner, text.format(100), timeout=0.25).starved


@pytest.mark.parametrize("tier", [Tier.WARM, Tier.COLD])
def test_memory_hog(runner: Runner, tier: Tier) -> None:
    text = "import numpy as np, time\nkeep = []\nwhile True: keep.append(np.ones(10_000_000)); time.sleep(0.02)"
    assert run(runner, text, tier).end is End.MEMORY


def test_memory_hog_of_many_processes(runner: Runner) -> None:
    text = """\
import os, time
for _ in range(4):
    if os.fork() == 0: break
keep = bytearray(os.urandom(1024)) * 400_000
time.sleep(100)
"""
    assert run(runner, text).end is End.MEMORY


def test_forks_share_memory(runner: Runner) -> None:
    text = """\
import os, time
children = [pid for pid in (os.fork() for _ in range(3)) if pid]
time.sleep(0.3)
"""
    assert run(runner, text).end is End.EXIT


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_flood(runner: Runner, stream: str) -> None:
    outcome = run(runner, f"import sys\nfor i in range(300_000): print('x' * 99, file=sys.{stream})\nraise ValueError")
    assert outcome.type == "ValueError"
    assert len(getattr(outcome, stream)) == 1 << 16


def test_kills_its_own_group(runner: Runner) -> None:
    outcome = run(runner, "import os, signal; os.killpg(0, signal.SIGKILL)")
    assert (outcome.end, outcome.signal) == (End.SIGNAL, signal.SIGKILL)


def test_cannot_kill_others(runner: Runner) -> None:
    outcome = run(runner, f"import os, signal; os.kill(os.getppid(), signal.SIGKILL); os.kill({os.getpid()}, 9)")
    assert outcome.type == "PermissionError"


@pytest.mark.parametrize("tier", list(Tier))
def test_deletes_its_directory(runner: Runner, tier: Tier) -> None:
    text = "import os, shutil; shutil.rmtree(os.path.dirname(os.getcwd()), ignore_errors=True); [][1]"
    assert run(runner, text, tier).type == "IndexError"


@pytest.mark.parametrize("tier", list(Tier))
def test_closes_all_files(runner: Runner, tier: Tier) -> None:
    assert run(runner, "import os; os.closerange(0, 4096); [][1]", tier).type == "IndexError"


@pytest.mark.parametrize("detach", ["", "os.setsid()"])
def test_grandchildren_end_with_it(runner: Runner, detach: str) -> None:
    text = f"""\
import os, time
if os.fork() == 0:
    {detach or "pass"}
    if os.fork() == 0:
        time.sleep(1000)
    time.sleep(1000)
raise ValueError
"""
    assert run(runner, text).type == "ValueError"  # the fixture looks for what is left


def test_grandchild_that_holds_the_output(runner: Runner) -> None:
    started = time.monotonic()
    assert run(runner, "import subprocess; subprocess.Popen(['sleep', '1000']); print(1)").stdout == "1\n"
    assert time.monotonic() - started < 100


def test_threads(runner: Runner) -> None:
    text = """\
import threading, time
for _ in range(20): threading.Thread(target=time.sleep, args=(1000,)).start()
raise ValueError
"""
    assert run(runner, text).type == "ValueError"


@pytest.mark.parametrize("tier", [Tier.WARM, Tier.COLD])
def test_exception_in_an_exit_handler(runner: Runner, tier: Tier) -> None:
    outcome = run(runner, "import atexit; atexit.register(lambda: 1 / 0)", tier)
    assert (outcome.end, outcome.code) == (End.EXIT, 0)
    assert "ZeroDivisionError" in outcome.stderr


def test_exit_in_an_exit_handler(runner: Runner) -> None:
    outcome = run(runner, "import atexit, os; atexit.register(lambda: os._exit(5))")
    assert (outcome.end, outcome.code) == (End.EXIT, 5)


@pytest.mark.parametrize("text", ["open('data/sizes.txt', 'w')", "open('notes.txt', 'a')", "open('{0}/new', 'w')"])
def test_the_users_files_are_safe(runner: Runner, folder: Path, text: str) -> None:
    assert run(runner, text.format(folder)).type == "PermissionError"
    assert (folder / "data" / "sizes.txt").read_text() == "3 4"
    assert (folder / "notes.txt").read_text() == "as it was"


def test_no_network_but_a_loopback(runner: Runner) -> None:
    text = """\
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
socket.create_connection(("192.0.2.1", 80), timeout=5)
"""
    outcome = run(runner, text)
    assert (outcome.type, outcome.message) == ("OSError", "[Errno 101] Network is unreachable")


def test_replaces_its_streams(runner: Runner) -> None:
    assert run(runner, "import sys; sys.stdout = sys.stderr = None; [][1]").type == "IndexError"


def test_many_at_once(runner: Runner) -> None:
    kinds = ["raise ValueError({})", "import os; os._exit({})", "import os; os.abort() #{}", "import os; os.fork() #{}"]
    texts = [kinds[i % 4].format(i) for i in range(40)]
    for i, outcome in enumerate(runner.run(texts, Tier.WARM)):
        assert outcome.end is [End.EXCEPTION, End.EXIT, End.SIGNAL, End.EXIT][i % 4], (i, outcome)
