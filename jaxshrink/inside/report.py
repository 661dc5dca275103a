"""How a candidate failed, told in a piece of memory that it shares with its supervisor.

Memory, because a candidate may close every file descriptor that it has.
"""

import itertools
import json
import mmap
import os
import re
import struct
import sys
import tempfile

from stack import library_path

_SIZE = 1 << 23
_MOST_BYTES = 1 << 19  # of one outcome
_HEAD = struct.Struct("<QQ")  # how many outcomes, and their bytes
_MOST_FRAMES = 1000
MOST_COMPILES = 10000
_MOST_CHARACTERS = 1 << 17
DECLINED = {"end": "declined"}
"""Told in place of an outcome by a child that leaves its program to a fresh one."""

_HERE = os.path.dirname(os.path.abspath(__file__))
_OUR_LINES = re.compile(rf'^ *File "{re.escape(_HERE)}[^"]*", line \d+, in .*\n(?:    .*\n)*', re.MULTILINE)


class Report:
    """What a child says of the end of its program: the child appends, the supervisor reads."""

    def __init__(self, descriptor=None):
        self.descriptor = _shared_file() if descriptor is None else descriptor
        self.memory = mmap.mmap(self.descriptor, _SIZE)

    def append(self, outcome):
        count, used = self._head()
        data = json.dumps(outcome).encode() + b"\n"
        if len(data) > _MOST_BYTES:
            short = dict(outcome, message=outcome["message"][:10000], frames=outcome["frames"][-100:])
            data = json.dumps(short).encode() + b"\n"
        start = _HEAD.size + used
        self.memory[start : start + len(data)] = data
        self.memory[: _HEAD.size] = _HEAD.pack(count + 1, used + len(data))  # last: now it is complete

    def compiled(self, name, reason):
        """Tell of a compilation, before the outcome."""
        if self.count() < MOST_COMPILES:
            self.append({"compiled": [name, reason]})

    def count(self):
        return self._head()[0]

    def read(self):
        used = self._head()[1]
        return [json.loads(line) for line in self.memory[_HEAD.size : _HEAD.size + used].splitlines()]

    def clear(self):
        """Begin again, for another program."""
        self.memory[: _HEAD.size] = _HEAD.pack(0, 0)

    def close(self):
        self.memory.close()
        os.close(self.descriptor)

    def _head(self):
        return _HEAD.unpack(self.memory[: _HEAD.size])


def of_exception(error, path, end="exception"):
    """An outcome (see `jaxshrink/outcome.py`) of an exception that left the program at `path`."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    frames = [_frame(entry, path) for entry in _entries(error.__traceback__)]
    return {"end": end, "type": name, "message": _message(error, path), "frames": frames, "code": 1}


def exit_code(error):
    """The exit code that the interpreter makes of a SystemExit, which it may print."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _shared_file():
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("report")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, _SIZE)
    return descriptor


def _entries(traceback):
    """The entries of a traceback without ours, which are the outermost; of an endless recursion both ends."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    ours = itertools.takewhile(lambda entry: os.path.dirname(entry.tb_frame.f_code.co_filename) == _HERE, entries)
    entries = entries[len(list(ours)) :]
    if len(entries) > _MOST_FRAMES:
        entries = entries[: _MOST_FRAMES // 2] + entries[-_MOST_FRAMES // 2 :]
    return entries


def _frame(entry, path):
    """[file, function, line, end line, column, end column, whether it is the program's own]; columns of own frames."""
    code = entry.tb_frame.f_code
    if code.co_filename != path:
        return [library_path(code.co_filename), code.co_name, entry.tb_lineno, -1, -1, -1, False]
    span = _span(code, entry.tb_lasti)
    return [os.path.basename(path), code.co_name, entry.tb_lineno, *span, True]


def _span(code, instruction):
    """(end line, column, end column), -1 where unknown."""
    if instruction < 0 or not hasattr(code, "co_positions"):  # Python 3.10 and older
        return -1, -1, -1
    span = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    return tuple(-1 if one is None else one for one in span[1:])


def _message(error, path):
    """The message. It names the program without its folder; tracebacks in it (of callbacks) show no frames of ours."""
    try:
        message = _OUR_LINES.sub("", str(error)[:_MOST_CHARACTERS])
    except BaseException as problem:  # an exception's own __str__ may do anything
        return f"<{type(problem).__name__} while making the message>"
    return message.replace(os.path.join(os.path.dirname(path), ""), "")
