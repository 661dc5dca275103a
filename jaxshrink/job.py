"""The whole job: run it once, understand the failure, cut big, cut fine, tidy, verify."""

from __future__ import annotations

import ast
import collections
import contextlib
import dataclasses
import functools
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from jaxshrink import chance, inputs, kinds, order
from jaxshrink import tree as trees
from jaxshrink.aim import Aim, aim, floor
from jaxshrink.bundle import parse_with_origin
from jaxshrink.cuts import Cuts, Unreproducible
from jaxshrink.environment import hoist_environment
from jaxshrink.errors import Interrupted, JaxshrinkError, Unreliable
from jaxshrink.failure import Failure
from jaxshrink.final import Final, prepare
from jaxshrink.first import FirstRun, failed_test, failure_to_keep, first_run, unreliable, whole_program
from jaxshrink.interest import Interest
from jaxshrink.journal import Entry, Journal
from jaxshrink.lift import captured
from jaxshrink.lowered import lowered
from jaxshrink.mirror import mirrored
from jaxshrink.observation import Observation
from jaxshrink.options import Options
from jaxshrink.oracles import Oracles
from jaxshrink.outcome import Outcome, Tier
from jaxshrink.passes import PASSES, Pass
from jaxshrink.progress import Progress, ordinal
from jaxshrink.rehearsal import NICE, Beside, Mistaken, Rehearsal, rehearse
from jaxshrink.result import Result, Size, Stats

SLOWER = 4.0
"""A candidate may take so many times as long as the original."""

LEAST_TIMEOUT = 5.0

INSIST, INSIST_COLD = 10, 4
"""Runs in which a candidate must crash where it may be a race; and those in place of one of a verification."""

RATED = 8
"""Runs of a result that fails by chance, to tell how often it does."""


