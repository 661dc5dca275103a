"""Is a candidate interesting? Asked of the cheapest tier that can tell, checked by the next."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
import re
import time
from collections.abc import Callable, Iterable, Sequence

from jaxshrink.chance import TRIES
from jaxshrink.controls import Control
from jaxshrink.failure import Failure
from jaxshrink.guard import Guard, feeds
from jaxshrink.kinds import Signature
from jaxshrink.oracle import Oracle
from jaxshrink.outcome import End, Outcome, Tier
from jaxshrink.slips import slips

TIERS = (Tier.ABSTRACT, Tier.WARM, Tier.COLD)


SLOWER = 4
"""A candidate may take so many times the CPU time of the program that it comes from."""

LEAST_TIMEOUT, LEAST_SHARED_TIMEOUT = 0.5, 3.0  # the first of those that share a process takes longer than the others
LEAST_IDLE = 0.15

IMPATIENT = 1.5
"""Seconds after which a run that sits where the original hangs counts as hung, until that is checked."""


IDLE = 0.5
"""Seconds without any work after which such a run counts as hung, also until that is checked."""

LONGER, LONGEST, STILL = 3, 20, 0.5
"""A hang is verified for so many times its time, or so many seconds more; what does nothing at all, in a fresh
interpreter for its time, else for this part of it."""


INSISTENCE = 8
"""Seconds by the time limit of a run that may go into asking again whether a yes is one; twice it is asked at least."""


FEW = 3
"""Runs after which a yes that needs more is given until it is checked."""


_TRIED, _WORTH, _WORTH_SHARED, _ENDLESS = 16, 6, 2, 10
"""So many abstract runs are tried in any case; of so many one must settle something, also where real ones share a
process and cost little more; as many counts an endless one."""


@dataclasses.dataclass(frozen=True)
class Question:
    """What a run must show: the signature and that it has not slipped, or what the user's predicate says.

    `exact`: the message must be this, as it tells the numbers that are wrong.
    """

    signature: Signature
    original: str  # the input's text: what it had of `raise`, `assert` and the like, a candidate may have
    predicate: Callable[[Outcome], bool] | None = None
    guard: Guard | None = None
    exact: str | None = None

    def is_possible(self, text: str) -> bool:
        """Whether a run could give the answer yes: not where the text has already slipped, or nothing can fail so."""
        if self.predicate is not None:
            return True
        hangs, values = self.signature.needs.hang is not None, self.signature.is_about_values
        slipped = slips(self.original, text, hangs=hangs, values=values)
        return slipped is None and (self.guard is None or self.guard.is_possible(text))

    def answer(self, outcome: Outcome, text: str) -> bool:
        """Whether an outcome is that of an interesting candidate with this text."""
        if self.predicate is not None:
            return bool(self.predicate(dataclasses.replace(outcome, source=text)))
        if not self.is_possible(text) or not self.signature.matches(outcome, text):
            return False
        if self.exact is not None and outcome.message != self.exact:
            return False
        return self.guard is None or self.guard.kept(outcome, text)

    def is_origin(self, control: Control, other: Outcome, outcome: Outcome, text: str) -> bool:
        """Whether the number that went wrong first in a run under a control flows into the statement that failed."""
        return control.origin is None or self.guard is None or feeds(other, outcome, text)


class Foresight:
    """Abstract runs where only real ones can say yes: they show of many candidates that these fail otherwise.

    Whether that is worth while is counted, not timed, so that it is the same each time. One that comes to no end counts
    as several.
    """

    def __init__(self, worth: int = _WORTH) -> None:
        self.worth = worth
        self.asked = self.settled = 0

    @property
    def is_worth_it(self) -> bool:
        return self.asked < _TRIED or self.settled * self.worth > self.asked

    def learn(self, outcome: Outcome, settled: bool) -> None:
        """What another abstract run has shown."""
        self.asked += _ENDLESS if outcome.end is End.UNKNOWN and outcome.seconds > LEAST_TIMEOUT else 1
        self.settled += settled


class Interest:
    """Runs candidates and answers the question; collects other failures on the way.

    `tier` is the one that is asked, and at first the cheapest allowed. Where it is abstract and an abstract run
    cannot tell, a warm one does. `controls` are asked about what the question was answered with yes for.
    `go_on` is called before each question, and may end the search by an exception. `doubted`: the tier has accepted
    what the next one refused, so all that it accepts is asked of the next too. `repeat`: how often a candidate is run
    before the answer is no; `insist`: how often before it is yes. `foresees`: whether abstract runs may say no where
    the tier is another one.
    """

    def __init__(
        self,
        runner: Oracle,
        question: Question,
        tier: Tier,
        go_on: Callable[[], None] = lambda: None,
        controls: Sequence[tuple[Control, Oracle]] = (),
        repeat: int = 1,
        insist: int = 1,
        *,
        foresees: bool = False,
    ):
        self.runner, self.question, self.controls = runner, question, controls
        self.repeat, self.insist = repeat, insist
        self.few = min(FEW, insist)
        self.floor = self.tier = tier
        self.doubted = False
        self.go_on = go_on
        self.limit: float | None = None
        self.is_about_values = question.signature.is_about_values
        needs = question.signature.needs
        self.hang, self.sizes = needs.hang, needs.sizes
        self.least_timeout = LEAST_SHARED_TIMEOUT if needs.shared else LEAST_TIMEOUT
        self.worth = _WORTH_SHARED if needs.shared else _WORTH
        self.patience, self.idle = min(IMPATIENT, self.hang or math.inf), min(IDLE, self.hang or math.inf)
        self.foresees = foresees
        self.foresight: Foresight | None = None  # until a program is known of which it is right
        self.witness: tuple[Outcome, str] | None = None
        """How a text ended last that held, and the text."""
        self.also_seen: collections.Counter[tuple[str, str]] = collections.Counter()

    def __call__(self, texts: Sequence[str]) -> list[bool]:
        """Of each text: is it interesting?"""
        self.go_on()
        found = dict.fromkeys(texts, False)
        for _ in range(self.repeat):
            left = [text for text, verdict in found.items() if not verdict and self.question.is_possible(text)]
            found.update(zip(left, self.verdicts(left), strict=True))
        return [found[text] for text in texts]

    def verdicts(self, texts: Sequence[str]) -> list[bool]:
        """As the tier sees it; what is doubted, also as the next one does."""
        outcomes = self.outcomes(texts, self.tier)
        verdicts = [self.question.answer(outcome, text) for outcome, text in zip(outcomes, texts, strict=True)]
        for outcome, verdict in zip(outcomes, verdicts, strict=True):
            if not verdict:
                self.note(outcome)
        if self.doubted and any(verdicts):
            accepted = [text for text, verdict in zip(texts, verdicts, strict=True) if verdict]
            checked = dict(zip(accepted, self.outcomes(accepted, self.next_tier), strict=True))
            outcomes = [checked.get(text, outcome) for text, outcome in zip(texts, outcomes, strict=True)]
            verdicts = [text in checked and self.question.answer(checked[text], text) for text in texts]
        verdicts = self.allowed(texts, outcomes, verdicts, self.tier, self.few)
        if self.doubted or self.tier is Tier.WARM:
            self.tighten(outcome.seconds for outcome, verdict in zip(outcomes, verdicts, strict=True) if verdict)
        return verdicts

    def outcomes(self, texts: Sequence[str], tier: Tier) -> list[Outcome]:
        """How the texts end in a tier."""
        if self.hang is not None:
            self.runner.idle = self.idle
            outcomes = self.runner.run(texts, tier, self.patience, sample=True)
            return self.awaited(texts, outcomes, tier) if self.patience < self.hang else outcomes
        limit = None if tier is Tier.COLD else self.limit
        return self.decided(self.runner, texts, tier, limit, self.foresight)

    def awaited(self, texts: Sequence[str], outcomes: list[Outcome], tier: Tier) -> list[Outcome]:
        """How the texts end that have not come yet to where the original hangs."""
        assert self.hang is not None
        under_way = [
            i
            for i, outcome in enumerate(outcomes)
            if outcome.end is End.TIMEOUT and not self.question.answer(outcome, texts[i])
        ]
        longer = self.runner.run([texts[i] for i in under_way], tier, self.hang, sample=True) if under_way else []
        for i, outcome in zip(under_way, longer, strict=True):
            outcomes[i] = outcome
        return outcomes

    def decided(
        self, runner: Oracle, texts: Sequence[str], tier: Tier, limit: float | None, foresight: Foresight | None
    ) -> list[Outcome]:
        """How the texts end in a tier, within a time limit; where abstract runs cannot tell, in warm ones.

        Those begin with abstract ones too, as long as these show of enough texts that they fail otherwise.
        """
        foresees = tier is Tier.WARM and foresight is not None and foresight.is_worth_it
        outcomes = runner.run(texts, Tier.ABSTRACT if foresees else tier, limit)
        if tier is Tier.ABSTRACT:
            unknown = [i for i, outcome in enumerate(outcomes) if outcome.end is End.UNKNOWN]
        else:
            unknown = [i for i, outcome in enumerate(outcomes) if foresees and not self.is_settled(outcome, texts[i])]
        warm = runner.run([texts[i] for i in unknown], Tier.WARM, limit) if unknown else []
        for i, outcome in zip(unknown, warm, strict=True):
            outcomes[i] = outcome
        return outcomes

    def is_settled(self, outcome: Outcome, text: str) -> bool:
        """Whether an abstract run shows that a real one ends in another way.

        By an exception that no value made; or well, where a value must be found wrong and none is looked at.
        """
        ends = {End.EXCEPTION, End.SYNTAX, *([End.EXIT] if self.is_about_values else [])}
        settled = outcome.end in ends and not outcome.reads and not self.question.answer(outcome, text)
        if self.foresight is not None:
            self.foresight.learn(outcome, settled)
        return settled

    def foresee(self, text: str) -> None:
        """Ask abstract runs first from here on, if that would have been right of a text that is interesting."""
        if self.foresees and self.hang is None and self.tier is Tier.WARM:
            outcome = self.runner.run([text], Tier.ABSTRACT, self.limit)[0]
            self.foresight = None if self.is_settled(outcome, text) else self.foresight or Foresight(self.worth)

    def allowed(
        self, texts: Sequence[str], outcomes: Sequence[Outcome], verdicts: Sequence[bool], tier: Tier, insist: int
    ) -> list[bool]:
        """The verdicts on these outcomes, no where another of so many runs or a control says no."""
        left = [i for i, verdict in enumerate(verdicts) if verdict]
        limit = min(self.limit or math.inf, self.cap(outcomes[i].seconds for i in left if tier is Tier.WARM))
        affordable = insist if limit == math.inf else math.ceil(INSISTENCE / limit)
        for _ in range(min(insist, max(affordable, 2)) - 1 if insist > 1 else 0):
            again = self.outcomes([texts[i] for i in left], tier) if left else []
            left = [i for i, each in zip(left, again, strict=True) if self.question.answer(each, texts[i])]
        for control, runner in self.controls:
            asked = dict.fromkeys(texts[i] for i in left)  # a text that was run several times: one answer is enough
            applied = [control.applied(text) for text in asked]
            others = self.decided(runner, applied, tier, None, None) if asked else []
            ends = dict(zip(asked, others, strict=True))
            left = [
                i
                for i in left
                if control.allows(ends[texts[i]])
                and self.question.is_origin(control, ends[texts[i]], outcomes[i], texts[i])
            ]
        return [i in left for i in range(len(texts))]

    def holds(self, text: str, tier: Tier) -> bool:
        """Is the text interesting to a certain tier, for as long as it takes? If so, its time limits those to come."""
        start = time.monotonic()
        outcome = self.patient([text], tier)[0]
        seconds = time.monotonic() - start
        if not self.question.answer(outcome, text):
            return self.repeat > 1 and self.hold([text], tier, self.repeat - 1) == [True]
        allowed = self.allowed([text], [outcome], [True], tier, self.insist) == [True]
        if allowed and tier is Tier.WARM:
            self.learn(text, outcome, seconds)
        return allowed

    def learn(self, text: str, outcome: Outcome, seconds: float) -> None:
        """What a run of a text that is interesting, of so many seconds, tells of those to come."""
        if self.hang is not None:
            if seconds < self.hang:  # it did nothing any more: what is still at work does not hang yet, and may go on
                self.patience = self.hang
            return
        self.tighten([outcome.seconds])
        idle = max(LEAST_IDLE, 2 * (seconds - outcome.seconds))
        self.runner.idle = min(idle, self.runner.idle or idle)
        self.foresee(text)

    def calm_down(self, text: str) -> None:
        """Repeat no more where a text that is cut out of one that fails by chance fails each time."""
        if self.repeat > 1 and all(self.hold([text] * TRIES, Tier.WARM, 1)):
            self.repeat = 1

    def hold(self, texts: Sequence[str], tier: Tier, repeat: int) -> list[bool]:
        """Of each text, some of which may be equal: is it interesting to a certain tier, in one of so many runs?"""
        verdicts = [False] * len(texts)
        for _ in range(repeat):
            left = [i for i, verdict in enumerate(verdicts) if not verdict]
            asked = [texts[i] for i in left]
            outcomes = self.patient(asked, tier) if asked else []
            answers = [self.question.answer(outcome, text) for outcome, text in zip(outcomes, asked, strict=True)]
            self.witness = next(itertools.compress(zip(outcomes, asked, strict=True), answers), self.witness)
            for i, verdict in zip(left, self.allowed(asked, outcomes, answers, tier, self.insist), strict=True):
                verdicts[i] = verdict
        return verdicts

    def patient(self, texts: Sequence[str], tier: Tier) -> list[Outcome]:
        """How the texts end in runs that must be believed; what is short in a fork is not so in a fresh interpreter."""
        if self.hang is None:
            return self.runner.run(texts, tier, None if tier is Tier.COLD else self.limit)
        self.runner.idle = self.hang if tier is Tier.COLD else STILL * self.hang
        longer = min(LONGER * self.hang, LONGEST + self.hang)
        return self.runner.run(texts, tier, longer if tier is Tier.COLD else self.hang, sample=True)

    @property
    def is_provisional(self) -> bool:
        """Whether what is accepted must still be checked: by `confirms`."""
        impatient = self.hang is not None and min(self.patience, self.idle / STILL) < self.hang
        return self.tier is Tier.ABSTRACT or impatient or self.few < self.insist

    def confirms(self, text: str) -> bool:
        """Is what was accepted interesting in the next tier too?"""
        return self.holds(text, self.next_tier if self.tier is Tier.ABSTRACT else self.tier)

    def doubt(self) -> None:
        """What was accepted has been refuted: be stricter from here on."""
        if self.hang is not None:
            self.patience = min(self.hang, 3 * self.patience)
            self.idle = min(STILL * self.hang, 3 * self.idle)
        elif self.few < self.insist:
            self.few = self.insist
        else:
            self.doubted = True

    def tighten(self, seconds: Iterable[float]) -> None:
        """Programs that are interesting took so much CPU time: those made of them need not take much more."""
        limit = self.cap(seconds)
        if limit < (self.limit or math.inf):
            self.limit = limit

    def cap(self, seconds: Iterable[float]) -> float:
        """The CPU time that is enough for what is made of programs that took so much; infinite if that is unknown."""
        if self.hang is not None:
            return math.inf
        return max(max((SLOWER * each for each in seconds), default=math.inf), self.least_timeout)

    @property
    def next_tier(self) -> Tier:
        """The tier that checks what the present one accepts."""
        return TIERS[min(TIERS.index(self.tier) + 1, len(TIERS) - 1)]

    def note(self, outcome: Outcome) -> None:
        """Other failures of library code may be bugs too; the program's own are what cutting brings about."""
        if outcome.end is End.EXCEPTION and outcome.frames and not outcome.frames[-1].user:
            failure = Failure.of(outcome)
            first_line = (failure.message or "").strip().split("\n")[0][:200]
            self.also_seen[failure.type, re.sub(r"0x[0-9a-f]+", "0x…", first_line)] += 1


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
