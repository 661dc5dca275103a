"""Plain Python in place of the fixtures that pytest brings. Nothing is undone: no test comes after."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Mapping

from jaxshrink.errors import InputError
from jaxshrink.testfile.module import Function


@dataclasses.dataclass(frozen=True)
class StandIn:
    """The expression that is a fixture's value, and the imports and definitions that it needs before."""

    value: str
    before: tuple[str, ...] = ()


TYPES = "import types"

PATH = StandIn("pathlib.Path(tempfile.mkdtemp())", ("import pathlib", "import tempfile"))

CAPTURE = """class Capture:
    def __init__(self):
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()

    def readouterr(self):
        read = collections.namedtuple("CaptureResult", "out err")(sys.stdout.getvalue(), sys.stderr.getvalue())
        self.__init__()
        return read
"""

CAPTURING = StandIn("Capture()", ("import collections", "import io", "import sys", CAPTURE))

STAND_INS = {
    "tmp_path": PATH,
    "tmpdir": PATH,
    "tmp_path_factory": StandIn(
        f"types.SimpleNamespace(mktemp=lambda name, numbered=True: {PATH.value})", (*PATH.before, TYPES)
    ),
    "capsys": CAPTURING,
    "capfd": CAPTURING,
    "benchmark": StandIn("lambda function, *args, **kwargs: function(*args, **kwargs)"),
    "record_property": StandIn("lambda name, value: None"),
    "subtests": StandIn(
        "types.SimpleNamespace(test=lambda *args, **kwargs: contextlib.nullcontext())", ("import contextlib", TYPES)
    ),
}

MONKEY_PATCH = {
    "setenv": """
def setenv(self, name, value, prepend=None):
    os.environ[name] = value + prepend + os.environ[name] if prepend and name in os.environ else str(value)
""",
    "delenv": """
def delenv(self, name, raising=True):
    os.environ.pop(name) if raising else os.environ.pop(name, None)
""",
    "setattr": """
def setattr(self, target, name, *value, raising=True):
    if not value:
        value = (name,)
        target, _, name = target.rpartition(".")
        target = pkgutil.resolve_name(target)
    if raising:
        getattr(target, name)
    setattr(target, name, *value)
""",
    "delattr": """
def delattr(self, target, *name, raising=True):
    if not name:
        target, _, name = target.rpartition(".")
        target, name = pkgutil.resolve_name(target), (name,)
    if raising or hasattr(target, *name):
        delattr(target, *name)
""",
    "setitem": """
def setitem(self, mapping, name, value):
    mapping[name] = value
""",
    "delitem": """
def delitem(self, mapping, name, raising=True):
    mapping.pop(name) if raising else mapping.pop(name, None)
""",
    "chdir": """
def chdir(self, path):
    os.chdir(path)
""",
    "syspath_prepend": """
def syspath_prepend(self, path):
    sys.path.insert(0, str(path))
""",
    "context": """
def context(self):
    return contextlib.nullcontext(self)
""",
}
"""The methods of `pytest.MonkeyPatch`, without their undoing: nothing runs after the test."""


def stand_in(name: str, used: Collection[str]) -> StandIn | None:
    """For a fixture of pytest's own; `used` are the attributes that the program reads."""
    if name != "monkeypatch":
        return STAND_INS.get(name)
    methods = "".join(text for each, text in MONKEY_PATCH.items() if each in used) or "\npass\n"
    imports = [f"import {each}" for each in ("contextlib", "os", "pkgutil", "sys") if f"{each}." in methods]
    return StandIn("MonkeyPatch()", (*imports, "class MonkeyPatch:" + methods.replace("\n", "\n    ")))


def request(user: Function, available: Mapping[str, str]) -> StandIn:
    """In place of `request`, with the attributes that a function reads. Raises InputError for one unavailable."""
    wanted = {
        node.attr: None
        for node in ast.walk(user)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "request"
    }
    for name in wanted:
        if name not in available:
            raise InputError(f"{user.name} uses request.{name}, which only pytest has: do without it there")
    return StandIn(f"types.SimpleNamespace({', '.join(f'{name}={available[name]}' for name in wanted)})", (TYPES,))
