"""The largest part of a list of edits that can be made together.

As in counter-based delta debugging (CDD, arXiv 2408.04735), the more often the edits that are left
have failed, the fewer of them are tried at once. Groups of a round are judged in parallel, and the
successes of a round folded into one candidate, so small groups cost little where many succeed.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Protocol

from jaxshrink import tree as trees
from jaxshrink.tree import Edit, Inapplicable

WIDTH = 8
"""Candidates of a round: fixed, so that the answer does not depend on the number of workers."""


class Verdicts(Protocol):
    """Judges candidates, each against the tree that it came from: interesting, and smaller?"""

    def __call__(self, best: ast.Module, candidates: Sequence[ast.Module]) -> list[bool]: ...


@dataclasses.dataclass(frozen=True)
class Reduced:
    """The tree with the edits that held, these edits, and those that failed when each was tried on its own.

    `size`: of the groups that were tried last.
    """

    tree: ast.Module
    made: Sequence[Edit]
    failed: Sequence[Edit]
    size: int


def reduce(
    tree: ast.Module, edits: Sequence[Edit], judge: Verdicts, *, group: int = 1, patience: int | None = None
) -> Reduced:
    """Makes as many of the edits as the judge lets through.

    `group` edits are tried at once at first. Each is tried on its own in the end, unless `patience` is given: then it
    ends after so many groups in a row that failed. An edit that failed may hold after one that held later: call again.
    """
    failed: list[Edit] = []
    state = _Progress(tree, judge)
    pending = sorted(edits, key=lambda edit: -edit.weight)
    size, fruitless = max(1, min(group, len(pending))), 0
    while pending:
        groups = [pending[i : i + size] for i in range(0, len(pending), size)]
        left: list[Edit] = []
        for start in range(0, len(groups), WIDTH):
            batch = groups[start : start + WIDTH]
            made, asked = state.round(batch)
            fruitless = 0 if any(made) else fruitless + asked
            for edits_, success in zip(batch, made, strict=True):
                if not success:
                    (left if size > 1 else failed).extend(edits_)
            if patience is not None and fruitless >= patience:
                return Reduced(state.tree, state.made, failed, size)
        pending, size = left, max(1, min(size // WIDTH, len(left)))
    return Reduced(state.tree, state.made, failed, size)


class _Progress:
    """The edits made so far on one tree."""

    def __init__(self, tree: ast.Module, judge: Verdicts):
        self.base = self.tree = tree
        self.judge = judge
        self.made: list[Edit] = []
        self.changed: set[ast.AST] = set()

    def round(self, groups: Sequence[Sequence[Edit]]) -> tuple[list[bool], int]:
        """Tries each group on its own, makes those that succeed; says which were made, and how many were tried."""
        trees_ = [self.with_group(group) for group in groups]
        verdicts = self.verdicts(trees_)
        good = [i for i, verdict in enumerate(verdicts) if verdict]
        self.fold(groups, trees_, verdicts, good)
        return verdicts, sum(tree is not None for tree in trees_)

    def fold(
        self,
        groups: Sequence[Sequence[Edit]],
        trees_: Sequence[ast.Module | None],
        verdicts: list[bool],
        good: list[int],
    ) -> None:
        """Makes the good groups together if that holds, else one after the other; strikes out those that do not."""
        if not good:
            return
        if len(good) > 1:
            together = [edit for i in good for edit in groups[i]]
            folded = self.with_group(together)
            if self.verdicts([folded]) == [True]:
                self.accept(together, folded)
                return
        self.accept(groups[good[0]], trees_[good[0]])
        for i in good[1:]:
            next_tree = self.with_group(groups[i])
            verdicts[i] = self.verdicts([next_tree]) == [True]
            if verdicts[i]:
                self.accept(groups[i], next_tree)

    def with_group(self, group: Sequence[Edit]) -> ast.Module | None:
        fresh = [edit for edit in group if self.changed.isdisjoint(edit.changes)]
        if not fresh:
            return None
        try:
            return trees.apply(self.base, [*self.made, *fresh])
        except Inapplicable:
            return None

    def verdicts(self, candidates: Sequence[ast.Module | None]) -> list[bool]:
        asked = [tree for tree in candidates if tree is not None]
        answers = iter(self.judge(self.tree, asked) if asked else [])
        return [tree is not None and next(answers) for tree in candidates]

    def accept(self, group: Sequence[Edit], tree: ast.Module | None) -> None:
        assert tree is not None
        for edit in group:
            if self.changed.isdisjoint(edit.changes):
                self.made.append(edit)
                self.changed.update(edit.changes)
        self.tree = tree
