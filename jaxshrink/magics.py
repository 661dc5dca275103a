"""What IPython knows beyond Python, in a cell of a notebook: magics, shell lines, help, as Python or as nothing.

Only what may matter to a failure is kept: the statements that a magic runs, the variables that it sets.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

SAME_CELL = frozenset({"capture", "debug", "memit", "prun", "pyinstrument", "snakeviz", "time", "timeit", "wandb"})
"""Cell magics that run the cell as it is. Of a cell with any other nothing is Python in this process."""

SAME_LINE = frozenset({"memit", "prun", "time", "timeit"})
"""Line magics that run the rest of the line."""

_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'(?:\\.|[^\\])*?(?:\'\'\'|\Z)'''
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*|\\\n|[()\[\]{}\n]""",
    re.DOTALL,
)
"""What decides whether a line end ends a statement."""

_ESCAPED = re.compile(
    r"(?P<indent>[ \t]*)(?:(?P<target>[^\n=!%()\"'#]+?)[ \t]*=[ \t]*)?(?P<kind>[!%])(?P<command>(?:\\\n|[^\n])*)\n?"
)
_HELP = re.compile(r"(?P<indent>[ \t]*)(?:\?[^\n]*|%{0,2}[\w.*\[\]]+\?{1,2}[ \t]*(?:\#[^\n]*)?)(?:\n|\Z)")
_AUTOMAGIC = re.compile(r"(?P<indent>[ \t]*)(?:pip3?|conda|mamba|uv|cd|ls|mkdir|rm|cp|mv|cat)[ \t][^\n]*\n?")
_FLAGS = re.compile(r"(?:-[DTflmnprs]\s*\S+\s+|-[a-z]\s+)*")


def python(cell: str) -> str:
    """The Python of a cell; it may be no Python still. Line ends are `\\n`."""
    cell = re.sub(r"\A(?:[ \t]*\n)+", "", cell)
    if indent := re.match(r"[ \t]*", cell)[0]:  # type: ignore[index]
        cell = re.sub(f"(?m)^{indent}", "", cell)
    if cell.startswith("%%") and not _HELP.match(cell):
        head, _, body = cell[2:].partition("\n")
        return _cell_magic(head, body)
    return "".join(map(_statement, _statements(cell)))


def _cell_magic(head: str, body: str) -> str:
    name, _, rest = head.partition(" ")
    if name in SAME_CELL:
        setup = _run_by(rest) if name == "timeit" else ""
        return (setup and setup + "\n") + python(body)
    if name in ("writefile", "file") and rest.strip():
        *flags, path = rest.split()
        return f"open({path.strip(chr(34))!r}, {'a' if '-a' in flags else 'w'!r}).write({body!r})\n"
    return ""


def _statements(cell: str) -> Iterator[str]:
    """The cell in pieces: whole lines that belong together, a magic's or a statement's (of a block: its head)."""
    start = 0
    while start < len(cell):
        escaped = _HELP.match(cell, start) or _ESCAPED.match(cell, start) or _automagic(cell, start)
        end = escaped.end() if escaped else _end(cell, start)
        yield cell[start:end]
        start = end


def _end(cell: str, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(cell, start):
        if token[0] == "\n" and depth <= 0:
            return token.end()
        depth += (token[0] in "([{") - (token[0] in ")]}")
    return len(cell)


def _automagic(cell: str, start: int) -> re.Match[str] | None:
    """A line magic or shell command without its sign, which IPython lets through where it is no Python."""
    found = _AUTOMAGIC.match(cell, start)
    return found if found and not _is_python(found[0].strip()) and _end(cell, start) == found.end() else None


def _statement(text: str) -> str:
    if _HELP.match(text) or _automagic(text, 0):
        indent, new = re.match(r"[ \t]*", text)[0], ""  # type: ignore[index]
    elif escaped := _ESCAPED.match(text):
        indent, new = escaped["indent"], _escaped(escaped["target"], escaped["kind"], escaped["command"].strip())
    else:
        return text
    return f"{indent}{new or 'pass'}\n" if indent or new else "\n"  # a block needs a statement


def _escaped(target: str | None, kind: str, command: str) -> str:
    if kind == "!":
        return f"import subprocess; {target} = subprocess.{_output(command)}" if target else ""
    name, _, rest = command.partition(" ")
    if target:
        value = _run_by(rest) if name == "time" else ""
        return f"{target} = {value or None}"
    if name in SAME_LINE:
        return _run_by(rest)
    return _variable(rest.strip()) if name in ("env", "set_env") else ""


def _run_by(rest: str) -> str:
    """The statement behind a magic's flags."""
    code = _FLAGS.sub("", rest.lstrip(), count=1).strip()
    return code if _is_python(code) else ""


def _output(command: str) -> str:
    """What a shell prints, as lines; IPython puts the values of `{expressions}` into the command."""
    formatted = f"f{command!r}"
    shell = formatted if "{" in command and _is_python(formatted) else repr(command)
    return f"getoutput({shell}).splitlines()"


def _variable(assignment: str) -> str:
    name, separator, value = assignment.partition("=" if "=" in assignment else " ")
    return f"import os; os.environ[{name.strip()!r}] = {value.strip()!r}" if separator else ""


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
