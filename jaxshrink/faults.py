"""What a dying process leaves on stderr: faulthandler's dump of the Python stacks, the last words of native code."""

from __future__ import annotations

import dataclasses
import re
import signal
from pathlib import Path

from jaxshrink.outcome import End, Frame, Outcome

_INSIDE = str(Path(__file__).parent / "inside")

_TITLE = re.compile(r"Fatal Python error: (.*)$", re.MULTILINE)
_SIGNALS = {
    "Segmentation fault": signal.SIGSEGV,
    "Aborted": signal.SIGABRT,
    "Bus error": signal.SIGBUS,
    "Illegal instruction": signal.SIGILL,
    "Floating point exception": signal.SIGFPE,
    "Floating-point exception": signal.SIGFPE,
}
"""What faulthandler calls the signals that it handles; with another title, Python itself calls `abort`."""

_THREAD = re.compile(r"^(Current thread|Thread|Stack)(?: 0x.*)? \(most recent call first\):$")
_FRAME = re.compile(r'^  File (?:"(.*)"|\?\?\?), line (\d+|\?\?\?) in (.*)$')
_LIBRARY = re.compile(r"^(?:.*/)?(?:(?:site|dist)-packages|lib(?:64)?/(?:python|pypy)3\.\d+t?)/")

_FATAL = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^F\d{4} [\d:.]+ +\d+ (\S+:\d+\] .*)$",  # absl's log
        r"^[-\d]+ [\d:.]+: F (\S+:\d+\] .*)$",  # TensorFlow's log, which XLA had
        r"^(LLVM ERROR: .*)$",
        r"^\S+: (\S+:\d+: .*: Assertion [`'].*)$",
        r"^((?:double free or corruption|corrupted (?:size|double)).*)$",
        r"^((?:malloc\w*|calloc|realloc|free|munmap_chunk)\(\): .*)$",
        r"^(\*\*\* .* detected \*\*\*)",
        r"^(FATAL: exception not rethrown)",
        r"^(terminate called .*(?:\n  what\(\):.*)?)$",
        r"^(pure virtual method called)$",
        rf"^(Fatal Python error: (?!(?:{'|'.join(_SIGNALS)})$).*)$",
    )
]


@dataclasses.dataclass(frozen=True)
class _Dump:
    """One dump: of which signal, None where it is not told, and the stack of the thread that failed.

    `native`: that thread ran no Python, and the stack is the main thread's.
    """

    signal: int | None
    stack: tuple[Frame, ...]
    native: bool


def explained(outcome: Outcome) -> Outcome:
    """The outcome with what its stderr tells: the stack at a signal or time-out, a descendant's signal.

    In stderr, a file of the program has its relative name.
    """
    ended_by = signal.SIGABRT if outcome.end is End.TIMEOUT else outcome.signal
    dumps = _dumps(outcome.stderr)
    own = next((dump for dump in reversed(dumps) if dump.signal == ended_by), None)
    others = [dump.signal for dump in dumps if dump is not own]
    found = dataclasses.replace(outcome, descendant_signal=others[-1] if others else None)
    return found if own is None else dataclasses.replace(found, stack=own.stack, native=own.native)


def fatal_line(stderr: str) -> str:
    """The line in which native code says why it ends the process, without time and thread; empty where there is none.

    Native code is XLA, whose failed checks are logged, the C++ and C runtimes, LLVM, and Python itself.
    """
    found = next((match for match in (pattern.search(stderr) for pattern in _FATAL) if match), None)
    return " ".join(found[1].split()) if found else ""


def _dumps(stderr: str) -> list[_Dump]:
    titles = [*_TITLE.finditer(stderr)]
    bounds = [*(title.start() for title in titles), len(stderr)]
    return [_dump(title[1], stderr[title.end() : end]) for title, end in zip(titles, bounds[1:], strict=True)]


def _dump(title: str, text: str) -> _Dump:
    frames, current = _failed_thread(text)
    return _Dump(_SIGNALS.get(title, signal.SIGABRT), _program_part(frames), native=not current)


def _failed_thread(text: str) -> tuple[list[Frame], bool]:
    """The frames of the current thread, outermost first; of the main one, which is last, where none is the current."""
    threads: list[list[Frame]] = [[]]
    current: list[Frame] | None = None
    for line in text.split("\n"):
        thread, frame = _THREAD.match(line), _FRAME.match(line)
        if thread:
            threads.append([])
            current = threads[-1] if thread[1] != "Thread" else current
        elif frame:
            threads[-1].insert(0, _frame(frame))
        elif line and not line.startswith("  ") and threads[1:]:
            break  # the list of extension modules, or what another process says
    return (threads[-1], False) if current is None else (current, True)


def _frame(match: re.Match[str]) -> Frame:
    file, line = match[1] or "???", int(match[2]) if match[2].isdigit() else -1
    name = _LIBRARY.sub("", file)
    return Frame(name, match[3], line, user=name == file and not file.startswith(("/", "<", "???")))


def _program_part(frames: list[Frame]) -> tuple[Frame, ...]:
    """From the program's first frame on, where it has one; never what runs it."""
    frames = [frame for frame in frames if not frame.file.startswith(_INSIDE)]
    first = next((index for index, frame in enumerate(frames) if frame.user), 0)
    return tuple(frames[first:])
