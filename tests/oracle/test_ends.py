"""How programs end, and what is told of it, in the three tiers."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import End, Outcome, Tier

REAL = pytest.mark.parametrize("tier", [Tier.WARM, Tier.COLD])
ALL = pytest.mark.parametrize("tier", list(Tier))


def run(runner: Runner, text: str, tier: Tier = Tier.WARM, timeout: float | None = None) -> Outcome:
    return runner.run([text], tier, timeout)[0]


@ALL
def test_exception(runner: Runner, tier: Tier) -> None:
    text = "def fail(x):\n    return {'a': 1}[x]\n\nfail('décay')\n"
    outcome = run(runner, text, tier)
    assert (outcome.end, outcome.type, outcome.message, outcome.code) == (End.EXCEPTION, "KeyError", "'décay'", 1)
    assert [(frame.function, frame.line, frame.user) for frame in outcome.frames] == [
        ("<module>", 4, True),
        ("fail", 2, True),
    ]
    assert {frame.file for frame in outcome.frames} == {"repro.py"}


@ALL
def test_frames_of_libraries_are_all_there(runner: Runner, tier: Tier) -> None:
    outcome = run(runner, "import jax.numpy as jnp\njnp.ones(3) @ jnp.ones(4)\n", tier)
    assert outcome.frames[0].user
    assert not any(frame.user for frame in outcome.frames[1:])
    assert outcome.frames[-1].file == "jax/_src/lax/lax.py"
    assert not [frame.file for frame in outcome.frames if "inside" in frame.file]


def test_columns(runner: Runner) -> None:
    frame = run(runner, "x = 1; y = x +\\\n  [][2]\n").frames[0]
    assert (frame.line, frame.end_line, frame.column, frame.end_column) == (2, 2, 2, 7)


@ALL
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1", 0),
        ("raise SystemExit", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit(-1)", 255),
        ("import sys; sys.exit('why')", 1),
        ("import os; os._exit(7)", 7),
    ],
)
def test_exit(runner: Runner, tier: Tier, text: str, code: int) -> None:
    outcome = run(runner, text, tier)
    assert (outcome.end, outcome.code) == (End.EXIT, code)


@ALL
@pytest.mark.parametrize("text", ["def f(:\n", "x = '\0'", "  x = 1"])
def test_syntax_is_judged_by_the_target(runner: Runner, tier: Tier, text: str) -> None:
    assert run(runner, text, tier).end is End.SYNTAX


@REAL
def test_signal(runner: Runner, tier: Tier) -> None:
    outcome = run(runner, "import ctypes; ctypes.string_at(0)", tier)
    assert (outcome.end, outcome.signal) == (End.SIGNAL, 11)
    assert "Segmentation fault" in outcome.stderr


def test_signal_is_unknown_to_an_abstract_run(runner: Runner) -> None:
    assert run(runner, "import ctypes; ctypes.string_at(0)", Tier.ABSTRACT).end is End.UNKNOWN


@REAL
def test_output(runner: Runner, tier: Tier) -> None:
    outcome = run(runner, "import sys; print('à'); print('err', file=sys.stderr)", tier)
    assert (outcome.stdout, outcome.stderr) == ("à\n", "err\n")


@ALL
def test_the_outermost_of_chained_exceptions(runner: Runner, tier: Tier) -> None:
    outcome = run(runner, "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('outer') from e", tier)
    assert (outcome.type, outcome.message) == ("ValueError", "outer")


@ALL
def test_interrupt_raised_by_the_program(runner: Runner, tier: Tier) -> None:
    assert run(runner, "raise KeyboardInterrupt", tier).type == "KeyboardInterrupt"


@ALL
def test_endless_recursion(runner: Runner, tier: Tier) -> None:
    outcome = run(runner, "def f(): f()\nf()", tier)
    assert outcome.type == "RecursionError"
    assert {frame.function for frame in outcome.frames} == {"<module>", "f"}


@ALL
def test_an_exception_that_cannot_be_shown(runner: Runner, tier: Tier) -> None:
    outcome = run(runner, "class E(Exception):\n    def __str__(self): raise OSError\nraise E", tier)
    assert (outcome.type, outcome.message) == ("__main__.E", "<OSError while making the message>")


def test_a_giant_message(runner: Runner) -> None:
    outcome = run(runner, "raise ValueError('\\U0001f600' * 10_000_000)")
    assert outcome.type == "ValueError"
    assert outcome.message is not None
    assert set(outcome.message) == {"\U0001f600"}


@ALL
def test_recursion_may_go_as_deep_as_in_the_interpreter(runner: Runner, tier: Tier) -> None:
    text = "import sys\ndef f(n): return n and f(n - 1)\nf({})"
    assert run(runner, text.format("990"), tier).end is End.EXIT
    assert run(runner, text.format("1010"), tier).end is End.EXCEPTION


@ALL
def test_the_program_sees_itself_as_the_interpreter_shows_it(runner: Runner, tier: Tier, folder: Path) -> None:
    text = """\
