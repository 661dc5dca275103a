"""The passes, coarse to fine. A new pass is one function in one file and one row here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from jaxshrink.passes import (
    arrays,
    classes,
    containers,
    expressions,
    functions,
    numbers,
    statements,
    transforms,
    variables,
)
from jaxshrink.tree import Edit
from jaxshrink.view import View


ALL = 1_000_000


@dataclasses.dataclass(frozen=True)
class Pass:
    """A source of edits. `group` is how many of them are tried together at first (see `search.reduce`)."""

    name: str
    propose: Callable[[View], Iterable[Edit]]
    group: int = 1

    @property
    def summary(self) -> str:
        return (self.propose.__doc__ or "").strip().split("\n")[0]


PASSES: tuple[Pass, ...] = (
    Pass("statements", statements.statements, ALL),
    Pass("module-guard", functions.unwrap_module_guard),
    Pass("annotations", statements.annotations, ALL),
    Pass("materialise", expressions.materialise, ALL),
    Pass("definitions", statements.definitions, 4),
    Pass("empty-functions", expressions.empty_functions),
    Pass("class-bodies", classes.class_bodies),
    Pass("blocks", statements.blocks),
    Pass("truncated", statements.truncated),
    Pass("splice", functions.splice),
    Pass("inline", variables.inline, 4),
    Pass("lambdas", functions.lambdas, 2),
    Pass("unwrap", transforms.unwrap),
    Pass("projections", containers.projections),
    Pass("tuples", containers.tuples),
    Pass("keys", containers.keys),
    Pass("replace", expressions.replace),
    Pass("parameters", functions.parameters, 2),
    Pass("elements", expressions.elements, 2),
    Pass("targets", statements.targets, 2),
    Pass("hoist-deep", expressions.hoist_deep),
    Pass("unmap", transforms.unmap),
    Pass("inline-calls", functions.inline_calls),
    Pass("decorated", functions.decorated),
    Pass("eta", functions.eta),
    Pass("instances", classes.instances),
    Pass("methods", classes.methods),
    Pass("plainer", transforms.plainer),
    Pass("aliases", variables.aliases, ALL),
    Pass("merged", variables.merged),
    Pass("collapsed", numbers.collapsed),
    Pass("dimensions", numbers.dimensions),
    Pass("axes", arrays.axes),
    Pass("ones", arrays.ones),
    Pass("one-library", arrays.one_library),
    Pass("numbers", numbers.numbers),
    Pass("strings", numbers.strings, 4),
)
