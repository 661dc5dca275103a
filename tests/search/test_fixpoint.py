"""The whole search over all passes, against oracles that look at the text only."""

from __future__ import annotations

import ast
import itertools
import math
import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxshrink import order
from jaxshrink import tree as trees
from jaxshrink.passes import PASSES, Pass
from jaxshrink.search import Fixpoint, Judge
from jaxshrink.settle import settle
from jaxshrink.tree import Edit, Inapplicable
from jaxshrink.view import View

pytestmark = pytest.mark.slow  # and the same on each Python

SOURCE = """
import jax
import jax.numpy as jnp
import numpy as np

class Config:
    width = 16
    def __init__(self, depth: int = 2):
        self.depth = depth

def dense(x, w, b=None):
    '''A layer.'''
    y = x @ w
    if b is not None:
        y = y + b
    return y

@jax.jit
def loss(params, batch):
    total = 0.0
    for layer, w in params.items():
        total += dense(batch["x"], w).sum()
    return total, {"aux": [total, 1]}

config = Config(3)
params = {"first": np.ones((4, config.width)), "second": np.zeros((4, 2))}
batch = dict(x=jnp.ones((8, 4)), y=jnp.arange(8))
value, aux = loss(params, batch)
scale = lambda v, k=2: v * k
with jax.debug_nans(True) as state, open("log"):
    print(f"value {scale(value)}", aux["aux"][0], *params)
"""

PIECES = ("jit", "dense", "@", "params", "16", "'aux'", "for", "lambda", "print", "jnp.ones", "config", "[", "with")

few = settings(max_examples=12, deadline=None)


class Oracle:
    """Finds texts interesting by a rule; evaluates each batch in another order, as several workers would."""

    def __init__(self, rule: Callable[[str], bool], workers: int = 1, stop_after: int | None = None):
        self.rule, self.workers, self.stop_after = rule, workers, stop_after
        self.asked: list[str] = []
        self.yes: set[str] = set()

    def __call__(self, texts: Sequence[str]) -> list[bool]:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked += texts
        verdicts: dict[int, bool] = {}
        for i in random.Random(self.workers).sample(range(len(texts)), len(texts)):
            verdicts[i] = self.rule(texts[i])
        self.yes.update(text for i, text in enumerate(texts) if verdicts[i])
        return [verdicts[i] for i in range(len(texts))]


class Search:
    """One search, with all that became the best on the way."""

    def __init__(self, oracle: Oracle, source: str = SOURCE):
        self.history = [settle(ast.parse(source))]
        judge, improved = Judge(oracle), self.history.append
        fixpoint = Fixpoint(PASSES, lambda tree, thorough: View(tree, None, thorough), judge, improved)
        self.counts = fixpoint.counts
        self.interrupted = False
        try:
            self.result = fixpoint.run(self.history[0])
        except KeyboardInterrupt:
            self.interrupted = True

    @property
    def texts(self) -> list[str]:
        return [trees.text(tree) for tree in self.history]


def has_all(pieces: Sequence[str]) -> Callable[[str], bool]:
    return lambda text: all(piece in text for piece in pieces)


def whimsical(seed: int) -> Callable[[str], bool]:
    """A rule without rhyme or reason that lets through one text in five."""
    return lambda text: zlib.crc32(f"{seed}{text}".encode()) % 5 == 0


rules = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=3, unique=True).map(has_all), st.integers(0, 1000).map(whimsical)
)