import inspect, os, pickle, sys, tempfile
class Point: pass
def f(): return 1
facts = [
    __name__ == "__main__",
    os.path.samefile(__file__, "repro.py"),
    sys.path[0] == os.getcwd() == os.path.dirname(__file__),
    sys.argv[1:] == ["--rate", "3"],
    sys.modules["__main__"].Point is Point,
    type(pickle.loads(pickle.dumps(Point()))) is Point,
    inspect.getsource(f) == "def f(): return 1\\n",
    os.environ["COLOUR"] == "blue",
    open("data/sizes.txt").read() == "3 4",
    sys.stdin.read() == "",
    os.path.expanduser("~") != os.environ["PWD"],
    tempfile.gettempdir() == os.environ["TMPDIR"],
    not {"report", "child", "workdir", "sandbox", "supervisor", "stack"} & set(sys.modules),
    globals().get("__builtins__") is not None,
]
if not all(facts): raise ValueError(facts)
open("written.txt", "w").write("here")
tempfile.NamedTemporaryFile().close()
"""
    outcome = run(runner, text, tier)
    assert (outcome.end, outcome.message) == (End.EXIT, None)
    assert not (folder / "written.txt").exists()


@pytest.mark.parametrize("tier", [Tier.ABSTRACT, Tier.WARM])
def test_random_numbers_are_the_same_each_time(runner: Runner, tier: Tier) -> None:
    text = "import random\nimport numpy\nraise ValueError(random.random(), numpy.random.rand())"
    assert run(runner, text, tier).message == run(runner, text + "\n", tier).message


def test_a_real_exit_joins_threads_and_runs_exit_handlers(runner: Runner) -> None:
    text = """\
