"""Delta debugging over a list of edits, against judges that only look at what is left."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from jaxshrink import tree as trees
from jaxshrink.search import reduce
from jaxshrink.tree import Edit
from tests.programs import quick

ALL = 1_000_000


class Names:
    """A judge that is told by the names which a candidate still has."""

    def __init__(self, interesting: Callable[[frozenset[str]], bool]):
        self.interesting = interesting
        self.asked: list[frozenset[str]] = []
        self.batches: list[int] = []

    def __call__(self, best: ast.Module, candidates: Sequence[ast.Module]) -> list[bool]:
        left = [names_of(candidate) for candidate in candidates]
        self.asked += left
        self.batches.append(len(left))
        return [self.interesting(names) for names in left]


def names_of(tree: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def statements(count: int) -> tuple[ast.Module, list[Edit]]:
    """A program of so many names, one a line, and an edit for each that deletes it."""
    tree = ast.parse("\n".join(f"n{i}" for i in range(count)))
    return tree, [Edit.delete(statement) for statement in tree.body]


subsets = st.sets(st.integers(0, 19), max_size=6).map(lambda numbers: frozenset(f"n{i}" for i in numbers))


@quick
@given(subsets, st.sampled_from([1, 3, ALL]))
def test_what_is_needed_stays_and_nothing_else(needed: frozenset[str], group: int) -> None:
    tree, edits = statements(20)
    result = reduce(tree, edits, Names(needed.issubset), group=group)
    assert names_of(result.tree) == needed
    assert {node for edit in result.failed for node in edit.changes} == {tree.body[int(name[1:])] for name in needed}


@quick
@given(st.lists(subsets, min_size=1, max_size=3), st.sampled_from([1, 3, ALL]))
def test_no_single_edit_can_be_added(alternatives: list[frozenset[str]], group: int) -> None:
    """Interesting is what has all of the first names, or all of the second, …: not every way down leads equally far."""
    tree, edits = statements(20)
    judge = Names(lambda left: any(left >= names for names in alternatives))
    result = reduce(tree, edits, judge, group=group)
    left = names_of(result.tree)
    assert judge.interesting(left)
    assert not any(judge.interesting(left - {name}) for name in left)


@quick
@given(st.integers(2, 1000), st.sampled_from([1, 3, ALL]))
def test_a_judge_without_pattern_is_obeyed(seed: int, group: int) -> None:
    """Verdicts as of a hash: the result is the input or a program that was let through, at last a 1-minimal one."""
    tree, edits = statements(12)
    judge = Names(lambda left: sum(seed ** int(name[1:]) for name in left) % 7 < 3)
    while (result := reduce(tree, edits, judge, group=group)).tree is not tree:
        tree = result.tree
        assert names_of(tree) in judge.asked and judge.interesting(names_of(tree))
        edits = [Edit.delete(statement) for statement in tree.body]
    left = names_of(tree)
    assert not any(judge.interesting(left - {name}) for name in left)


def test_groups_find_a_few_among_many_with_few_runs() -> None:
    tree, edits = statements(1000)
    judge = Names(frozenset({"n17", "n500", "n501"}).issubset)
    assert names_of(reduce(tree, edits, judge, group=ALL).tree) == {"n17", "n500", "n501"}
    assert len(judge.asked) < 100


def test_the_heaviest_edits_come_first() -> None:
    tree = ast.parse("a\nf(b, c, d)\ng(e)")
    judge = Names(lambda left: False)
    reduce(tree, [Edit.delete(statement) for statement in tree.body], judge)
    assert ["".join(sorted(left)) for left in judge.asked] == ["aeg", "abcdf", "bcdefg"]


def test_successes_of_a_round_are_folded() -> None:
    tree, edits = statements(8)
    judge = Names(lambda left: True)
    reduce(tree, edits, judge)
    assert judge.batches == [8, 1]


def test_edits_that_only_hold_one_by_one_are_made_one_by_one() -> None:
    tree, edits = statements(3)
    judge = Names(lambda left: len(left) == 2)
    result = reduce(tree, edits, judge)
    assert names_of(result.tree) == {"n1", "n2"}
    assert len(result.failed) == 2


def test_patience_ends_a_fruitless_search() -> None:
    tree, edits = statements(100)
    judge = Names(lambda left: False)
    result = reduce(tree, edits, judge, patience=10)
    assert result.tree is tree and len(judge.asked) == len(result.failed) == 16


def test_edits_of_one_node_exclude_each_other() -> None:
    tree = ast.parse("a")
    edits = [Edit.replace(tree.body[0], trees.statements(name)[0]) for name in ("b", "c")]
    result = reduce(tree, edits, Names(lambda left: True))
    assert trees.text(result.tree) == "b"


def test_no_edits() -> None:
    tree, _ = statements(1)
    assert reduce(tree, [], Names(lambda left: True)).tree is tree


def test_inapplicable_edits_fail_without_a_run() -> None:
    tree = ast.parse("x = 1")
    assign = tree.body[0]
    assert isinstance(assign, ast.Assign)
    judge = Names(lambda left: True)
    result = reduce(tree, [Edit.delete(assign.value)], judge)
    assert result.tree is tree and len(result.failed) == 1 and not judge.asked
