"""Ask of candidates what a job asks, with real runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from jaxshrink import kinds
from jaxshrink.guard import Guard, Watched
from jaxshrink.interest import Question
from jaxshrink.kinds import Needs
from jaxshrink.options import Options
from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import Outcome, Tier

MEMORY = 1 << 29


class Runners:
    """One runner for each way in which a kind of failure wants its candidates run."""

    def __init__(self) -> None:
        self.made: dict[tuple[bool, bool, bool], Runner] = {}

    def __call__(self, needs: Needs) -> Runner:
        key = cache, finish, compiles = needs.cache, needs.finish, needs.compiles
        if key not in self.made:
            env = {"JAX_PLATFORMS": "cpu"}
            ways = {"cache": cache, "finish": finish, "compiles": compiles}
            self.made[key] = Runner(Setting(sys.executable, env, memory=MEMORY, timeout=20.0, **ways))
        return self.made[key]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for runner in self.made.values():
            runner.close()


class Asked:
    """The question that the failure of a program raises. `given` are options; `needs` those of the kind of failure."""

    def __init__(self, runners: Runners, needs: Needs, original: str, **given: Any):
        self.runner, self.needs = runners(needs), needs
        options = Options.of("repro.py", {"no_control": True, **given})  # type: ignore[typeddict-item]
        outcome = self.run(original)
        found = kinds.failure(outcome, options, original)
        assert found is not None, outcome
        self.failure = found
        signature = kinds.signature(found, options, original)
        assert (signature.needs.finish, signature.needs.compiles) == (needs.finish, needs.compiles)
        guard = Guard.of(outcome, original, Watched.NOTHING) if signature.is_about_values else None
        self.question = Question(signature, original, guard=guard)

    def run(self, *texts: str) -> Outcome:
        (outcome,) = self.outcomes(texts)
        return outcome

    def outcomes(self, texts: tuple[str, ...]) -> list[Outcome]:
        hang = self.needs.hang
        return self.runner.run(texts, Tier.WARM, hang, sample=hang is not None)

    def accepted(self, candidates: Mapping[str, str]) -> set[str]:
        """The names of the candidates that count as the same failure."""
        possible = {name: text for name, text in candidates.items() if self.question.is_possible(text)}
        outcomes = zip(possible.items(), self.outcomes(tuple(possible.values())), strict=True)
        return {name for (name, text), outcome in outcomes if self.question.answer(outcome, text)}
