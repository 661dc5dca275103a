"""From a whole program to the smallest: big cuts, then the passes to a fixpoint, checked tier by tier."""

from __future__ import annotations

import ast
import collections
import contextlib
import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from jaxshrink import order
from jaxshrink import tree as trees
from jaxshrink.chance import pinned
from jaxshrink.cover import covered
from jaxshrink.interest import Interest, last_good
from jaxshrink.lift import computed, lifted, needs_frameworks
from jaxshrink.observation import Observation, Span, UserFrame
from jaxshrink.outcome import Tier
from jaxshrink.passes import Pass
from jaxshrink.render import Style
from jaxshrink.result import OtherFailure, Rejected, Stats
from jaxshrink.scopes import FUNCTION
from jaxshrink.search import Fixpoint, Judge
from jaxshrink.search.fixpoint import MOST_EVEN
from jaxshrink.settle import keep, settle
from jaxshrink.tree import Inapplicable
from jaxshrink.view import View

ROUND = 16
"""Lifted programs that are run at once."""


LONG = 120
"""Tokens of a lifted program that is not much of a cut."""

MUCH_LONGER, BRIEF = 4, 500
"""How much longer than another, of so many characters at least, a lifted program is that is not run beside it."""

CALL = 48
"""Tokens of a program that may be a single call of JAX: then no other can be much shorter."""

CHECK_EVERY, CHECK_HANGS_EVERY = 80, 240
"""Provisional runs after which the best is confirmed by a better one: what it refutes is lost work."""


MOST_EVEN_OF_SIZES = 4
"""As `MOST_EVEN`, where each success must be waited for, or fill the memory."""

MOST_VAIN = 32
"""Candidates of a pass in a row that may fail where numbers are wrong: most values there cannot be other ones."""

MOST_SEEN = 20
"""Other failures met on the way that are told of."""


RECURRING = 2
"""Frames at one place, from either end of the stack, that are lifted."""


class _Refuted(Exception):
    """The best did not hold in the next tier; the history ends now with one that does."""


class Unreproducible(Exception):
    """Not even the whole program fails again in the same way."""


