"""Lines of Python in the making: what must come before them, how deep they stand, which names are free."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class Writer:
    """Call it to write a line. `taken` are the names that have a meaning already."""

    def __init__(self, taken: set[str]):
        self._taken = taken
        self._before: dict[str, None] = {}
        self._lines: list[str] = []
        self._depth = 0

    def __call__(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def call(self, text: str, awaits: bool) -> None:
        """Write a call, of a coroutine function if it `awaits`."""
        self(self.run(text, awaits))

    def run(self, text: str, awaits: bool) -> str:
        """A call whose value counts, written as an expression."""
        if awaits:
            self.need("import asyncio")
        return f"asyncio.run({text})" if awaits else text

    def need(self, *before: str) -> None:
        """Imports and definitions that the lines use."""
        self._before |= dict.fromkeys(before)

    def fresh(self, name: str) -> str:
        """A name without a meaning yet."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    @contextlib.contextmanager
    def block(self, head: str) -> Iterator[None]:
        """What is written within stands below `head`."""
        self(head)
        self._depth += 1
        yield
        self._depth -= 1

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join([*self._before, *self._lines])
