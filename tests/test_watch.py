"""What the first run shows when it does not come to its end, or to another one than its own."""

from __future__ import annotations

import signal
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from jaxshrink import watched
from jaxshrink.observation import Array, Literal, Observation
from jaxshrink.oracle import Setting
from jaxshrink.outcome import End, Frame
from jaxshrink.watch import NotObserved, watch
from tests.observing import local

TIME = 60.0


def run(folder: Path, text: str, **bounds: Any) -> Observation:
    (folder / "repro.py").write_text(textwrap.dedent(text))
    environment = {**Setting(sys.executable).environment(), "JAX_PLATFORMS": "cpu"}
    return watch(sys.executable, folder, "repro.py", (), environment, TIME, **bounds)


def stood(frames: tuple[Frame, ...]) -> list[tuple[str, int]]:
    return [(frame.function, frame.line) for frame in frames if frame.user]


LOOPS = {
    "in Python": "while len(x): n = 7",
    "asleep": "time.sleep(1000)",
    "in XLA": "jax.lax.while_loop(lambda n: n == n, lambda n: n + 1, 0).block_until_ready()",
    "waiting for what never is": "y = jax.lax.while_loop(lambda n: n == n, lambda n: n + 1, 0); time.sleep(1000)",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_hang(tmp_path: Path, loop: str) -> None:
    text = f"import jax, time\n\ndef wait(x):\n    {loop}\n\nprint('begin')\nwait(jax.numpy.ones((2, 3)))\n"
    observation = run(tmp_path, text, hang=4.0)
    assert (observation.outcome.end, observation.outcome.stdout) == (End.TIMEOUT, "begin\n")
    assert stood(observation.outcome.frames) == [("<module>", 7), ("wait", 4)]
    assert stood(observation.outcome.stack) == [("<module>", 7), ("wait", 4)]
    assert [frame.function for frame in observation.frames] == ["wait", "<module>"]
    x = local(observation, "x")
    assert isinstance(x, Array) and x.shape == (2, 3) and x.data
    assert observation.lines["repro.py"] == {1, 3, 4, 6, 7}


def test_hang_of_native_code_that_lets_no_other_thread_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "_ANSWER", 0.5)
    text = """\
    import ctypes
    def wait(seconds):
        ctypes.PyDLL(None).sleep(seconds)
    wait(1000)
    """
    observation = run(tmp_path, text, hang=1.0)
    assert observation.outcome.end is End.TIMEOUT
    assert stood(observation.outcome.frames) == stood(observation.outcome.stack) == [("<module>", 4), ("wait", 3)]
    assert local(observation, "seconds") == Literal("1000")


def test_hang_at_exit(tmp_path: Path) -> None:
    observation = run(tmp_path, "import threading\nthreading.Thread(target=threading.Event().wait).start()", hang=1.5)
    assert (observation.outcome.end, observation.outcome.frames) == (End.TIMEOUT, ())
    assert observation.outcome.stack[0].file == "threading.py"
    assert observation.finished == ("__main__",)


def test_what_still_imports_a_library_has_not_begun_to_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "slow.py").write_text("import time\ntime.sleep(2)")
    (tmp_path / "program").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "library"))
    observation = run(tmp_path / "program", "import slow\nwhile True: pass", hang=1.5)
    assert observation.outcome.end is End.TIMEOUT
    assert stood(observation.outcome.frames) == [("<module>", 2)]


def test_what_ends_does_not_hang(tmp_path: Path) -> None:
    assert run(tmp_path, "x = 1", hang=TIME).outcome.end is End.EXIT


CRASH = """\
import ctypes, faulthandler, sys
import jax.numpy as jnp

def poke(address, scale):
    total = address + 1
    for i in range(3):
        if i == 2: faulthandler._sigsegv()

print("begin")
poke(jnp.zeros(2), [1, 2.5])
"""


def test_crash(tmp_path: Path) -> None:
    observation = run(tmp_path, CRASH)
    outcome = observation.outcome
    assert (outcome.end, outcome.signal, outcome.type) == (End.SIGNAL, signal.SIGSEGV, None)
    assert "Segmentation fault" in outcome.stderr and str(tmp_path) not in outcome.stderr
    assert stood(outcome.stack) == stood(outcome.frames) == [("<module>", 10), ("poke", 7)]
    assert local(observation, "i") == Literal("2")
    assert local(observation, "total") == Array("jax", (2,), "float32", data=[1.0, 1.0], min=1.0)
    assert 9 in observation.lines["repro.py"] and observation.values


def test_crash_over_a_deep_tree(tmp_path: Path) -> None:
    text = "import faulthandler\nx = []\nfor _ in range(3000): x = [x]\ndef f(x): faulthandler._sigsegv()\nf(x)\n"
    observation = run(tmp_path, text)
    assert observation.outcome.signal == signal.SIGSEGV
    assert [frame.function for frame in observation.frames] == ["f", "<module>"]


