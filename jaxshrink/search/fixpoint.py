"""Passes again and again, until none of them can make one more edit."""

from __future__ import annotations

import ast
import collections
import enum
import math
import time
from collections.abc import Callable, Hashable, Sequence

from jaxshrink import order
from jaxshrink import tree as trees
from jaxshrink.passes import Pass
from jaxshrink.result import PassStats
from jaxshrink.search.judge import Judge
from jaxshrink.search.reduce import WIDTH, Reduced, reduce
from jaxshrink.settle import settle
from jaxshrink.tree import Edit
from jaxshrink.view import View

PATIENCE = 16
"""Candidates in a row that may fail before a pass is put back."""


MOST_EVEN = 32
"""Successes in a row that save no token: where a failure comes and goes with sizes, there is always one more."""


MOST_AGAIN = 3
"""How often one edit may be made: as a step on a way down, where more only means that the way is no slope."""


class Effort(enum.IntEnum):
    """How much is tried before a pass counts as fruitless."""

    LIKELY = 0  # edits that are likely to help; a pass that finds nothing for a while is put back
    NEW = 1  # all edits, apart from those that failed on an earlier version of the tree
    ALL = 2


class Fixpoint:
    """Applies passes to a tree in their order until a whole round changes nothing.

    The result is then 1-minimal for these passes: no single edit that one of them proposes can be made, but for those
    that save no token where too many such have been.
    `improved` is told of every tree that became the best; `begins` of every pass that begins. A pass of which
    `most_vain` candidates in a row have failed waits until nothing else is likely to help.
    """

    def __init__(
        self,
        passes: Sequence[Pass],
        view: Callable[[ast.Module, bool], View],
        judge: Judge,
        improved: Callable[[ast.Module], None],
        begins: Callable[[str], None] = lambda name: None,
        most_even: int = MOST_EVEN,
        most_vain: float = math.inf,
    ):
        self.passes, self.view, self.judge = passes, view, judge
        self.improved, self.begins = improved, begins
        self.counts = {each.name: PassStats(each.name) for each in passes}
        self.failed: set[Hashable] = set()
        self.made: collections.Counter[Hashable] = collections.Counter()
        self.fruitless: dict[str, tuple[int, frozenset[Hashable]]] = {}  # by pass: size of groups, and their edits
        self.even, self.most_even = 0, most_even
        self.vain, self.most_vain = collections.Counter[str](), most_vain

    def run(self, tree: ast.Module) -> ast.Module:
        """The smallest tree.

        The cheap passes come first again after each success, and effort grows only where there is none.
        """
        tree, effort = settle(tree), Effort.LIKELY
        while True:
            after = self.round(tree, effort)
            if after is not tree:
                tree, effort = after, Effort.LIKELY
            elif effort is Effort.ALL:
                return tree
            else:
                effort = Effort(effort + 1)

    def round(self, tree: ast.Module, effort: Effort) -> ast.Module:
        """The tree after all passes; or after the first that made it shorter: what is plainer only can wait."""
        for each in self.passes:
            before, tree = tree, self.once(each, tree, effort)
            if tree is not before and _tokens(tree) < _tokens(before):
                break
        return tree

    def once(self, each: Pass, tree: ast.Module, effort: Effort) -> ast.Module:
        """One pass over the tree; the same tree where it finds nothing."""
        if effort is Effort.LIKELY and self.vain[each.name] >= self.most_vain:
            return tree
        self.begins(each.name)
        start, tried = time.monotonic(), self.judge.tried
        proposed = each.propose(self.view(tree, effort > Effort.LIKELY))
        edits = [edit for edit in proposed if self.made[_identity(edit)] < MOST_AGAIN]
        if effort < Effort.ALL:
            edits = [edit for edit in edits if _identity(edit) not in self.failed]
        patience = PATIENCE if effort is Effort.LIKELY else None
        outcome = reduce(tree, edits, self.judge, group=self.group(each, edits), patience=patience)
        self.remember(each, edits, outcome)
        self.vain[each.name] = 0 if outcome.made else self.vain[each.name] + self.judge.tried - tried
        self.failed.update(map(_identity, outcome.failed))
        self.made.update(map(_identity, outcome.made))
        reduced = tree if outcome.tree is tree else settle(outcome.tree)
        if reduced is not tree:
            self.even = self.even + 1 if _tokens(reduced) == _tokens(tree) else 0
            reduced = tree if self.even > self.most_even else reduced
        self.count(each, self.judge.tried - tried, time.monotonic() - start, tree, reduced)
        if reduced is tree:
            return tree
        self.improved(reduced)
        return reduced

    def group(self, each: Pass, edits: Sequence[Edit]) -> int:
        """How many edits are tried at once at first: where most have failed in groups before, fewer."""
        size, failed = self.fruitless.get(each.name, (each.group, frozenset()))
        known = sum(_identity(edit) in failed for edit in edits)
        return each.group if 2 * known < len(edits) else max(1, size // WIDTH)

    def remember(self, each: Pass, edits: Sequence[Edit], outcome: Reduced) -> None:
        """Note in what groups the edits of a pass have failed, if all did."""
        if outcome.made:
            self.fruitless.pop(each.name, None)
        elif each.group > 1:
            self.fruitless[each.name] = outcome.size, frozenset(map(_identity, edits))

    def count(self, each: Pass, tried: int, seconds: float, before: ast.Module, after: ast.Module) -> None:
        """Note what a pass has done."""
        old, kept = self.counts[each.name], int(after is not before)
        tokens = order.tokens(trees.text(before)) - order.tokens(trees.text(after)) if kept else 0
        self.counts[each.name] = PassStats(
            each.name, old.tried + tried, old.kept + kept, old.tokens + tokens, old.seconds + seconds
        )


def _tokens(tree: ast.Module) -> int:
    return order.tokens(trees.text(tree))


def _identity(edit: Edit) -> Hashable:
    """Equal for edits that do the same to the same nodes, also when they were proposed for different versions."""
    return edit.about or frozenset(
        (trees.identity(node), tuple(map(_content, by if isinstance(by, tuple) else (by,))))
        for node, by in edit.changes.items()
    )


def _content(node: ast.AST) -> Hashable:
    return trees.identity(node) if trees.is_known(node) else ast.dump(node)