class TimeUp(Exception):
    """The time limit for the whole job has passed."""


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
            self.env |= hoist_environment(trees.parsed(source.text))[1]
        self.env |= options.env
        self.journal = Journal.of(options)
        self.watched_runs = 0
        self.oracles = Oracles(options, self.program, self.folder, self.env, stack)
        self.first: FirstRun | None = None
        self.real: Beside | None = None  # the first run, while it is not known to fail as it was rehearsed
        self.rehearsal: Rehearsal | None = None
        self.seconds: float | None = None  # of the first run
        self.versions: Mapping[str, str | None] = {}
        self.failure: Failure | None = None
        self.repeat = options.repeat or 1
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
        self.oracles.main.warm_up()
        prepare()
        try:
            if entry is not None:
                return self.reduce(self.known(entry), resumed=True)
            with Beside(self.watched) as real:
                result = self.ahead(real)
                if result is not None:
                    return result
                if self.first is None:
                    self.observe(real.result())
            return self.reduce(self.whole())
        except KeyboardInterrupt:
            self.failure = self.failure if self.real is None else None
            raise Interrupted("interrupted before there was a result", self.result("interrupted", None)) from None
        except Unreproducible:
            raise self.unreliable() from None

    # -- the beginning

    def ahead(self, real: Beside) -> Result | None:
        """The result of a search that begins before the first run has ended; None where it must begin again.

        So it is the same search in any case, however long that run takes.
        """
        if not self.judged:
            self.rehearsal = rehearse(self.options, self.program, self.oracles.main, real)
        if self.rehearsal is None:
            return None
        self.real, self.failure = real, self.rehearsal.failure
        self.oracles.main.nice = NICE
        try:
            return self.reduce(self.whole())
        except (Mistaken, Unreproducible):
            self.rehearsal = self.real = self.cuts = None
            self.oracles.main.nice, self.oracles.main.idle = 0, None
            return None

    def confirm(self) -> None:
        """Hold the first run against its rehearsal, when it has ended. Raises Mistaken where they differ."""
        real, rehearsal = self.real, self.rehearsal
        if real is None or rehearsal is None:
            return
        self.observe(real.result())
        self.real, self.oracles.main.nice = None, 0
        assert self.first is not None and self.failure is not None
        if not rehearsal.foretold(self.first, self.failure, self.options, self.program):
            raise Mistaken
        if self.cuts is not None and self.cuts.history:
            self.improved(trees.text(self.cuts.history[-1]))

    def go_on(self) -> None:
        """Called while the search goes on: is there time left, and has the first run ended as it was rehearsed?"""
        if self.real is not None and self.real.is_over:
            self.confirm()
        ends = math.inf if self.options.time_limit is None else self.began + self.options.time_limit
        if self.real is None and time.monotonic() > ends:  # before that there is something to wait for
            raise TimeUp

    def observe(self, first: FirstRun) -> None:
        """Learn from the first run how the program fails."""
        self.first = first
        selector = failed_test(self.first.observation.outcome)
        if selector and not self.judged and not self.options.selector:
            self.program = inputs.read(self.options.path, self.options.python, selector)
            inputs.place(self.program, self.folder)
            self.progress.note(f"its test {'::'.join(selector)} fails")
            self.first = self.watched()
        self.seconds, seen = self.first.seconds, self.first.observation
        self.versions = {"python": seen.python, "jax": seen.jax, "jaxlib": seen.jaxlib}
        outcome = seen.outcome
        if self.options.test is not None:
            outcome = self.oracles.main.run([self.original()], Tier.COLD)[0]
            self.seconds = outcome.seconds
        self.failure = failure_to_keep(self.options, self.program, outcome, self.predicate)
        self.progress.failing(self.failure, self.seconds)
        if self.first.tries > 1:
            self.progress.note(f"it did not fail before the {ordinal(self.first.tries)} run")

    def whole(self) -> ast.Module:
        """The whole program as one module."""
        assert self.observation is not None
        return whole_program(self.program, self.observation, self.options.args)

    def original(self) -> str:
        """The user's text, comments and all, where one file without arguments is the whole program."""
        alone = len(self.program.sources) == 1 and not self.options.args
        return self.program.entry.text if alone else trees.text(self.whole()) + "\n"

    @property
    def judged(self) -> bool:
        """Whether something else than a failure decides what is interesting."""
        return self.predicate is not None or self.options.test is not None

    def watched(self, stop: threading.Event | None = None) -> FirstRun:
        self.watched_runs += 1
        setting = self.oracles.main.setting
        first = first_run(self.options, self.program, self.folder, setting, judged=self.judged, stop=stop)
        self.watched_runs += first.tries - 1
        return first

    def known(self, entry: Entry) -> ast.Module:
        """What an earlier, interrupted job knew; gives the best program that it found."""
        failure, self.seconds, self.versions = (entry.state[name] for name in ("failure", "seconds", "versions"))
        self.failure = Failure(**{**failure, "operations": frozenset(failure["operations"])})
        self.progress.failing(self.failure, entry.state["seconds"])
        return parse_with_origin(entry.best, "")

    # -- the search

    def reduce(self, start: ast.Module, resumed: bool = False) -> Result:
        """Search, verify. Raises Unreproducible where nothing fails in the same way, and KeyboardInterrupt before."""
        status, repeat = "reduced", self.repeat
        try:
            aim = self.understood(start)
            repeat = self.search(start, aim, resumed)
        except TimeUp:
            status = "interrupted"
        except KeyboardInterrupt:
            if self.real is not None:
                raise
            status = "interrupted"
        if self.cuts is None or not self.cuts.history:
            raise KeyboardInterrupt
        final = Final(self.cuts.history, self.env, functools.partial(self.alone, aim, repeat))
        self.begins("verification")
        try:
            text, times = final.text(), final.TIMES
            self.confirm()
        except KeyboardInterrupt:
            if self.real is not None:
                raise
            status, text, times = "interrupted", self.hasty(final), 1
        if text is None:
            raise Unreproducible
        self.progress.verified(times)
        if repeat > 1:
            self.progress.note(f"it fails in {final.rate(text, RATED)} of {RATED} runs")
        if final.files:
            self.progress.note("the result still reads files of the program's folder")
        if status == "reduced" and order.tokens(text) >= self.program.size.tokens:
            status = "unchanged"
        controls = tuple(control.described() for control in aim.controls)
        modules = self.lowered(text, aim, final.files)  # before the runs are counted
        return self.result(status, text, final.witness, controls, modules)

    def understood(self, start: ast.Module) -> Aim:
        """What the failure means for candidates, and an oracle that can show it."""
        assert self.failure is not None
        limit = self.options.timeout
        if limit is None and self.seconds is not None:
            limit = max(LEAST_TIMEOUT, SLOWER * self.seconds)
        original = self.program.original
        signature = kinds.signature(self.failure, self.options, original)
        needs = dataclasses.replace(signature.needs, shared=False) if self.judged else signature.needs
        self.oracles.adapt(needs, limit)
        self.begins("control")
        found = aim(self.options, signature, original, self.predicate, self.oracles, start, self.observation)
        if found.careful and not self.options.no_control:
            more = "less can be left out" if found.refactor else "those in the message stay as they are"
            self.progress.note(f"no setting was found in which the numbers are right: {more}")
        for control in found.controls:
            self.progress.note(control.described())
        return found if self.rehearsal is not None else floor(found, start, self.observation, self.oracles)

    def search(self, start: ast.Module, aim: Aim, resumed: bool) -> int:
        """Cut; where the whole does not fail again, though it may do so by chance, ask more often. Says how often."""
        controls = [(control, self.oracles.under(control)) for control in aim.controls]
        insist = INSIST if self.races else 1
        while True:
            asked = self.options.tier or aim.floor, self.go_on, controls, self.repeat, insist
            foresees = self.options.tier is None and not self.judged
            interest = Interest(self.oracles.main, aim.question, *asked, foresees=foresees)
            told = self.improved, self.begins
            cuts = functools.partial(Cuts, values=not aim.careful, calm=self.options.repeat is None)
            self.cuts = cuts(start, self.observation, interest, self.passes(aim), *told, captured=self.captured)
            try:
                self.cuts.run(start if resumed else None)
            except Unreproducible:
                if self.rehearsal is not None or self.repeat >= chance.TRIES or not self.takes_chance:
                    raise
                self.repeat = chance.TRIES
                self.progress.note(f"it fails by chance: what does not fail is run {chance.TRIES} times")
            else:
                return interest.repeat

    def captured(self, tier: Tier) -> Sequence[ast.Module]:
        """Programs of JAX calls that may fail in the same way."""
        if self.options.keep_frameworks or self.failure is None or self.failure.kind != "exception":
            return ()
        passed_over = self.rehearsal.passed_over if self.rehearsal is not None else ()
        return captured(self.program, self.options.args, self.oracles.main, tier, passed_over)

    def alone(self, aim: Aim, repeat: int, files: bool) -> Interest:
        """Who verifies the result: fresh interpreters, with the files of the program's folder or without."""
        controls = [(control, self.oracles.alone_under(control, files=files)) for control in aim.controls]
        asked = controls, repeat, INSIST_COLD if self.races else 1
        oracle = self.oracles.alone(files=files)
        oracle.nice = self.oracles.main.nice
        return Interest(oracle, aim.question, Tier.COLD, lambda: None, *asked)

    def lowered(self, text: str, aim: Aim, files: bool) -> tuple[str, ...] | None:
        """The modules of the result, if they are asked for; Ctrl-C ends the job without."""
        with contextlib.suppress(KeyboardInterrupt):
            if "stablehlo" in self.options.also:
                return lowered(text, aim.question, self.oracles, files=files, repeat=self.repeat)
        return None

    def hasty(self, final: Final) -> str:
        """The best program, verified once; a second Ctrl-C ends the job without."""
        with contextlib.suppress(KeyboardInterrupt):
            text = final.hasty()
            if text is not None:
                return text
        kept = f"the best program so far is {self.journal.best}"
        raise Interrupted(f"interrupted before the result was verified; {kept}", self.result("interrupted", None))

    @property
    def observation(self) -> Observation | None:
        if self.rehearsal is not None:
            return self.rehearsal.observation
        return self.first.observation if self.first is not None else None

    @functools.cached_property
    def takes_chance(self) -> bool:
        return chance.takes_part(source.text for source in self.program.sources)

    @property
    def races(self) -> bool:
        """Whether the failure may be a race: what fails now and then will not do as a result."""
        return self.failure is not None and self.failure.kind == "crash" and self.takes_chance

    def passes(self, aim: Aim) -> tuple[Pass, ...]:
        only, skipped = self.options.only_pass, self.options.skip_pass
        chosen = (each for each in PASSES if (not only or each.name in only) and each.name not in skipped)
        return tuple(each for each in chosen if each.refactors or not aim.refactor)

    def begins(self, part: str) -> None:
        if self.real is None:
            self.progress.begins(part)

    def improved(self, text: str) -> None:
        if self.real is not None:  # not known yet to fail in the same way
            return
        assert self.failure is not None
        state = {"failure": dataclasses.asdict(self.failure), "seconds": self.seconds, "versions": self.versions}
        self.journal.save(text, state)
        self.progress.improved(order.tokens(text))

    def unreliable(self) -> Unreliable:
        """Run the program once more to tell a failure that comes and goes from one that needs its surroundings."""
        again = None
        if self.first is not None and self.options.test is None:
            self.watched_runs += 1
            again = self.first.again()
        alike = again is not None and again == self.failure
        return Unreliable(unreliable(self.options, alike=alike), self.result("unreliable", None))

    # -- the report

    def runs(self) -> int:
        return sum(self.runs_by_tier().values())

    def runs_by_tier(self) -> dict[Tier, int]:
        return self.oracles.counts + collections.Counter({Tier.COLD: self.watched_runs})

    def result(
        self, status: str, text: str | None, witness: tuple[Outcome, str] | None = None, controls: tuple[str, ...] = (),
        lowered: tuple[str, ...] | None = None,
    ) -> Result:  # fmt: skip
        change = text and f"{status}: from {self.program.size.tokens} to {Size.of([text]).tokens} tokens"
        return Result(
            status=status,
            message=change or "no result",
            source=text,
            input_path=self.options.path,
            input_size=self.program.size,
            failure=self.failure,
            shown=witness and kinds.failure(witness[0], self.options, witness[1]),
            controls=controls,
            lowered=lowered,
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
        return stats if self.cuts is None else self.cuts.added_to(stats)
