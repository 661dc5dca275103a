"""What stderr tells of a process that died."""

from __future__ import annotations

import signal
import textwrap

import pytest

from jaxshrink.faults import explained, fatal_line
from jaxshrink.outcome import End, Frame, Outcome

OLD = """\
Fatal Python error: Segmentation fault

Thread 0x00007f043de60b80 (most recent call first):
  File "/usr/lib/python3.9/threading.py", line 312 in wait
  File "/usr/lib/python3.9/threading.py", line 892 in _bootstrap

Current thread 0x00007f97cce0fb80 (most recent call first):
  File "/env/lib/python3.9/site-packages/jax/_src/pjit.py", line 149 in _run_python_pjit
  File "repro.py", line 6 in <lambda>
  File "repro.py", line 9 in <module>
  File "/usr/lib/python3.9/runpy.py", line 1 in run

Extension modules: numpy.random.mtrand (total: 1)
"""

NEW = """\
Fatal Python error: Aborted

<Cannot show all threads while the GIL is disabled>
Thread 0x00007f97b47566c0 [Thread-1 (work)] (most recent call first):
  <no Python frame>

Thread 0x00007f97cce0fb80 [python] (most recent call first):
  File "pkg/tool.py", line 3 in run
  File "repro.py", line 9 in <module>
  ...

Current thread's C stack trace (most recent call first):
  Binary file "/env/bin/python3.14", at _Py_DumpStack+0x3e [0x55d6]
  <truncated rest of calls>

Extension modules: numpy.random.mtrand (total: 1)
"""


def died(stderr: str, number: int) -> Outcome:
    return explained(Outcome(End.SIGNAL, signal=number, stderr=stderr))


def test_the_current_thread() -> None:
    assert died(OLD, signal.SIGSEGV).stack == (
        Frame("repro.py", "<module>", 9, user=True),
        Frame("repro.py", "<lambda>", 6, user=True),
        Frame("jax/_src/pjit.py", "_run_python_pjit", 149),
    )


def test_the_main_thread_where_no_thread_of_python_failed() -> None:
    frames = [(frame.file, frame.line, frame.user) for frame in died(NEW, signal.SIGABRT).stack]
    assert frames == [("repro.py", 9, True), ("pkg/tool.py", 3, True)]


def test_without_threads() -> None:
    stderr = 'Fatal Python error: Bus error\n\nStack (most recent call first):\n  File "repro.py", line 1 in f\n'
    assert died(stderr, signal.SIGBUS).stack == (Frame("repro.py", "f", 1, user=True),)


def test_files_of_libraries_in_the_programs_folder_are_not_its_own() -> None:
    stderr = OLD.replace("/env/lib", "env/lib")
    assert died(stderr, signal.SIGSEGV).stack == died(OLD, signal.SIGSEGV).stack


def test_unknown_frames() -> None:
    stderr = OLD.replace('"repro.py", line 6 in <lambda>', "???, line ??? in ???")
    assert died(stderr, signal.SIGSEGV).stack[1] == Frame("???", "???", -1)


def test_dumps_of_descendants() -> None:
    """A process that the program starts has the same stderr."""
    outcome = explained(Outcome(End.EXIT, code=1, stderr=f"log\n{OLD}Traceback"))
    assert (outcome.stack, outcome.descendant_signal) == ((), signal.SIGSEGV)
    outcome = died(OLD + "more\n" + NEW, signal.SIGABRT)
    assert (outcome.stack[-1].function, outcome.descendant_signal) == ("run", signal.SIGSEGV)
    assert died(NEW, signal.SIGABRT).descendant_signal is None


def test_a_kill_leaves_no_stack() -> None:
    assert died("Killed by somebody", signal.SIGKILL) == Outcome(
        End.SIGNAL, signal=signal.SIGKILL, stderr="Killed by somebody"
    )


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        ("F1129 17:46:55.80  3582 parse.cc:234] Unknown flag: --x\n", "parse.cc:234] Unknown flag: --x"),
        ("2024-05-04 10:00:00.01: F xla/a.cc:9] Check failed: n == 1", "xla/a.cc:9] Check failed: n == 1"),
        ("terminate called after throwing 'E'\n  what():  why\n", "terminate called after throwing 'E' what(): why"),
        (
            "terminate called after throwing an instance of ''\nFATAL: exception not rethrown\n",
            "FATAL: exception not rethrown",
        ),
        ("warning\nfree(): invalid pointer\n", "free(): invalid pointer"),
        ("double free or corruption (!prev)\n", "double free or corruption (!prev)"),
        ("*** stack smashing detected ***: terminated\n", "*** stack smashing detected ***"),
        ("LLVM ERROR: out of memory\n", "LLVM ERROR: out of memory"),
        ("python: a.cc:12: int f(int): Assertion `n' failed.\n", "a.cc:12: int f(int): Assertion `n' failed."),
        (
            "Fatal Python error: none_dealloc: deallocating None\n",
            "Fatal Python error: none_dealloc: deallocating None",
        ),
        (OLD, ""),
        ("E1129 17:46:55.80  3582 parse.cc:234] harmless\nFree(): text", ""),
    ],
)
def test_fatal_lines(stderr: str, line: str) -> None:
    assert fatal_line(textwrap.dedent(stderr)) == line
