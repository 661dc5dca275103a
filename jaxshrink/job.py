"""The whole job: run it once, understand the failure, cut big, cut fine, tidy, verify."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from jaxshrink import chance, inputs, kinds, order
from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.controls import Control, find, given
from jaxshrink.cover import covered
from jaxshrink.cuts import Cuts, Unreproducible
from jaxshrink.environment import hoist_environment
from jaxshrink.errors import Interrupted, JaxshrinkError, Unreliable, UsageError
from jaxshrink.failure import Failure
from jaxshrink.final import Final
from jaxshrink.first import FirstRun, failed_test, failure_to_keep, first_run, libraries, whole_program
from jaxshrink.guard import Guard
from jaxshrink.interest import Interest, Question, TimeUp
from jaxshrink.journal import Entry, Journal
from jaxshrink.kinds import Needs, Signature
from jaxshrink.mirror import mirrored
from jaxshrink.options import Options
from jaxshrink.oracle import Command, Oracle, Runner, Setting
from jaxshrink.outcome import Outcome, Tier
from jaxshrink.passes import PASSES, Pass
from jaxshrink.progress import Progress
from jaxshrink.result import OtherFailure, Rejected, Result, Size, Stats
from jaxshrink.settle import settle
from jaxshrink.tree import Inapplicable

SLOWER = 4.0
"""A candidate may take so many times as long as the original."""

LEAST_TIMEOUT = 5.0

INSIST = 3
"""Runs in which a candidate must crash where it may be a race."""

RATED = 8
"""Runs of a result that fails by chance, to tell how often it does."""


def run(options: Options, progress: Progress, predicate: Callable[[Outcome], bool] | None = None) -> Result:
    """Reduce the program that the options name; what comes out has been verified. Raises JaxshrinkError.

    KeyboardInterrupt ends the search, and what is the best by then is the result.
    """
    with contextlib.ExitStack() as stack:
        return Job(options, progress, predicate, stack).run()


class Job:
    """One reduction, from the first run to the verified result."""

    def __init__(
        self,
        options: Options,
        progress: Progress,
        predicate: Callable[[Outcome], bool] | None,
        stack: contextlib.ExitStack,
    ):
        self.options, self.progress, self.predicate, self.stack = options, progress, predicate, stack
        self.began = time.monotonic()
        self.program = inputs.read(options.path, options.python, options.selector)
        self.folder = stack.enter_context(mirrored(self.program.folder))
        inputs.place(self.program, self.folder)
        self.env: dict[str, str] = {}
        for source in reversed(self.program.sources):  # the entry's own settings come last
            self.env |= hoist_environment(parse_with_origin(source.text, str(source.path)))[1]
        self.env |= options.env
        self.journal = Journal.of(options)
        self.watched_runs = 0
        self.needs = Needs()
        self.careful = False  # numbers are wrong, and nothing but the failure itself tells so
        self.runners: list[Oracle] = []
        self.runner = self.oracle(self.env)
        self.first: FirstRun | None = None
        self.seconds: float | None = None  # of the first run
        self.versions: Mapping[str, str | None] = {}
        self.failure: Failure | None = None
        self.cuts: Cuts | None = None

    def run(self) -> Result:
        try:
            return self.reduced()
        except JaxshrinkError as error:
            error.result = error.result or self.result(error.status, None)
            raise

    def reduced(self) -> Result:
        entry = self.journal.load() if self.options.resume else None
        self.progress.started(self.options.path, self.program.size.tokens, self.runs, resumed=entry is not None)
        self.runner.warm_up()
        try:
            start = self.observe() if entry is None else self.known(entry)
        except KeyboardInterrupt:
            raise Interrupted("interrupted before there was a result", self.result("interrupted", None)) from None
        return self.reduce(start, resumed=entry is not None)

    # -- the beginning

    def observe(self) -> ast.Module:
        """The first run; gives the whole program as one module."""
        judged = self.predicate is not None or self.options.test is not None
        self.first = self.watched(judged)
        selector = failed_test(self.first.observation.outcome)
        if selector and not judged and not self.options.selector:
            self.program = inputs.read(self.options.path, self.options.python, selector)
            inputs.place(self.program, self.folder)
            self.progress.note(f"its test {'::'.join(selector)} fails")
            self.first = self.watched(judged)
        self.seconds, seen = self.first.seconds, self.first.observation
        self.versions = {"python": seen.python, "jax": seen.jax, "jaxlib": seen.jaxlib}
        whole, outcome = whole_program(self.program, seen, self.options.args), seen.outcome
        if self.options.test is not None:
            outcome = self.runner.run([self.original(whole)], Tier.COLD)[0]
            self.seconds = outcome.seconds
        self.failure = failure_to_keep(self.options, self.program, outcome, self.predicate)
        self.progress.failing(self.failure, self.seconds)
        if self.first.tries > 1:
            self.progress.note(f"it did not fail before the {_ordinal(self.first.tries)} run")
        return whole

    def original(self, whole: ast.Module) -> str:
        """The user's text, comments and all, where one file without arguments is the whole program."""
        alone = len(self.program.sources) == 1 and not self.options.args
        return self.program.entry.text if alone else trees.text(whole) + "\n"

    def watched(self, judged: bool) -> FirstRun:
        self.watched_runs += 1
        first = first_run(self.options, self.program, self.folder, self.runner.setting, judged=judged)
        self.watched_runs += first.tries - 1
        return first

    def known(self, entry: Entry) -> ast.Module:
        """What an earlier, interrupted job knew; gives the best program that it found."""
        failure, self.seconds, self.versions = (entry.state[name] for name in ("failure", "seconds", "versions"))
        self.failure = Failure(**{**failure, "operations": frozenset(failure["operations"])})
        self.progress.failing(self.failure, entry.state["seconds"])
        return parse_with_origin(entry.best, "")

    def oracle(self, env: Mapping[str, str], **other: Any) -> Oracle:
        """What candidates are asked of: the user's command, or runs of the candidates themselves."""
        if self.options.test is None:
            return self.new_runner(env, **other)
        command = Command(self.options.test, self.program.entry.path.name, self.setting(env, **other))
        self.runners.append(self.stack.enter_context(command))
        return command

    def new_runner(self, env: Mapping[str, str], **other: Any) -> Runner:
        runner = self.stack.enter_context(Runner(self.setting(env, **other)))
        self.runners.append(runner)
        return runner

    def setting(self, env: Mapping[str, str], **other: Any) -> Setting:
        options = self.options
        around = {"python": str(options.python), "folder": self.folder, "imports": libraries(self.program)}
        return Setting(
            env=env,
            jobs=options.jobs,
            memory=None if options.memory is None else int(options.memory * 2**30),
            cache=self.needs.cache,
            finish=self.needs.finish,
            compiles=self.needs.compiles,
            **{"timeout": options.timeout, **around, **other},
        )

    # -- the search

    def reduce(self, start: ast.Module, resumed: bool) -> Result:
        assert self.failure is not None
        if self.options.timeout is None:
            limit = max(LEAST_TIMEOUT, SLOWER * (self.seconds or 0))
            self.runner.setting = dataclasses.replace(self.runner.setting, timeout=limit)
        original = "\n".join(source.text for source in self.program.sources)
        signature = kinds.signature(self.failure, self.options, original)
        self.adapt(signature.needs)
        controls = self.controls(signature, trees.text(start))
        self.careful = signature.is_about_values and not controls and self.predicate is None
        guard = self.guard(signature, start, controlled=bool(controls))
        question = Question(signature, original, self.predicate, guard)
        asked = [(control, self.controlled(control)) for control in controls]
        repeat, insist = self.options.repeat or 1, INSIST if self.races else 1
        interest = Interest(self.runner, question, self.floor, self.deadline, asked, repeat, insist)
        status = "reduced"
        try:
            self.cuts = self.search(start, interest, resumed)
        except (KeyboardInterrupt, TimeUp):
            status = "interrupted"
        except Unreproducible:
            raise self.unreliable() from None
        if self.cuts is None or not self.cuts.history:
            raise Interrupted("interrupted before there was a result", self.result("interrupted", None))

        def fresh(files: bool) -> Interest:
            around = {"imports": (), "timeout": self.runner.setting.timeout, **({} if files else {"folder": None})}
            alone = [(control, self.controlled(control, around)) for control in controls]
            return Interest(self.oracle({}, **around), question, Tier.COLD, controls=alone, repeat=interest.repeat)

        final = Final(self.cuts.history, self.env, fresh)
        self.progress.begins("verification")
        try:
            text, times = final.text(), final.TIMES
        except KeyboardInterrupt:
            status, text, times = "interrupted", self.hasty(final), 1
        if text is None:
            raise self.unreliable()
        self.progress.verified(times)
        if interest.repeat > 1:
            self.progress.note(f"it fails in {final.rate(text, RATED)} of {RATED} runs")
        if final.files:
            self.progress.note("the result still reads files of the program's folder")
        if status == "reduced" and order.tokens(text) >= self.program.size.tokens:
            status = "unchanged"
        return self.result(status, text)

    def search(self, start: ast.Module, interest: Interest, resumed: bool) -> Cuts:
        """Cut; where the whole does not fail again, though it may do so by chance, ask more often."""
        observation = self.first.observation if self.first is not None else None
        told = self.improved, self.progress.begins
        while True:
            self.cuts = Cuts(start, observation, interest, self.passes, *told, values=not self.careful)
            try:
                self.cuts.run(start if resumed else None)
            except Unreproducible:
                if interest.repeat >= chance.TRIES or not self.takes_chance:
                    raise
                interest.repeat = chance.TRIES
                self.progress.note(f"it fails by chance: what does not fail is run {chance.TRIES} times")
            else:
                return self.cuts

    @property
    def takes_chance(self) -> bool:
        return chance.takes_part(source.text for source in self.program.sources)

    @property
    def races(self) -> bool:
        """Whether the failure may be a race: what fails now and then will not do as a result."""
        return self.failure is not None and self.failure.kind == "crash" and self.takes_chance

    def adapt(self, needs: Needs) -> None:
        """Make the runner one that can show the kind of failure at hand."""
        self.needs = needs
        setting = self.runner.setting
        if (needs.cache, needs.finish, needs.compiles) != (setting.cache, setting.finish, setting.compiles):
            self.runner.close()
            self.runner = self.oracle(self.env, timeout=setting.timeout)

    def hasty(self, final: Final) -> str:
        """The best program, verified once; a second Ctrl-C ends the job without."""
        with contextlib.suppress(KeyboardInterrupt):
            text = final.hasty()
            if text is not None:
                return text
        kept = f"the best program so far is {self.journal.best}"
        raise Interrupted(f"interrupted before the result was verified; {kept}", self.result("interrupted", None))

    def controls(self, signature: Signature, text: str) -> tuple[Control, ...]:
        """Second ways of running that tell a wrong number from one that is plainly so, and regressions."""
        controls = given(self.options)
        for control in controls:
            outcome = self.controlled(control).run([text], Tier.WARM)[0]
            if not control.allows(outcome):
                raise UsageError(f"with {control} {self.options.path} does not end well either")
        if not controls and signature.is_about_values and self.predicate is None and not self.options.no_control:
            self.progress.begins("control")
            controls = find(text, self.controlled)
            if not controls:
                self.progress.note("no setting was found in which the numbers are right: less can be left out")
        for control in controls:
            self.progress.note(control.described())
        return controls

    def controlled(self, control: Control, alone: Mapping[str, Any] | None = None) -> Runner:
        """A runner under a control; `alone`: not with the program's environment, but with these settings."""
        env = self.env if alone is None else {}
        both = env.keys() & control.env.keys() & {"XLA_FLAGS"}
        flags = {name: f"{env[name]} {control.env[name]}" for name in both}
        python = {"python": str(control.python)} if control.python else {}
        return self.new_runner({**env, **control.env, **flags}, **python, **(alone or {}))

    def guard(self, signature: Signature, tree: ast.Module, *, controlled: bool) -> Guard | None:
        """What must flow into the statement by which the program finds that a number is wrong."""
        if not signature.is_about_values or self.predicate is not None:
            return None
        with contextlib.suppress(Inapplicable):
            tree = settle(covered(tree, self.first.observation)) if self.first is not None else tree
        text = trees.text(tree)
        outcomes = (self.runner.run([text], tier)[0] for tier in (Tier.WARM, Tier.COLD))
        failing = (each for each in outcomes if signature.matches(each, text))
        return next((Guard.of(each, text, controlled=controlled) for each in failing), None)

    @property
    def floor(self) -> Tier:
        """The cheapest tier that may be asked; what a predicate looks at is there in real runs only."""
        if self.options.tier is not None:
            return self.options.tier
        return self.needs.floor if self.predicate is None else Tier.WARM

    @property
    def deadline(self) -> float:
        return math.inf if self.options.time_limit is None else self.began + self.options.time_limit

    @property
    def passes(self) -> tuple[Pass, ...]:
        only, skipped = self.options.only_pass, self.options.skip_pass
        chosen = (each for each in PASSES if (not only or each.name in only) and each.name not in skipped)
        return tuple(each for each in chosen if each.refactors or not self.careful)

    def improved(self, text: str) -> None:
        assert self.failure is not None
        state = {"failure": dataclasses.asdict(self.failure), "seconds": self.seconds, "versions": self.versions}
        self.journal.save(text, state)
        self.progress.improved(order.tokens(text))

    def unreliable(self) -> Unreliable:
        """Run the program once more to tell a failure that comes and goes from one that needs its surroundings."""
        name = self.options.path
        if self.options.test is not None:
            message = f"{self.options.test} does not find {name} interesting each time, or not without its comments"
            return Unreliable(message, self.result("unreliable", None))
        again = None
        if self.first is not None:
            self.watched_runs += 1
            again = self.first.again()
        message = f"{name} fails, but not in the same way each time"
        if again is not None and again == self.failure:
            message = f"{name} fails by itself, but not as a candidate run from another folder: is it the surroundings?"
        return Unreliable(message, self.result("unreliable", None))

    # -- the report

    def runs(self) -> int:
        return sum(self.runs_by_tier().values())

    def runs_by_tier(self) -> dict[Tier, int]:
        counts = {tier: sum(runner.counts[tier] for runner in self.runners) for tier in Tier}
        counts[Tier.COLD] += self.watched_runs
        return counts

    def result(self, status: str, text: str | None) -> Result:
        size = self.program.size
        message = "no result"
        if text is not None:
            tokens = Size.of([text]).tokens
            message = f"{status}: from {size.tokens} to {tokens} tokens"
        return Result(
            status=status,
            message=message,
            source=text,
            input_path=self.options.path,
            input_size=size,
            failure=self.failure,
            python=self.versions.get("python"),
            jax=self.versions.get("jax"),
            jaxlib=self.versions.get("jaxlib"),
            stats=self.stats(),
        )

    def stats(self) -> Stats:
        stats = Stats(
            runs_by_tier=self.runs_by_tier(),
            seconds=time.monotonic() - self.began,
            cold_seconds=self.seconds,
            jobs=self.options.jobs,
        )
        if self.cuts is None:
            return stats
        rejected = self.cuts.judge.counts
        return dataclasses.replace(
            stats,
            cached=rejected.cached,
            rejected=Rejected(rejected.syntax, rejected.unbound, rejected.duplicate),
            passes=tuple(self.cuts.fixpoint.counts.values()),
            also_seen=tuple(OtherFailure(*seen, count) for seen, count in self.cuts.interest.also_seen.most_common(20)),
        )


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")