import atexit, threading, time
atexit.register(lambda: print("handler"))
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
"""
    warm, cold = run(runner, text), run(runner, text, Tier.COLD)
    assert warm.stdout == cold.stdout == "thread\nhandler\n"


def test_a_cold_run_ends_as_an_interpreter_does(runner: Runner) -> None:
    outcome = run(runner, "import atexit\natexit.register(print, 'bye')\n\ndef f():\n    1 / 0\n\nf()\n", Tier.COLD)
    assert (outcome.type, outcome.stdout) == ("ZeroDivisionError", "bye\n")
    assert outcome.stderr.startswith("Traceback (most recent call last):\n  File")
    assert "inside" not in outcome.stderr


def test_outcomes_come_in_order(runner: Runner) -> None:
    texts = [f"import time; time.sleep({0.1 * (3 - i)}); raise ValueError({i})" for i in range(4)]
    assert [outcome.message for outcome in runner.run(texts, Tier.WARM)] == ["0", "1", "2", "3"]


def test_runs_are_counted(runner: Runner) -> None:
    before = runner.counts[Tier.WARM]
    runner.run(["x = 1", "x = 2"], Tier.WARM)
    assert runner.counts[Tier.WARM] == before + 2


@REAL
@pytest.mark.parametrize("text", ["import threading\nthreading.Event().wait()", "\nwhile True: pass"])
def test_where_a_hang_stands(runner: Runner, tier: Tier, text: str) -> None:
    (outcome,) = runner.run([f"{text}\n"], tier, 2.0, sample=True)
    assert (outcome.end, outcome.signal) == (End.TIMEOUT, None)
    assert [(frame.function, frame.line) for frame in outcome.stack if frame.user] == [("<module>", 2)]
    assert outcome.stack[0].user and {frame.file for frame in outcome.stack} <= {"repro.py", "threading.py"}


def test_a_hang_that_does_not_tell(runner: Runner) -> None:
    text = "import signal, time\nsignal.signal(signal.SIGABRT, signal.SIG_IGN)\nwhile True: time.sleep(100)"
    (outcome,) = runner.run([text], Tier.WARM, 0.2, sample=True)
    assert (outcome.end, outcome.stack) == (End.TIMEOUT, ())


def test_what_ends_in_time_does_not_hang(runner: Runner) -> None:
    text = "import threading\nthreading.Event().wait(0.5)"
    assert runner.run([text], Tier.WARM, 20.0, sample=True)[0].end is End.EXIT


@REAL
def test_where_a_signal_came(runner: Runner, tier: Tier) -> None:
    text = "import ctypes, faulthandler\ndef f(): faulthandler._sigsegv()\n\nf()"
    outcome = run(runner, text, tier)
    assert [(frame.file, frame.function, frame.line) for frame in outcome.stack] == [
        ("repro.py", "<module>", 4),
        ("repro.py", "f", 2),
    ]


@REAL
def test_a_descendant_that_dies(runner: Runner, tier: Tier) -> None:
    text = "import faulthandler, os\nif os.fork() == 0: faulthandler._sigsegv()\nos.wait()"
    outcome = run(runner, text, tier)
    assert (outcome.end, outcome.code, outcome.descendant_signal) == (End.EXIT, 0, 11)


def test_the_end_of_much_output_is_kept(runner: Runner) -> None:
    """That is where a crash tells of itself."""
    outcome = run(
        runner, "import faulthandler, sys\nsys.stderr.write('first' + 'x' * 200_000)\nfaulthandler._sigsegv()"
    )
    assert outcome.stderr.startswith("firstx") and outcome.stack[-1].line == 3


@pytest.fixture(scope="module")
def finishing(folder: Path) -> Iterator[Runner]:
    with Runner(Setting(sys.executable, timeout=20.0, finish=True)) as runner:
        yield runner


AT_EXIT = """\
import ctypes
class Last:
    def __del__(self, abort=ctypes.CDLL(None).abort): abort()
last = Last()
print("begin")
"""


@REAL
def test_a_crash_when_the_interpreter_ends(finishing: Runner, tier: Tier) -> None:
    outcome = run(finishing, AT_EXIT, tier)
    assert (outcome.end, outcome.signal) == (End.SIGNAL, 6)


@REAL
def test_an_exception_is_what_a_run_ends_with_though_it_crashes_then(finishing: Runner, tier: Tier) -> None:
    outcome = run(finishing, AT_EXIT + "1 / 0\n", tier)
    assert (outcome.end, outcome.type, outcome.signal) == (End.EXCEPTION, "ZeroDivisionError", 6)
    assert "Traceback (most recent call last):\n  File" in outcome.stderr and "inside" not in outcome.stderr


@REAL
def test_an_interpreters_own_end(finishing: Runner, tier: Tier) -> None:
    text = "import atexit, sys, threading\natexit.register(print, 'handler')\n"
    text += "threading.Timer(0.1, print, ['thread']).start()\nsys.exit(3)\n"
    outcome = run(finishing, text, tier)
    assert (outcome.end, outcome.code, outcome.stdout) == (End.EXIT, 3, "thread\nhandler\n")
