"""Whether a candidate is interesting, found out with as few runs as possible."""

from __future__ import annotations

import ast
import collections
import dataclasses
import warnings
from collections.abc import Callable, Sequence

from jaxshrink import order
from jaxshrink import tree as trees
from jaxshrink.settle import settle, settled
from jaxshrink.tree import Inapplicable


@dataclasses.dataclass
class Counts:
    """Candidates that needed no run, by reason."""

    cached: int = 0
    syntax: int = 0
    unbound: int = 0
    duplicate: int = 0


class Judge:
    """Answers for candidates that are smaller than the best, well-formed and new; runs only those.

    `interesting` runs texts, in order and at once, and says of each whether it fails in the same way.
    A candidate that reads an unbound name is refused without a run: in code that is certain
    to run it would die of a NameError, elsewhere it would leave a reader puzzled.
    """

    def __init__(self, interesting: Callable[[Sequence[str]], Sequence[bool]]):
        self.interesting = interesting
        self.counts = Counts()
        self.tried = 0
        self.known: dict[str, bool] = {}
        self.sizes: dict[ast.Module, order.Size] = {}

    def __call__(self, best: ast.Module, candidates: Sequence[ast.Module]) -> list[bool]:
        limit = self.size(best)
        texts = [self.admitted(candidate, limit) for candidate in candidates]
        new = list(dict.fromkeys(text for text in texts if text is not None and text not in self.known))
        repeated = collections.Counter(text for text in texts if text is not None and text in self.known)
        self.counts.cached += repeated.total()
        self.counts.duplicate += sum(text is not None for text in texts) - repeated.total() - len(new)
        self.tried += len(new)
        self.known.update(zip(new, self.interesting(new) if new else (), strict=True))
        return [text is not None and self.known[text] for text in texts]

    def forget(self) -> None:
        """Verdicts that let a candidate through no longer count: they were given too lightly."""
        self.known = {text: verdict for text, verdict in self.known.items() if not verdict}

    def size(self, tree: ast.Module) -> order.Size:
        """The size that the tree has once it is settled, as candidates are."""
        if tree not in self.sizes:
            self.sizes = {tree: order.size(trees.text(settle(tree)))}
        return self.sizes[tree]

    def admitted(self, candidate: ast.Module, limit: order.Size) -> str | None:
        """The candidate's text, or None where the answer is no without a run."""
        try:
            candidate, scopes = settled(candidate)
            text = trees.text(candidate)
        except (ValueError, RecursionError, Inapplicable):  # an f-string that this Python cannot write
            self.counts.syntax += 1
            return None
        if text in self.known:
            return text if order.size(text) < limit else None
        if order.size(text) >= limit:
            return None
        try:
            with warnings.catch_warnings(action="ignore"):  # about `1()` and the like: such candidates only fail
                compile(text, "candidate", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            self.counts.syntax += 1
            return None
        if scopes.unbound or scopes.early(candidate):
            self.counts.unbound += 1
            return None
        return text
