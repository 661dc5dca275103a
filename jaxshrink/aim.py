"""What a search must keep: the question that each candidate is asked, and the controls that watch over the answer."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Callable

from jaxshrink import kinds
from jaxshrink import tree as trees
from jaxshrink.controls import Control, find, given
from jaxshrink.cover import covered
from jaxshrink.errors import UsageError
from jaxshrink.failure import Failure
from jaxshrink.guard import Guard
from jaxshrink.interest import Question
from jaxshrink.kinds import Signature
from jaxshrink.observation import Observation
from jaxshrink.options import Options
from jaxshrink.oracles import Oracles
from jaxshrink.outcome import Outcome, Tier
from jaxshrink.settle import settle
from jaxshrink.tree import Inapplicable


@dataclasses.dataclass(frozen=True)
class Aim:
    """The question and its controls. `careful`: numbers are wrong, and nothing but the failure itself tells so."""

    question: Question
    controls: tuple[Control, ...] = ()
    careful: bool = False


def aim(
    options: Options,
    failure: Failure,
    original: str,
    predicate: Callable[[Outcome], bool] | None,
    oracles: Oracles,
    program: ast.Module,
    observation: Observation | None,
) -> Aim:
    """What a failure of the original text means for candidates. `program` is it as one module.

    Raises UsageError where a control that the user names is none.
    """
    signature = kinds.signature(failure, options, original)
    if predicate is not None or options.test is not None:
        return Aim(Question(signature, original, predicate))
    controls = _controls(options, signature, trees.text(program), oracles)
    if not signature.is_about_values:
        return Aim(Question(signature, original), controls)
    guard = _guard(signature, _covered(program, observation), oracles, controlled=bool(controls))
    return Aim(Question(signature, original, guard=guard), controls, careful=not controls)


def _controls(options: Options, signature: Signature, text: str, oracles: Oracles) -> tuple[Control, ...]:
    """Second ways of running that tell a wrong number from one that is plainly so, and regressions."""
    named = given(options)
    for control in named:
        if not control.allows(oracles.under(control).run([text], Tier.WARM)[0]):
            raise UsageError(f"with {control} {options.path} does not end well either")
    if named or options.no_control or not signature.is_about_values:
        return named
    return find(text, oracles.under)


def _guard(signature: Signature, text: str, oracles: Oracles, *, controlled: bool) -> Guard | None:
    """What must flow into the statement by which the program finds that a number is wrong."""
    outcomes = (oracles.main.run([text], tier)[0] for tier in (Tier.WARM, Tier.COLD))
    failing = (each for each in outcomes if signature.matches(each, text))
    return next((Guard.of(each, text, controlled=controlled) for each in failing), None)


def _covered(program: ast.Module, observation: Observation | None) -> str:
    with contextlib.suppress(Inapplicable):
        if observation is not None:
            return trees.text(settle(covered(program, observation)))
    return trees.text(program)