def test_crash_in_a_module_beside_the_entry(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("import os\n\ndef die(why):\n    os.abort()\n")
    observation = run(tmp_path, "import tool\ntool.die('so')\n")
    assert [(frame.file, frame.line) for frame in observation.outcome.frames] == [("repro.py", 2), ("tool.py", 4)]
    assert local(observation, "why") == Literal("'so'")


def test_crash_of_a_worker_thread(tmp_path: Path) -> None:
    """The stack is the worker's; what is known of the program is what it had done until then."""
    text = """\
    import os, threading
    def die():
        os.abort()
    size = 3
    worker = threading.Thread(target=die)
    worker.start()
    worker.join()
    """
    observation = run(tmp_path, text)
    assert observation.outcome.signal == signal.SIGABRT
    assert stood(observation.outcome.stack) == [("die", 3)]
    assert {2, 4, 5, 6} <= observation.lines["repro.py"]


@pytest.mark.parametrize("end", ["", "sys.exit(3)"])
def test_crash_at_exit(tmp_path: Path, end: str) -> None:
    observation = run(tmp_path, f"import atexit, os, sys\natexit.register(os.abort)\nx = len('abc')\n{end}\n")
    assert (observation.outcome.end, observation.outcome.signal) == (End.SIGNAL, signal.SIGABRT)
    assert observation.outcome.frames == () and observation.frames == ()
    assert {1, 2, 3} <= observation.lines["repro.py"] and Literal("3") in observation.objects


def test_crash_of_a_descendant(tmp_path: Path) -> None:
    text = "import os\nif os.fork() == 0: os.abort()\nif os.wait()[1]: raise ValueError('child')\n"
    outcome = run(tmp_path, text).outcome
    assert (outcome.type, outcome.descendant_signal) == ("ValueError", signal.SIGABRT)


def test_fatal_exit_of_native_code(tmp_path: Path) -> None:
    text = """\
    import os
    os.environ["XLA_FLAGS"] = "--xla_no_such_flag"
    import jax.numpy as jnp
    jnp.ones(3)
    """
    observation = run(tmp_path, text)
    assert (observation.outcome.end, observation.outcome.code) == (End.EXIT, 1)
    assert "Unknown flag in XLA_FLAGS" in observation.outcome.stderr
    assert stood(observation.outcome.frames) == [("<module>", 4)]


def test_output_and_exit_code(tmp_path: Path) -> None:
    outcome = run(tmp_path, "import sys\nprint('out')\nprint(__file__, file=sys.stderr)\nsys.exit(4)").outcome
    assert (outcome.end, outcome.code, outcome.stdout, outcome.stderr) == (End.EXIT, 4, "out\n", "repro.py\n")


def test_memory(tmp_path: Path) -> None:
    text = """\
    import time
    def fill(kept):
        while True:
            kept.append(bytearray(b"x" * 10_000_000))
            time.sleep(0.02)
    fill([])
    """
    observation = run(tmp_path, text, memory=300 << 20)
    assert observation.outcome.end is End.MEMORY
    assert [function for function, _ in stood(observation.outcome.frames)] == ["<module>", "fill"]
    assert "kept" in observation.frames[0].locals


def test_a_run_that_takes_too_long_is_not_observed(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("while True: pass")
    with pytest.raises(NotObserved) as raised:
        watch(sys.executable, tmp_path, "repro.py", (), Setting(sys.executable).environment(), 0.5)
    assert raised.value.outcome.end is End.TIMEOUT


def test_a_python_that_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(NotObserved) as raised:
        watch("false", tmp_path, "repro.py", (), {}, TIME)
    assert (raised.value.outcome.end, raised.value.outcome.code) == (End.EXIT, 1)


WARNS = """\
import numpy as np
def logs(x):
    y = np.log(x)
    x = None
    return y
for x in (1, 0, 2):
    logs(np.array([x, 5.0]))
"""


def test_where_it_stands_when_it_is_warned(tmp_path: Path) -> None:
    observation = run(tmp_path, WARNS, match="divide by zero")
    assert (observation.outcome.end, observation.outcome.code) == (End.EXIT, 0)
    assert "RuntimeWarning: divide by zero" in observation.outcome.stderr
    assert [(frame.function, frame.span.line) for frame in observation.frames] == [("logs", 3), ("<module>", 7)]
    x = local(observation, "x")
    assert isinstance(x, Array) and x.shape == (2,), "as it was then"
    assert observation.lines["repro.py"] == set(range(1, 8))
    assert run(tmp_path, WARNS, match="no such warning").frames == ()
    assert run(tmp_path, f"{WARNS}{{}}[0]", match="divide").frames[0].function == "<module>", "an exception comes first"
