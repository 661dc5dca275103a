"""Which lines of a notebook or a test those of the program are that was made of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxshrink import notebook


def lines(path: str, data: bytes) -> list[tuple[str, str]]:
    """(where it stands, text) of all lines: "12" in a file, "cell 3:2" in a notebook, where cells of code count."""
    if path.endswith(".ipynb"):
        return [(f"cell {cell}:{line}", text) for cell, line, text in notebook.lines(data, path)]
    return [(str(number), text) for number, text in enumerate(data.decode("utf-8", "replace").splitlines(), 1)]


def origins(made: str, original: Sequence[tuple[str, str]]) -> dict[int, str]:
    """{line of the program: where it stands in the original}, of those that are there in the same order."""
    made_lines = [line.strip() for line in made.splitlines()]
    original_lines = [line.strip() for _, line in original]
    blocks = difflib.SequenceMatcher(None, made_lines, original_lines, autojunk=False).get_matching_blocks()
    pairs = ((block, at) for block in blocks for at in range(block.size))
    return {block.a + at + 1: original[block.b + at][0] for block, at in pairs}


def told(notes: Iterable[Mapping[str, Any]], path: str, where: Mapping[int, str]) -> list[dict[str, Any]]:
    """Notes with the lines of the original in place of those of the program at `path`: "script 7" where it has none."""

    def place(text: str) -> str:
        file, _, line = text.rpartition(":")
        return f"{path}:{where.get(int(line), f'script {line}')}" if file == path else text

    return [{**note, "defined": place(note["defined"]), "at": place(note["at"])} for note in notes]
