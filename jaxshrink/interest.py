"""Is a candidate interesting? Asked of the cheapest tier that can tell, checked by the next."""

from __future__ import annotations

import collections
import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Sequence

from jaxshrink.failure import Failure
from jaxshrink.kinds import Signature
from jaxshrink.oracle import Runner
from jaxshrink.outcome import End, Outcome, Tier
from jaxshrink.slips import slips

TIERS = (Tier.ABSTRACT, Tier.WARM, Tier.COLD)


SLOWER = 4
"""A candidate may take so many times the CPU time of the program that it comes from."""

LEAST_TIMEOUT = 0.5
LEAST_IDLE = 0.15


class TimeUp(Exception):
    """The time limit for the whole job has passed."""


@dataclasses.dataclass(frozen=True)
class Question:
    """What a run must show: the signature and that it has not slipped, or what the user's predicate says."""

    signature: Signature
    original: str  # the input's text: what it had of `raise`, `assert` and the like, a candidate may have
    predicate: Callable[[Outcome], bool] | None = None

    def answer(self, outcome: Outcome, text: str) -> bool:
        if self.predicate is not None:
            return bool(self.predicate(dataclasses.replace(outcome, source=text)))
        return self.signature.matches(outcome, text) and slips(self.original, text) is None


class Interest:
    """Runs candidates and answers the question; collects other failures on the way.

    `floor` is the cheapest tier allowed, `tier` the one that is asked. Where it is abstract and an abstract run
    cannot tell, a warm one does. `deadline` is a time of the monotonic clock. `doubted`: the tier has accepted
    what the next one refused, so all that it accepts is asked of the next too.
    """

    def __init__(self, runner: Runner, question: Question, tier: Tier, deadline: float = math.inf):
        self.runner, self.question = runner, question
        self.floor = self.tier = tier
        self.doubted = False
        self.deadline = deadline
        self.limit: float | None = None
        self.also_seen: collections.Counter[tuple[str, str]] = collections.Counter()

    def __call__(self, texts: Sequence[str]) -> list[bool]:
        """Of each text: is it interesting? Raises TimeUp after the deadline."""
        if time.monotonic() > self.deadline:
            raise TimeUp
        texts = list(texts)
        outcomes = self.runner.run(texts, self.tier, None if self.tier is Tier.COLD else self.limit)
        if self.tier is Tier.ABSTRACT:
            unknown = [i for i, outcome in enumerate(outcomes) if outcome.end is End.UNKNOWN]
            warm = self.runner.run([texts[i] for i in unknown], Tier.WARM, self.limit) if unknown else []
            for i, outcome in zip(unknown, warm, strict=True):
                outcomes[i] = outcome
        verdicts = [self.question.answer(outcome, text) for outcome, text in zip(outcomes, texts, strict=True)]
        for outcome, verdict in zip(outcomes, verdicts, strict=True):
            if not verdict:
                self.note(outcome)
        if self.doubted and any(verdicts):
            accepted = [text for text, verdict in zip(texts, verdicts, strict=True) if verdict]
            checked = dict(zip(accepted, self.runner.run(accepted, self.next_tier, self.limit), strict=True))
            outcomes = [checked.get(text, outcome) for text, outcome in zip(texts, outcomes, strict=True)]
            verdicts = [text in checked and self.question.answer(checked[text], text) for text in texts]
        if self.doubted or self.tier is Tier.WARM:
            self.tighten(outcome.seconds for outcome, verdict in zip(outcomes, verdicts, strict=True) if verdict)
        return verdicts

    def holds(self, text: str, tier: Tier) -> bool:
        """Is the text interesting to a certain tier? If so, its time limits those to come."""
        start = time.monotonic()
        limit = None if tier is Tier.COLD else self.limit  # what is short in a fork is not in a fresh interpreter
        outcome = self.runner.run([text], tier, limit)[0]
        interesting = self.question.answer(outcome, text)
        if interesting and tier is Tier.WARM:
            self.tighten([outcome.seconds])
            idle = max(LEAST_IDLE, 2 * (time.monotonic() - start - outcome.seconds))
            self.runner.idle = min(idle, self.runner.idle or idle)
        return interesting

    def tighten(self, seconds: Iterable[float]) -> None:
        """Programs that are interesting took so much CPU time: those made of them need not take much more."""
        limit = max((SLOWER * each for each in seconds), default=math.inf)
        if limit < (self.limit or math.inf):
            self.limit = max(limit, LEAST_TIMEOUT)

    @property
    def next_tier(self) -> Tier:
        """The tier that checks what the present one accepts."""
        return TIERS[min(TIERS.index(self.tier) + 1, len(TIERS) - 1)]

    def note(self, outcome: Outcome) -> None:
        """Other failures of library code may be bugs too; the program's own are what cutting brings about."""
        if outcome.end is End.EXCEPTION and outcome.frames and not outcome.frames[-1].user:
            failure = Failure.of(outcome)
            self.also_seen[failure.type, (failure.message or "").strip().split("\n")[0][:200]] += 1


def last_good(texts: Sequence[str], holds: Callable[[str], bool]) -> int:
    """Index of the last of the texts that holds, by bisection; -1 where not even the first does.

    The texts are versions of one program, each made from the one before, the last known not to hold.
    """
    low, high = -1, len(texts) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(texts[middle]):
            low = middle
        else:
            high = middle
    return low