class Cuts:
    """The search. `history` holds the programs that were the best, each smaller than the one before.

    It may be stopped at any moment by an exception: the last of the history is then the result. `captured` gives
    programs of JAX calls alone, found in a run of that tier. `values`: whether observed ones may stand for what gave
    them. `calm`: whether to repeat no more once a cut fails each time.
    """

    def __init__(
        self,
        tree: ast.Module,
        observation: Observation | None,
        interest: Interest,
        passes: Sequence[Pass],
        improved: Callable[[str], None] = lambda text: None,
        begins: Callable[[str], None] = lambda name: None,
        *,
        captured: Callable[[Tier], Sequence[ast.Module]] = lambda tier: (),
        values: bool = True,
        calm: bool = False,
    ):
        self.captured, self.values, self.calm = captured, values, calm
        self.whole, self.observation, self.interest = tree, observation, interest
        self.improved, self.begins = improved, begins
        self.judge = Judge(interest)
        most_even = MOST_EVEN if interest.sizes else MOST_EVEN_OF_SIZES
        most_vain = MOST_VAIN if interest.is_about_values else math.inf
        self.fixpoint = Fixpoint(passes, self.view, self.judge, self.accept, begins, most_even, most_vain)
        self.history: list[ast.Module] = []
        self.checked = 0  # length of the history up to the last that the next tier has confirmed
        self.checked_at = 0
        if observation is not None:
            keep_failing(self.view(tree), observation)

    @functools.lru_cache(maxsize=1)  # noqa: B019 - of one job, which ends with it
    def view(self, tree: ast.Module, thorough: bool = False) -> View:
        return View(tree, self.observation, thorough, holes=self.values)

    def accept(self, tree: ast.Module) -> None:
        self.history.append(tree)
        self.improved(trees.text(tree))
        every = CHECK_EVERY if self.interest.hang is None else CHECK_HANGS_EVERY  # these must be waited for
        if self.interest.is_provisional and self.judge.tried - self.checked_at > every:
            self.check()

    def run(self, start: ast.Module | None = None) -> ast.Module:
        """From the whole program, or from a smaller one that is known to fail in the same way.

        Raises Unreproducible where no tier shows the failure again.
        """
        self.accept(self.big_cut() if start is None else self.resumed(start))
        self.checked = len(self.history)
        if self.calm:
            self.interest.calm_down(trees.text(self.history[-1]))
        while True:
            with contextlib.suppress(_Refuted):
                self.fixpoint.run(self.history[-1])
                self.check()
                return self.history[-1]

    def added_to(self, stats: Stats) -> Stats:
        """The account of a job with what this search has done."""
        rejected, seen = self.judge.counts, self.interest.also_seen.most_common(MOST_SEEN)
        return dataclasses.replace(
            stats,
            cached=rejected.cached,
            rejected=Rejected(rejected.syntax, rejected.unbound, rejected.duplicate),
            passes=tuple(self.fixpoint.counts.values()),
            also_seen=tuple(OtherFailure(*each, count) for each, count in seen),
        )

    def check(self) -> None:
        """Does the best hold in the next tier? If not: back to the last that does, and doubt from there on."""
        self.checked_at = self.judge.tried
        if self.interest.doubted or not self.interest.is_provisional or len(self.history) == self.checked:
            return  # what real runs have accepted is verified at the end
        texts = [trees.text(tree) for tree in self.history[self.checked - 1 :]]
        if not self.interest.confirms(texts[-1]):
            good = max(0, last_good(texts, self.interest.confirms))
            del self.history[self.checked + good :]
            self.interest.doubt()
            self.judge.forget()
            raise _Refuted
        self.checked = len(self.history)

    # -- big cuts

    def big_cut(self) -> ast.Module:
        """The smallest that fails in the same way of the lifted programs and what of the whole was executed.

        Abstract runs know no numbers; in real ones other numbers than ones may be what fails.
        """
        self.begins("lift")
        view = self.view(self.whole)
        assert self.observation is not None, "only a resumed job has none"
        for tier in self.tiers() if self.values else ():
            if tier is not Tier.COLD or self.interest.floor is Tier.COLD:
                styles = (Style.ONES,) if tier is Tier.ABSTRACT else Style
                seen = dataclasses.replace(self.observation, frames=_ends_of_recursion(self.observation.frames))
                proposals = [lifted(view, seen, style) for style in styles]
                if self.interest.is_about_values:
                    proposals += [computed(view, seen, style) for style in (Style.EXACT, Style.ONES) if style in styles]
                candidates = _ordered(itertools.chain(*proposals, self.covered()), self.whole)
                found = self.first(candidates, tier)
                found = self.of_jax_alone(found, tier) or found
                if found is not None:
                    return self.much_smaller(candidates, found) or found
        self.begins("cover")
        for tier in self.tiers():
            found = self.first([settle(tree) for tree in self.wholes()], tier)
            if found is not None:
                return found
        raise Unreproducible

    def of_jax_alone(self, found: ast.Module | None, tier: Tier) -> ast.Module | None:
        """A captured program, where what was found needs a framework, or is long and this is shorter."""
        plain = found if found is not None and not needs_frameworks(found) else None
        if tier is Tier.COLD or (plain is not None and order.tokens(trees.text(plain)) <= CALL):
            return None
        return self.first(_ordered(iter(self.captured(tier)), plain), tier)

    def much_smaller(self, candidates: Sequence[ast.Module], found: ast.Module) -> ast.Module | None:
        """A candidate that only real runs show to fail, if what abstract ones found is long beside it."""
        tokens = order.tokens(trees.text(found))
        if self.interest.tier is not Tier.ABSTRACT or tokens < LONG:
            return None
        smaller = [tree for tree in candidates if order.tokens(trees.text(tree)) < tokens / 2]
        better = self.first(smaller, Tier.WARM) if smaller else None
        self.interest.tier = Tier.WARM if better is not None else Tier.ABSTRACT
        return better

    def resumed(self, start: ast.Module) -> ast.Module:
        """Finds the tier in which an earlier result holds."""
        for tier in self.tiers():
            if self.first([start], tier) is not None:
                return start
        raise Unreproducible

    def tiers(self) -> list[Tier]:
        return [tier for tier in Tier if list(Tier).index(tier) >= list(Tier).index(self.interest.floor)]

    def wholes(self) -> Iterator[ast.Module]:
        for smaller in self.covered():
            yield smaller
            yield from pinned(self.view(smaller))
        yield self.whole

    def covered(self) -> Iterator[ast.Module]:
        """What of the whole was executed, if that was watched."""
        with contextlib.suppress(Inapplicable):
            if self.observation is not None:
                yield covered(self.whole, self.observation)

    def first(self, candidates: Sequence[ast.Module], tier: Tier) -> ast.Module | None:
        """The first candidate that holds in the tier, and in a warm run alone, which also tells how long it takes."""
        self.interest.tier = tier
        size = self.interest.runner.setting.jobs if tier is Tier.COLD else ROUND  # cold runs are dear
        texts = {trees.text(tree): tree for tree in candidates}
        for batch in _rounds(list(texts), size):
            for text, verdict in zip(batch, self.interest(batch), strict=True):
                if verdict and (tier is Tier.COLD or self.interest.holds(text, Tier.WARM)):
                    return texts[text]
        return None


def keep_failing(view: View, observation: Observation) -> None:
    """Imports, heads of functions and classes on the failing stack stay although nothing reads what they bind."""
    places = view.spans
    for frame in observation.frames:
        node = places.get(frame.span)
        at: ast.AST | None = view.statement(node) if node is not None and node is not view.tree else None
        while isinstance(at, ast.stmt):
            keep(at)
            above = view.parents[at]
            at = None if isinstance(above, FUNCTION) else above  # a function whose body failed had been defined


def _ends_of_recursion(frames: Sequence[UserFrame]) -> tuple[UserFrame, ...]:
    """The frames without those that stand, deep in a recursion, where others stand nearer to both of its ends."""

    def first(frames: Iterable[UserFrame]) -> Iterator[int]:
        counts: collections.Counter[Span] = collections.Counter()
        for frame in frames:
            counts[frame.span] += 1
            if counts[frame.span] <= RECURRING:
                yield frame.position

    kept = {*first(frames), *first(reversed(frames))}
    return tuple(frame for frame in frames if frame.position in kept)


def _rounds(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """Neighbours that are run at once: none that is long beside the first, as it runs long too, perhaps for nothing."""
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == most or len(text) > MUCH_LONGER * max(len(batch[0]), BRIEF)):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _ordered(candidates: Iterator[ast.Module], whole: ast.Module | None) -> list[ast.Module]:
    """Without repetitions, and without those no smaller than the whole, if that is given; the smallest first."""
    found: dict[str, ast.Module] = {}
    for candidate in candidates:
        tree = settle(ast.fix_missing_locations(candidate))
        found.setdefault(trees.text(tree), tree)
    texts = sorted(found, key=order.size)
    limit = order.size(trees.text(whole)) if whole is not None else None
    return [found[text] for text in texts if limit is None or order.size(text) < limit]
