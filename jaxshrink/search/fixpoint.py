"""Passes again and again, until none of them can make one more edit."""

from __future__ import annotations

import ast
import dataclasses
import time
from collections.abc import Callable, Sequence

from jaxshrink import order
from jaxshrink import tree as trees
from jaxshrink.passes import Pass
from jaxshrink.search.judge import Judge
from jaxshrink.search.reduce import reduce
from jaxshrink.settle import settle
from jaxshrink.view import View


@dataclasses.dataclass
class PassCounts:
    """What a pass has done so far: candidates run, edits that held, tokens removed, seconds spent."""

    name: str
    tried: int = 0
    kept: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Fixpoint:
    """Applies passes to a tree in their order until a whole round changes nothing.

    The result is then 1-minimal for these passes: no single edit that one of them proposes can be made.
    `improved` is told of every tree that became the best; `begins` of every pass that begins.
    """

    def __init__(
        self,
        passes: Sequence[Pass],
        view: Callable[[ast.Module], View],
        judge: Judge,
        improved: Callable[[ast.Module], None],
        begins: Callable[[str], None] = lambda name: None,
    ):
        self.passes, self.view, self.judge = passes, view, judge
        self.improved, self.begins = improved, begins
        self.counts = {each.name: PassCounts(each.name) for each in passes}

    def run(self, tree: ast.Module) -> ast.Module:
        tree = settle(tree)
        unchanged = 0
        while unchanged < len(self.passes):
            for each in self.passes:
                smaller = self.once(each, tree)
                unchanged = unchanged + 1 if smaller is tree else 0
                tree = smaller
                if unchanged >= len(self.passes):
                    break
        return tree

    def once(self, each: Pass, tree: ast.Module) -> ast.Module:
        """One pass over the tree; the same tree where it finds nothing."""
        self.begins(each.name)
        counts, start, tried = self.counts[each.name], time.monotonic(), self.judge.tried
        reduced = reduce(tree, list(each.propose(self.view(tree))), self.judge, prior=each.prior)
        counts.tried += self.judge.tried - tried
        counts.seconds += time.monotonic() - start
        if reduced is tree:
            return tree
        reduced = settle(reduced)
        counts.kept += 1
        counts.tokens += order.tokens(trees.text(tree)) - order.tokens(trees.text(reduced))
        self.improved(reduced)
        return reduced
