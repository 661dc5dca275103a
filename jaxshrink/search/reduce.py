"""The largest part of a list of edits that can be made together.

Counter-based delta debugging (CDD, arXiv 2408.04735): the more often the edits that are left
have failed, the fewer of them are tried at once, so a list of which nothing can be made costs
about twice its length and one of which all can be made costs one run. Groups of a
round are judged in parallel, and the successes of a round folded into one candidate.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Protocol

from jaxshrink import tree as trees
from jaxshrink.tree import Edit, Inapplicable

WIDTH = 8
"""Candidates of a round: fixed, so that the answer does not depend on the number of workers."""


class Verdicts(Protocol):
    """Judges candidates, each against the tree that it came from: interesting, and smaller?"""

    def __call__(self, best: ast.Module, candidates: Sequence[ast.Module]) -> list[bool]: ...


def reduce(tree: ast.Module, edits: Sequence[Edit], judge: Verdicts, *, prior: float = 0.1) -> ast.Module:
    """The tree with as many of the edits made as the judge lets through.

    In the end no single edit of the list can be added. `prior` is how likely an edit is to succeed: a list of
    likely edits is tried in larger groups at first.
    """
    state = _Progress(tree, judge)
    pending = sorted(edits, key=lambda edit: -edit.weight)
    if len(pending) > 1 and prior >= 0.1 and state.round([pending]) == [True]:
        return state.tree
    failures = 0
    while pending:
        size = _group_size(prior, failures, len(pending))
        groups = [pending[i : i + size] for i in range(0, len(pending), size)]
        left: list[Edit] = []
        for start in range(0, len(groups), WIDTH):
            batch = groups[start : start + WIDTH]
            for group, made in zip(batch, state.round(batch), strict=True):
                if not made and size > 1:
                    left.extend(group)
        pending = left
        failures += 1
    return state.tree


def _group_size(prior: float, failures: int, count: int) -> int:
    probability = prior / (1 - 1 / math.e) ** failures
    return 1 if probability >= 0.6 else max(1, min(count, round(-1 / math.log(1 - probability))))


class _Progress:
    """The edits made so far on one tree."""

    def __init__(self, tree: ast.Module, judge: Verdicts):
        self.base = self.tree = tree
        self.judge = judge
        self.made: list[Edit] = []
        self.changed: set[ast.AST] = set()

    def round(self, groups: Sequence[Sequence[Edit]]) -> list[bool]:
        """Tries each group on its own, makes those that succeed; says which were made."""
        trees_ = [self.with_group(group) for group in groups]
        verdicts = self.verdicts(trees_)
        good = [i for i, verdict in enumerate(verdicts) if verdict]
        if not good:
            return verdicts
        if len(good) > 1:
            together = [edit for i in good for edit in groups[i]]
            folded = self.with_group(together)
            if self.verdicts([folded]) == [True]:
                self.accept(together, folded)
                return verdicts
        self.accept(groups[good[0]], trees_[good[0]])
        for i in good[1:]:
            next_tree = self.with_group(groups[i])
            verdicts[i] = self.verdicts([next_tree]) == [True]
            if verdicts[i]:
                self.accept(groups[i], next_tree)
        return verdicts

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
