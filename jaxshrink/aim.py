"""What a search must keep: the question that each candidate is asked, and the controls that watch over the answer."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import re
from collections.abc import Callable

from jaxshrink import cover
from jaxshrink import tree as trees
from jaxshrink.controls import Control, find, given
from jaxshrink.errors import UsageError
from jaxshrink.guard import Guard, Watched, reads_values, tests_finiteness
from jaxshrink.interest import Question
from jaxshrink.kinds import Signature
from jaxshrink.observation import Observation
from jaxshrink.options import Options
from jaxshrink.oracles import Oracles
from jaxshrink.outcome import End, Outcome, Tier
from jaxshrink.settle import settle
from jaxshrink.tree import Inapplicable

_DIGITS = re.compile(r"\d\.\d{4}|\.\d{5}|\d{6}")


@dataclasses.dataclass(frozen=True)
class Aim:
    """The question and its controls. `careful`: numbers are wrong, and nothing but the failure itself tells so.

    `floor` is the cheapest tier that can answer the question. `refactor`: not even the failure tells which numbers.
    """

    question: Question
    floor: Tier
    controls: tuple[Control, ...] = ()
    careful: bool = False

    @property
    def refactor(self) -> bool:
        return self.careful and self.question.exact is None


def aim(
    options: Options,
    signature: Signature,
    original: str,
    predicate: Callable[[Outcome], bool] | None,
    oracles: Oracles,
    program: ast.Module,
    observation: Observation | None,
) -> Aim:
    """What must stay the same of the original text, and how that is asked. `program` is it as one module.

    Raises UsageError where a control that the user names is none.
    """
    if predicate is not None or options.test is not None:
        return Aim(Question(signature, original, predicate), signature.needs.floor if options.test else Tier.WARM)
    if not signature.is_about_values:
        return Aim(Question(signature, original), signature.needs.floor, _named(options, trees.text(program), oracles))
    covered = _covered(program, observation)
    known = _fails_abstractly(signature, covered, oracles)
    failing = _failing(signature, covered, oracles)
    controls = _named(options, trees.text(program), oracles)
    if not (known or controls or options.no_control):
        not_finite = failing is not None and tests_finiteness(failing, covered)
        controls = find(trees.text(program), oracles.under, oracles.leave, not_finite=not_finite)
    watched = Watched.ALL if controls else Watched.VALUES if known else Watched.NOTHING
    exact = _telling(failing, observation) if watched is Watched.NOTHING else None
    watched = Watched.MESSAGE if exact is not None else watched
    guard = None if failing is None else Guard.of(failing, covered, watched)
    floor = Tier.ABSTRACT if known else Tier.WARM
    question = Question(signature, original, guard=guard, exact=exact)
    return Aim(question, floor, controls, careful=watched in (Watched.NOTHING, Watched.MESSAGE))


def floor(aim: Aim, program: ast.Module, observation: Observation | None, oracles: Oracles) -> Aim:
    """The same for runs that compute, where tracing all that was executed shows no failure: then parts show none."""
    if aim.floor is not Tier.ABSTRACT:
        return aim
    outcome = oracles.main.run([_covered(program, observation)], Tier.ABSTRACT)[0]
    ends = outcome.end is End.EXIT and not outcome.reads
    return dataclasses.replace(aim, floor=Tier.WARM) if ends else aim


def _telling(failing: Outcome | None, observation: Observation | None) -> str | None:
    """The message of the failure, if it tells numbers with so many digits that others would hardly be the same."""
    if failing is None or observation is None or failing.message != observation.outcome.message:
        return None
    return failing.message if _DIGITS.search(failing.message or "") else None


def _fails_abstractly(signature: Signature, text: str, oracles: Oracles) -> bool:
    """Whether the program fails alike where no value of an array is computed: by shapes, types, trees."""
    outcome = oracles.main.run([text], Tier.ABSTRACT)[0]
    return signature.matches(outcome, text) and not reads_values(outcome, text)


def _failing(signature: Signature, text: str, oracles: Oracles) -> Outcome | None:
    """How the program fails for real."""
    outcomes = (oracles.main.run([text], tier)[0] for tier in (Tier.WARM, Tier.COLD))
    return next((each for each in outcomes if signature.matches(each, text)), None)


def _named(options: Options, text: str, oracles: Oracles) -> tuple[Control, ...]:
    """The controls that the user names."""
    named = []
    for control in given(options):
        runner = oracles.under(control)
        if not control.allows(runner.run([text], Tier.WARM)[0]):
            raise UsageError(f"with {control} {options.path} does not end well either")
        target = runner.target()
        named.append(dataclasses.replace(control, versions=f"jax {target['jax']}, Python {target['python']}"))
    return tuple(named)


def _covered(program: ast.Module, observation: Observation | None) -> str:
    with contextlib.suppress(Inapplicable):
        if observation is not None:
            return trees.text(settle(cover.covered(program, observation)))
    return trees.text(program)
