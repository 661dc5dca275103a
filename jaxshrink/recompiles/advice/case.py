"""A difference that there is advice on, with all that the sentence may depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jaxshrink.recompiles.data import Difference, Leaf, Miss, Static, Tree

WHAT = "\0"
"""Stands for the path in a sentence: those that are alike but for it become one."""


class Case(NamedTuple):
    """One difference of a miss of a function, and all of its misses. `owner` is that of the function."""

    name: str
    owner: str
    miss: Miss
    misses: Sequence[Miss]
    first: Difference

    @property
    def earlier(self) -> Miss | None:
        """The miss that it differs from."""
        return next((each for each in self.misses if each.number == self.miss.closest), None)

    @property
    def before(self) -> Leaf | None:
        """The leaf that differs, as it was in the earlier call."""
        return self.leaf(self.earlier) if self.earlier else None

    @property
    def after(self) -> Leaf | None:
        """The same as it is in this one."""
        return self.leaf(self.miss)

    def leaf(self, miss: Miss) -> Leaf | None:
        """The leaf with the path of the difference in a miss."""
        return next((tree.leaves[self.first.path] for tree in trees(miss) if self.first.path in tree.leaves), None)

    def static(self, miss: Miss | None) -> Static | None:
        """The static value with the path of the difference, or of which this is a part."""
        within = miss.signature.statics if miss else {}
        found = [path for path in within if self.first.path.startswith(path)]
        return within[max(found, key=len)] if found else None

    def values(self, kind: str) -> dict[str, list[str]]:
        """{path: texts}: the values that differ in this way, over all misses."""
        found: dict[str, dict[str, None]] = {}
        for each in (each for miss in self.misses for each in miss.differences if each.kind == kind):
            found.setdefault(each.path, {}).update({each.before: None, each.after: None})
        return {path: list(texts) for path, texts in found.items()}

    @property
    def texts(self) -> list[str]:
        """The values at the path of the difference, over all misses."""
        return self.values(self.first.kind)[self.first.path]

    @property
    def where(self) -> str:
        """The function of the program that makes the call, in words; empty at the top of a program."""
        return "" if self.miss.within in ("", "<module>") else f"`{self.miss.within}`"


def trees(miss: Miss) -> list[Tree]:
    """The arguments of a miss that are trees."""
    return [each for each in miss.signature.arguments.values() if isinstance(each, Tree)]


def some(texts: Sequence[str]) -> str:
    """The first of some texts."""
    return ", ".join([*texts[:3], *(["…"] if len(texts) > 3 else [])])
