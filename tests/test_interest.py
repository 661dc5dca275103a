"""How the question is asked: which runs, how often, and whose word counts. The runs here are made up."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from jaxshrink.controls import Control
from jaxshrink.failure import Failure
from jaxshrink.interest import IMPATIENT, LONGER, Interest, Question, last_good
from jaxshrink.kinds.crash import Crashed
from jaxshrink.kinds.exception import Raised
from jaxshrink.kinds.hang import Hung
from jaxshrink.kinds.signature import Signature
from jaxshrink.oracle import Oracle
from jaxshrink.outcome import End, Frame, Outcome, Tier

WAITS = (Frame("repro.py", "<module>", 1, user=True), Frame("threading.py", "wait", 327))
HUNG = Hung(Failure("hang", "hang", "still running after 10 s", "threading:wait:327"), 10.0)
KEY = Raised(Failure("exception", "KeyError", "'a'", "user"))
CRASH = Crashed(Failure("crash", "SIGSEGV", "Segmentation fault", "user"))

GOOD = Outcome(End.EXIT, code=0, seconds=0.1)
BAD = Outcome(End.EXCEPTION, "KeyError", "'a'", (WAITS[0],), seconds=0.1)
SEGFAULT = Outcome(End.SIGNAL, signal=11, stderr="Fatal Python error: Segmentation fault")


class Fake:
    """A runner that knows how each text ends: by a tier and how often it has been asked, for how long it may run."""

    def __init__(self, ends: Callable[[str, Tier, int, float | None], Outcome]):
        self.ends = ends
        self.idle: float | None = None
        self.asked: list[tuple[str, Tier, float | None]] = []

    def run(
        self, texts: Sequence[str], tier: Tier, timeout: float | None = None, *, sample: bool = False
    ) -> list[Outcome]:
        before = collections.Counter(text for text, *_ in self.asked)
        self.asked += [(text, tier, timeout) for text in texts]
        return [self.ends(text, tier, before[text] + texts[:i].count(text), timeout) for i, text in enumerate(texts)]


def asking(fake: Fake, signature: Signature, tier: Tier = Tier.WARM, **how: Any) -> Interest:
    controls = [(control, cast("Oracle", runner)) for control, runner in how.pop("controls", ())]
    return Interest(cast("Oracle", fake), Question(signature, ""), tier, controls=controls, **how)


# -- tiers


def test_what_an_abstract_run_cannot_tell_a_warm_one_does() -> None:
    unknown = Outcome(End.UNKNOWN)
    fake = Fake(lambda text, tier, *_: (BAD if text == "a" else GOOD) if tier is Tier.WARM else unknown)
    assert asking(fake, KEY, Tier.ABSTRACT)(["a", "b"]) == [True, False]
    assert [tier for _, tier, _ in fake.asked] == [Tier.ABSTRACT] * 2 + [Tier.WARM] * 2


OTHER = Outcome(End.EXCEPTION, "TypeError", "b", (WAITS[0],))
READ = dataclasses.replace(OTHER, reads=(3,))


def foreseen(text: str, tier: Tier, *_: object) -> Outcome:
    """Only a real run shows the failure; an abstract one ends well, or by another exception, perhaps after a value."""
    if tier is Tier.WARM:
        return BAD if text.startswith("good") else OTHER
    return {"bad": OTHER, "bad_read": READ}.get(text, GOOD)


def test_what_fails_otherwise_when_it_is_traced_is_not_run_for_real() -> None:
    fake = Fake(foreseen)
    interest = asking(fake, KEY, foresees=True)
    assert interest.holds("good", Tier.WARM)
    fake.asked.clear()
    assert interest(["good2", "bad", "bad_read"]) == [True, False, False]
    real = [text for text, tier, _ in fake.asked if tier is Tier.WARM]
    assert real == ["good2", "bad_read"]


WRONG = Raised(Failure("exception", "AssertionError", "wrong", "user", frozenset({"assert of a value"})))


@pytest.mark.parametrize(("signature", "real"), [(WRONG, ["found", "looks"]), (KEY, ["found", "blind", "looks"])])
def test_where_no_value_is_looked_at_none_is_found_wrong(signature: Raised, real: list[str]) -> None:
    found = Outcome(End.EXCEPTION, signature.failure.type, signature.failure.message, (WAITS[0],), seconds=0.1)
    ends = {Tier.WARM: found, Tier.ABSTRACT: dataclasses.replace(GOOD, reads=(1,))}
    fake = Fake(lambda text, tier, *_: GOOD if text == "blind" else ends[tier])
    interest = asking(fake, signature, foresees=True)
    assert interest.holds("found", Tier.WARM)
    fake.asked.clear()
    assert interest(["found", "blind", "looks"]) == [True, False, True]
    assert [text for text, tier, _ in fake.asked if tier is Tier.WARM] == real


def test_tracing_does_not_count_where_it_is_wrong_of_what_is_known() -> None:
    fake = Fake(lambda text, tier, *_: BAD if tier is Tier.WARM else OTHER)
    interest = asking(fake, KEY, foresees=True)
    assert interest.holds("good", Tier.WARM)
    assert interest(["good2"]) == [True]


def test_tracing_is_given_up_where_it_settles_nothing() -> None:
    ends = {Tier.ABSTRACT: GOOD, Tier.WARM: OTHER}
    fake = Fake(lambda text, tier, *_: BAD if (text, tier) == ("good", Tier.WARM) else ends[tier])
    interest = asking(fake, KEY, foresees=True)
    assert interest.holds("good", Tier.WARM)
    interest([f"x{i}" for i in range(100)])
    fake.asked.clear()
    interest(["more"])
    assert [tier for _, tier, _ in fake.asked] == [Tier.WARM]


@pytest.mark.parametrize(("signature", "tiers"), [(KEY, [Tier.ABSTRACT, Tier.WARM]), (WRONG, [Tier.WARM])])
def test_tracing_must_settle_more_where_real_runs_share_a_process(signature: Raised, tiers: list[Tier]) -> None:
    found = Outcome(End.EXCEPTION, signature.failure.type, signature.failure.message, (WAITS[0],))
    look = dataclasses.replace(GOOD, reads=(1,))
    fake = Fake(lambda text, tier, *_: found if tier is Tier.WARM else OTHER if text.startswith("bad") else look)
    interest = asking(fake, signature, foresees=True)
    assert interest.holds("good", Tier.WARM)
    interest([f"{'bad' if i % 3 == 0 else 'good'}_{i}" for i in range(30)])
    fake.asked.clear()
    interest(["good_again"])
    assert [tier for _, tier, _ in fake.asked] == tiers


def test_a_doubted_tier_is_checked_by_the_next() -> None:
    fake = Fake(lambda text, tier, *_: GOOD if (text, tier) == ("b", Tier.WARM) else BAD)
    interest = asking(fake, KEY, Tier.ABSTRACT)
    assert interest(["a", "b"]) == [True, True]
    assert not interest.confirms("b")
    interest.doubt()
    assert interest(["a", "b"]) == [True, False]


def test_the_time_of_what_was_interesting_limits_what_comes() -> None:
    fake = Fake(lambda text, *_: BAD)
    interest = asking(fake, KEY)
    interest(["a"])
    interest(["b"])
    assert [limit for *_, limit in fake.asked] == [None, 0.5]


def test_the_time_of_what_a_control_refuses_limits_nothing() -> None:
    fake, control = Fake(lambda *_: BAD), Fake(lambda text, *_: BAD if text == "slipped" else GOOD)
    interest = asking(fake, KEY, controls=[(Control({}), control)])
    assert interest(["slipped"]) == [False]
    assert not interest.holds("slipped", Tier.WARM)
    assert interest(["a"]) == [True]
    assert interest.limit is not None
    assert [limit for *_, limit in fake.asked] == [None] * 3


def test_a_control_is_asked_once_about_one_text() -> None:
    fake, control = Fake(lambda *_: BAD), Fake(lambda text, *_: BAD if text == "slipped" else GOOD)
    interest = asking(fake, KEY, controls=[(Control({}), control)])
    assert interest.hold(["a", "slipped", "a", "a"], Tier.COLD, 1) == [True, False, True, True]
    assert [text for text, *_ in fake.asked] == ["a", "slipped", "a", "a"]
    assert [text for text, *_ in control.asked] == ["a", "slipped"]


def test_time_is_up() -> None:
    def go_on() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        asking(Fake(lambda *_: BAD), KEY, go_on=go_on)(["a"])


def test_what_has_slipped_is_not_run() -> None:
    fake = Fake(lambda *_: BAD)
    assert asking(fake, KEY)(["raise KeyError('a')", "{}['a']"]) == [False, True]
    assert [text for text, *_ in fake.asked] == ["{}['a']"]


def test_other_failures_of_libraries_are_noted() -> None:
    library = Outcome(End.EXCEPTION, "TypeError", "at 0x12ab: no\nmore", (Frame("jax/_src/lax.py", "f", 1),))
    outcomes = {"a": library, "b": BAD, "c": GOOD, "d": library}
    interest = asking(Fake(lambda text, *_: outcomes[text]), Raised(Failure("exception", "ValueError", "", "user")))
    assert interest(list("abcd")) == [False] * 4
    assert interest.also_seen == {("TypeError", "at 0x…: no"): 2}


# -- hangs


def waiting(until: float) -> Callable[[str, Tier, int, float | None], Outcome]:
    """What ends after so many seconds; `b` sits elsewhere."""

    def ends(text: str, tier: Tier, before: int, timeout: float | None) -> Outcome:
        stack = WAITS[:1] if text == "b" else WAITS
        return GOOD if timeout is not None and until < timeout else Outcome(End.TIMEOUT, stack=stack)

    return ends


def test_an_early_verdict_is_refuted_by_a_longer_run() -> None:
    fake = Fake(waiting(until=5.0))
    interest = asking(fake, HUNG)
    assert interest(["a", "b"]) == [True, False] and interest.is_provisional
    assert fake.idle is not None and fake.idle < 1, "what does nothing is not waited for"
    assert not interest.confirms("a")
    assert fake.idle == 5.0, "the longer run is hardly cut short"
    first, *_, last = (limit for *_, limit in fake.asked)
    assert first is not None and first < 5 and last == 10.0


def test_doubt_makes_patient() -> None:
    interest = asking(Fake(waiting(until=4.0)), HUNG)
    assert interest(["a"]) == [True]
    interest.doubt()
    assert interest(["a"]) == [False] and interest.is_provisional
    for _ in range(3):
        interest.doubt()
    assert interest.patience == 10.0 and not interest.is_provisional


def test_what_is_at_work_goes_on_where_the_hang_does_nothing() -> None:
    fake = Fake(waiting(until=100.0))
    interest = asking(fake, HUNG)
    assert interest.holds("a", Tier.WARM), "at once: so it did nothing"
    fake.asked.clear()
    assert interest(["b"]) == [False]
    assert [limit for *_, limit in fake.asked] == [10.0], "not stopped early, and run again"


def test_a_hang_is_verified_for_longer_than_it_was_asked_for() -> None:
    """A slow program, on a busy machine, is no hang."""
    fake = Fake(waiting(until=15.0))
    interest = asking(fake, HUNG, Tier.COLD)
    assert interest.hold(["a"], Tier.WARM, 1) == [True]
    assert interest.hold(["a"], Tier.COLD, 1) == [False]
    assert fake.asked[-1] == ("a", Tier.COLD, LONGER * 10.0)
    assert asking(Fake(waiting(until=100.0)), HUNG).hold(["a"], Tier.COLD, 1) == [True]


# -- chance


def sometimes(every: int) -> Fake:
    """Fails in the last of so many runs; `never` never does."""
    return Fake(lambda text, tier, before, limit: BAD if text != "never" and before % every == every - 1 else GOOD)


def test_what_fails_by_chance_is_run_again() -> None:
    fake = sometimes(every=3)
    assert asking(fake, KEY, repeat=2)(["a"]) == [False]
    assert asking(sometimes(every=3), KEY, repeat=3)(["a", "never"]) == [True, False]
    fake = sometimes(every=1)
    assert asking(fake, KEY, repeat=5)(["a"]) == [True]
    assert len(fake.asked) == 1, "no further runs where the first says yes"


def test_a_message_that_tells_the_numbers_stays() -> None:
    question = Question(KEY, "", exact="'a'")
    assert question.answer(BAD, "")
    assert not dataclasses.replace(question, exact="'b'").answer(BAD, "")


@pytest.mark.parametrize(("every", "repeat"), [(1, 1), (2, 8)])
def test_what_fails_each_time_is_not_run_again(every: int, repeat: int) -> None:
    interest = asking(sometimes(every), KEY, repeat=8)
    interest.calm_down("a")
    assert interest.repeat == repeat


def test_what_must_fail_each_time_is_run_again() -> None:
    def ends(text: str, tier: Tier, before: int, limit: float | None) -> Outcome:
        return GOOD if text == "race" and before == 7 else SEGFAULT

    fake = Fake(ends)
    interest = asking(fake, CRASH, insist=10)
    assert interest(["race", "always"]) == [True, True]
    assert interest.is_provisional and not interest.confirms("race")
    interest.doubt()
    fake.asked.clear()
    assert interest(["race", "always"]) == [False, True]
    asked = collections.Counter(text for text, *_ in fake.asked)
    assert asked == {"race": 8, "always": 10}
    assert not interest.is_provisional
    assert not asking(Fake(ends), CRASH, insist=10).holds("race", Tier.WARM)


def test_what_takes_long_is_not_run_so_often() -> None:
    slow = dataclasses.replace(SEGFAULT, seconds=1.0)
    fake = Fake(lambda text, tier, before, limit: slow if before < 2 else GOOD)
    assert asking(fake, CRASH, insist=10).holds("race", Tier.WARM)
    assert len(fake.asked) == 2


def test_equal_texts_are_runs_of_their_own() -> None:
    fake = sometimes(every=2)
    assert asking(fake, KEY).hold(["a"] * 4, Tier.COLD, 1) == [False, True, False, True]
    assert asking(sometimes(every=2), KEY).hold(["a"] * 4, Tier.COLD, 2) == [False, True, True, True]


# -- controls


def test_a_control_refuses() -> None:
    """What fails there too, and what it does not ask about."""
    control = Fake(lambda text, *_: GOOD if text == "a" else BAD)
    main = Fake(lambda text, *_: GOOD if text == "c" else BAD)
    interest = asking(main, KEY, controls=[(Control({"JAX_ENABLE_X64": "1"}), control)])
    assert interest(["a", "b", "c"]) == [True, False, False]
    assert [text for text, *_ in control.asked] == ["a", "b"]
    assert (interest.holds("a", Tier.COLD), interest.holds("b", Tier.COLD)) == (True, False)
    assert control.asked[-1][1] is Tier.COLD


def test_all_controls_must_agree() -> None:
    yes, no = Fake(lambda *_: GOOD), Fake(lambda *_: BAD)
    controls = [(Control({"A": "1"}), yes), (Control({"B": "1"}), no)]
    assert asking(Fake(lambda *_: BAD), KEY, controls=controls)(["a"]) == [False]


def test_a_predicate_stands_for_the_signature() -> None:
    fake = Fake(lambda text, *_: GOOD)
    question = Question(KEY, "", lambda outcome: outcome.source == "raise")
    assert Interest(cast("Oracle", fake), question, Tier.WARM)(["raise", "b"]) == [True, False]


# -- what the result says


def test_the_failure_is_told_as_the_last_run_shows_it() -> None:
    shown = Outcome(End.EXCEPTION, "KeyError", "'a'", (WAITS[0],))
    interest = asking(Fake(lambda text, *_: shown if text == "a" else GOOD), KEY)
    interest.hold(["a", "b"], Tier.COLD, 1)
    assert interest.witness == (shown, "a")


@pytest.mark.parametrize("holding", range(-1, 6))
def test_last_good(holding: int) -> None:
    """Of versions, the last of which is known not to hold."""
    texts = [str(i) for i in range(7)]
    asked = []

    def holds(text: str) -> bool:
        asked.append(text)
        return int(text) <= holding

    assert last_good(texts, holds) == holding
    assert len(asked) <= 3


def test_what_has_not_come_to_the_hang_yet_gets_more_time() -> None:
    def ends(text: str, tier: Tier, times: int, timeout: float | None) -> Outcome:
        there = text == "late" and (timeout or 0) > 5
        return Outcome(End.TIMEOUT, stack=WAITS if there else (Frame("jax/_src/compiler.py", "compile", 1),))

    fake = Fake(ends)
    assert asking(fake, HUNG)(["late", "elsewhere"]) == [True, False]
    assert [timeout for *_, timeout in fake.asked] == [IMPATIENT, IMPATIENT, 10.0, 10.0]
