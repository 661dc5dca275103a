"""What needs no run is answered without one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import pytest

from jaxshrink.search import Judge


class Recorder:
    """Says yes to texts with a word, and notes what it was asked."""

    def __init__(self, word: str = ""):
        self.word = word
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[bool]:
        self.asked += texts
        return [self.word in text for text in texts]


BEST = ast.parse("x = 1\nprint(x, 2, 3)")


def test_a_smaller_new_program_is_run() -> None:
    recorder = Recorder("print")
    judge = Judge(recorder)
    assert judge(BEST, [ast.parse("print(1)"), ast.parse("f = len\nf()")]) == [True, False]
    assert recorder.asked == ["print(1)", "f = len\nf()"] and judge.tried == 2


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("print(y)", "unbound"),
        ("print(x)\nx = 1", "unbound"),
        ("return", "syntax"),
        ("x = 1\nprint(x, 2, 3)", None),
        ("x = 1\nprint(x, 2, 4)", None),
    ],
)
def test_refused_without_a_run(source: str, count: str | None) -> None:
    recorder = Recorder()
    judge = Judge(recorder)
    assert judge(BEST, [ast.parse(source)]) == [False]
    assert not recorder.asked and judge.tried == 0
    if count:
        assert getattr(judge.counts, count) == 1


def test_a_tree_that_cannot_be_written_is_refused() -> None:
    tree = ast.parse("raise A from b")
    statement = tree.body[0]
    assert isinstance(statement, ast.Raise)
    broken = ast.Module([ast.Raise(None, statement.cause)], [])
    judge = Judge(Recorder())
    assert judge(BEST, [broken]) == [False] and judge.counts.syntax == 1


def test_equal_texts_are_run_once() -> None:
    recorder = Recorder()
    judge = Judge(recorder)
    assert judge(BEST, [ast.parse("print(1)"), ast.parse("print( 1 )")]) == [True, True]
    assert judge(BEST, [ast.parse("print((1))")]) == [True]
    assert recorder.asked == ["print(1)"]
    assert (judge.counts.duplicate, judge.counts.cached) == (1, 1)


def test_what_is_known_counts_only_while_it_is_smaller() -> None:
    judge = Judge(Recorder())
    assert judge(BEST, [ast.parse("print(1, 2)")]) == [True]
    assert judge(ast.parse("print(1)"), [ast.parse("print(1, 2)")]) == [False]


def test_candidates_are_settled() -> None:
    recorder = Recorder()
    assert Judge(recorder)(BEST, [ast.parse("import os\ny = 1\njnp")]) == [True]
    assert recorder.asked == ["import jax.numpy as jnp\njnp"]


def test_the_best_is_as_large_as_it_is_when_settled() -> None:
    best = ast.parse("def unread(a, b, c, d, e, f, g):\n    return a + b + c + d\nprint(1)")
    assert Judge(Recorder())(best, [ast.parse("print(1 + 2)")]) == [False]


def test_forgetting_keeps_refusals() -> None:
    recorder = Recorder("print")
    judge = Judge(recorder)
    candidates = [ast.parse("print(1)"), ast.parse("len")]
    judge(BEST, candidates)
    judge.forget()
    judge(BEST, candidates)
    assert recorder.asked == ["print(1)", "len", "print(1)"]
