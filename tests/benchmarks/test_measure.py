"""Measuring a command with all that it starts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("psutil")

from benchmarks.measure import Measured, measure

pytestmark = pytest.mark.slow  # and the same on each Python

BURN = "import time\nwhile time.process_time() < 0.6: pass\n"


def python(code: str, folder: Path, budget: float = 60.0, grace: float = 10.0) -> Measured:
    (folder / "program.py").write_text(code)
    return measure([sys.executable, "program.py"], folder, os.environ, budget, grace)


def started(code: str) -> str:
    return f"subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)"


def alive(mark: str) -> bool:
    return subprocess.run(["pgrep", "-f", mark], stdout=subprocess.DEVNULL).returncode == 0


def test_output_exit_code_and_moments(tmp_path: Path) -> None:
    code = "import sys, time\nprint('out')\nfor _ in 'ab':\n    print('err', file=sys.stderr, flush=True)\n"
    measured = python(code + "    time.sleep(0.3)\nsys.exit(3)", tmp_path)
    assert (measured.stdout, measured.code, measured.cut) == ("out\n", 3, False)
    assert [line.text for line in measured.stderr] == ["err", "err"]
    first, second = (line.seconds for line in measured.stderr)
    assert 0 < first < second - 0.25
    assert second < measured.seconds


def test_cpu_of_children_that_are_gone(tmp_path: Path) -> None:
    code = f"import subprocess, sys\nfor _ in range(2): subprocess.run([sys.executable, '-c', {BURN!r}])"
    assert python(code, tmp_path).cpu_seconds > 1.1


def test_cpu_of_a_child_that_nobody_waited_for(tmp_path: Path) -> None:
    """It outlives its parent, in a session of its own, and is ended with the rest."""
    burn = BURN + "open('done', 'w')\ntime.sleep(60)"
    code = "import os, subprocess, sys, time\n" + started(burn)
    code += "\nwhile not os.path.exists('done'): time.sleep(0.05)\nos._exit(0)"
    measured = python(code, tmp_path)
    assert measured.cpu_seconds > 0.55
    assert measured.seconds < 30
    assert not alive("'done', 'w'")


def test_memory_of_children_is_added_and_shared_pages_count_once(tmp_path: Path) -> None:
    code = "import os, time\ndata = b'x' * (100 << 20)\n"
    forks = "for _ in range(3):\n    if not os.fork(): time.sleep(2); os._exit(0)\ntime.sleep(2)"
    own = forks.replace("range(3)", "range(2)").replace("time.sleep", "data = b'y' * (100 << 20); time.sleep", 1)
    assert 100 << 20 < python(code + forks, tmp_path).peak_bytes < 180 << 20
    assert 300 << 20 < python(code + own, tmp_path).peak_bytes < 400 << 20


def test_the_end_of_the_budget_is_a_sigint(tmp_path: Path) -> None:
    code = "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('best so far')"
    measured = python(code, tmp_path, budget=1.0)
    assert (measured.stdout, measured.code, measured.cut) == ("best so far\n", 0, True)
    assert 1.0 <= measured.seconds < 30


def test_what_does_not_end_then_is_killed_with_its_children(tmp_path: Path) -> None:
    sleep = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); mark = 'stubborn'; time.sleep(60)"
    code = f"import subprocess, sys\n{started(sleep)}\n{sleep}"
    began = time.monotonic()
    measured = python(code, tmp_path, budget=0.5, grace=0.5)
    assert (measured.code, measured.cut) == (None, True)
    assert time.monotonic() - began < 30
    assert not alive("'stubborn'")


def test_nothing_is_left_when_whoever_measures_is_killed(tmp_path: Path) -> None:
    sleep = "open('started', 'w'); mark = 'orphan'; import time; time.sleep(60)"
    code = "import os, sys; from pathlib import Path; from benchmarks.measure import measure\n"
    code += f"measure([sys.executable, '-c', {sleep!r}], Path({str(tmp_path)!r}), os.environ, 60.0)"
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", code], cwd=root) as process:
        wait_until((tmp_path / "started").exists)
        process.kill()
    wait_until(lambda: not alive("= 'orphan'"))


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come true")


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no-such-tool"):
        measure(["no-such-tool"], tmp_path, os.environ, 5.0)
