"""The text of a module, in lines that are not too long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

LONGEST = 88
_INDENT = "    "
_OPEN, _CLOSE = "([{", ")]}"
_STRING = re.compile(r"""[bB]?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


def laid_out(tree: ast.Module) -> str:
    """The source of a module; two empty lines around functions, brackets of long lines opened."""
    found: list[str] = []
    was_function = was_import = False
    for statement in tree.body:
        is_function = isinstance(statement, ast.FunctionDef)
        if found and (is_function or was_function or (was_import and not _is_import(statement))):
            found += ["", ""] if is_function or was_function else [""]
        found += (part for line in _spaced(ast.unparse(statement).splitlines()) for part in _broken(line))
        was_function, was_import = is_function, _is_import(statement)
    return "\n".join(found) + "\n"


def _spaced(lines: list[str]) -> Iterator[str]:
    """An empty line after the end of a function inside another."""
    functions: list[int] = []  # how far those are indented that have not ended
    before = ""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        has_ended = line and functions and indent <= functions[-1]
        while line and functions and indent <= functions[-1]:
            functions.pop()
        if has_ended and before:
            yield ""
        if line.lstrip().startswith("def "):
            functions.append(indent)
        before = line
        yield line


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom))


def _broken(line: str) -> Iterator[str]:
    """A line, with its longest outermost bracket opened where it is too long."""
    indent = line[: len(line) - len(line.lstrip())]
    group = _longest_group(line) if len(line) > LONGEST else None
    if group is None:
        yield line
        return
    start, end = group
    yield line[: start + 1]
    inner = line[start + 1 : end]
    if len(indent) + len(_INDENT) + len(inner) <= LONGEST or not inner.strip():
        yield f"{indent}{_INDENT}{inner}"
    else:
        items = _items(inner)
        is_made = bool(re.search(r"\bfor\b", inner)) and len(items) == 1  # a comprehension takes none
        comma = "," if not is_made and (len(items) > 1 or inner.endswith(",") or _takes_comma(line, start)) else ""
        for item in items:
            yield from _broken(f"{indent}{_INDENT}{item}{comma}")
    yield indent + line[end:]


def _takes_comma(line: str, start: int) -> bool:
    """Whether one item in a bracket may have a comma after it: in calls and lists, where it makes no tuple."""
    is_after_value = bool(re.search(r"[\w)\]]$", line[:start]))
    return line[start] == "{" or is_after_value == (line[start] == "(")


def _longest_group(line: str) -> tuple[int, int] | None:
    """Where the longest outermost bracket that holds something opens and closes, the last of several."""
    found: list[tuple[int, int]] = []
    depth, start = 0, 0
    for position, character in _outside_strings(line):
        if character in _OPEN:
            start = position if not depth else start
            depth += 1
        elif character in _CLOSE:
            depth -= 1
            if not depth and position > start + 1:
                found.append((start, position))
    return max(reversed(found), key=lambda group: group[1] - group[0], default=None)


def _items(text: str) -> list[str]:
    """What commas on the outermost level separate."""
    found, depth, start = [], 0, 0
    for position, character in _outside_strings(text):
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == "," and not depth:
            found.append(text[start:position].strip())
            start = position + 1
    return [*found, text[start:].strip()] if text[start:].strip() else found


def _outside_strings(text: str) -> Iterator[tuple[int, str]]:
    position = 0
    while position < len(text):
        string = _STRING.match(text, position) if text[position] in "bB'\"" else None
        if string:
            position = string.end()
            continue
        yield position, text[position]
        position += 1