def edits_that_hold(tree: ast.Module, rule: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Every single edit of any pass that could still be made."""
    found = []
    judge = Judge(Oracle(rule))
    for each in PASSES:
        for edit in each.propose(View(tree)):
            try:
                candidate = trees.apply(tree, [edit])
            except Inapplicable:
                continue
            if judge(tree, [candidate]) == [True]:
                found.append((each.name, trees.text(settle(candidate))))
    return found


@few
@given(rules)
def test_the_result_is_minimal_and_every_step_was_judged(rule: Callable[[str], bool]) -> None:
    oracle = Oracle(rule)
    search = Search(oracle)
    assert search.result is search.history[-1]
    assert edits_that_hold(search.result, rule) == []
    assert oracle.yes.issuperset(search.texts[1:])
    sizes = [order.size(text) for text in search.texts]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)


@few
@given(rules, st.integers(2, 8))
def test_the_number_of_workers_does_not_matter(rule: Callable[[str], bool], workers: int) -> None:
    alone, many = Oracle(rule), Oracle(rule, workers)
    assert Search(alone).texts == Search(many).texts
    assert alone.asked == many.asked


@few
@given(rules, st.integers(0, 60))
def test_an_interrupt_leaves_the_best_so_far(rule: Callable[[str], bool], runs: int) -> None:
    oracle = Oracle(rule, stop_after=runs)
    search, whole = Search(oracle), Search(Oracle(rule))
    assert search.texts == whole.texts[: len(search.texts)]
    assert oracle.yes.issuperset(search.texts[1:])


@pytest.mark.parametrize(
    ("pieces", "result"),
    [
        ([], ""),
        (["jit"], "import jax\njax.jit"),
        (["print"], "print"),
        (["jnp.ones"], "import jax.numpy as jnp\njnp.ones"),
        (["with"], "with 0:\n    pass"),
        (["loss", "'aux'"], "import jax\n\n@jax\ndef loss():\n    {'aux': 0}"),
    ],
)
def test_the_smallest_program_with_a_piece(pieces: list[str], result: str) -> None:
    search = Search(Oracle(has_all(pieces)))
    assert search.texts[-1] == result


def test_counts_tell_what_each_pass_did() -> None:
    oracle = Oracle(has_all(["@", "jit"]))
    search = Search(oracle)
    counts = search.counts.values()
    assert sum(each.tried for each in counts) == len(oracle.asked)
    assert sum(each.kept for each in counts) == len(search.history) - 1
    removed = order.tokens(search.texts[0]) - order.tokens(search.texts[-1])
    assert sum(each.tokens for each in counts) == removed


def test_a_failure_that_comes_and_goes_with_numbers_costs_few_runs() -> None:
    """Only a little less than ever before is found interesting: by small steps it would be a long way."""
    least = 800

    def rule(text: str) -> bool:
        nonlocal least
        total = sum(int(number) for number in re.findall(r"\d+", text))
        good = text.count(",") == 1 and total >= least - 2
        least = min(least, total) if good else least
        return good

    oracle = Oracle(rule)
    Search(oracle, "print(500, 300)")
    assert 750 < least < 790
    assert len(oracle.asked) < 120


@pytest.mark.parametrize(("most_vain", "runs"), [(math.inf, range(150, 190)), (16, range(100, 150))])
def test_what_has_failed_is_not_tried_again_in_such_groups_or_waits(most_vain: float, runs: range) -> None:
    """One pass finds nothing, again and again, while another makes the program shorter."""

    def shorter(view: View) -> Iterator[Edit]:
        calls = (call for call in view.all(ast.Call) if trees.last_name(call.func) == "abs")
        yield from (Edit.replace(call, call.args[0]) for call in itertools.islice(calls, 1))

    statements = next(each for each in PASSES if each.name == "statements")
    tree = ast.parse("\n".join([*(f"print('{i}')" for i in range(100)), "hash(abs(abs(abs(abs(1)))))"]))
    oracle = Oracle(lambda text: text.count("print") == 100 and "hash" in text)
    passes = statements, Pass("shorter", shorter)
    view, judge = (lambda tree, thorough: View(tree, None, thorough)), Judge(oracle)
    fixpoint = Fixpoint(passes, view, judge, lambda tree: None, most_vain=most_vain)
    assert trees.text(fixpoint.run(settle(tree))).endswith("\nhash(1)")
    assert len(oracle.asked) in runs
