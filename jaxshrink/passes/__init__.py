"""The passes, coarse to fine. A new pass is one function in one file and one row here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from jaxshrink.passes import (
    arrays,
    classes,
    expressions,
    functions,
    numbers,
    statements,
    transforms,
    variables,
)
from jaxshrink.tree import Edit
from jaxshrink.view import View


@dataclasses.dataclass(frozen=True)
class Pass:
    """A source of edits. `prior`: how likely one of them is to succeed (see `search.reduce`).

    Edits of a pass with a prior below 0.1 are not tried all at once first.
    """

    name: str
    propose: Callable[[View], Iterable[Edit]]
    prior: float = 0.1

    @property
    def summary(self) -> str:
        return (self.propose.__doc__ or "").strip().split("\n")[0]


PASSES: tuple[Pass, ...] = (
    Pass("statements", statements.statements, 0.3),
    Pass("module-guard", functions.unwrap_module_guard, 0.5),
    Pass("materialise", expressions.materialise, 0.2),
    Pass("definitions", statements.definitions, 0.3),
    Pass("truncated", statements.truncated, 0.05),
    Pass("blocks", statements.blocks, 0.05),
    Pass("empty-functions", expressions.empty_functions, 0.05),
    Pass("class-bodies", classes.class_bodies, 0.05),
    Pass("parameters", functions.parameters, 0.2),
    Pass("elements", expressions.elements, 0.2),
    Pass("targets", statements.targets, 0.2),
    Pass("annotations", statements.annotations, 0.5),
    Pass("hoist-deep", expressions.hoist_deep, 0.02),
    Pass("hoist", expressions.hoist, 0.02),
    Pass("constants", expressions.constants, 0.02),
    Pass("unwrap", transforms.unwrap, 0.02),
    Pass("unmap", transforms.unmap, 0.02),
    Pass("splice", functions.splice, 0.02),
    Pass("inline", variables.inline, 0.3),
    Pass("inline-calls", functions.inline_calls, 0.02),
    Pass("lambdas", functions.lambdas, 0.05),
    Pass("decorated", functions.decorated, 0.05),
    Pass("eta", functions.eta, 0.02),
    Pass("instances", classes.instances, 0.05),
    Pass("methods", classes.methods, 0.05),
    Pass("plainer", transforms.plainer, 0.02),
    Pass("aliases", variables.aliases, 0.5),
    Pass("merged", variables.merged, 0.02),
    Pass("collapsed", numbers.collapsed, 0.05),
    Pass("dimensions", numbers.dimensions, 0.05),
    Pass("axes", arrays.axes, 0.05),
    Pass("ones", arrays.ones, 0.02),
    Pass("one-library", arrays.one_library, 0.05),
    Pass("numbers", numbers.numbers, 0.05),
    Pass("strings", numbers.strings, 0.2),
)
