"""The passes, coarse to fine. A new pass is one function in one file and one row here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from jaxshrink.passes import (
    apart,
    arrays,
    classes,
    containers,
    dissolve,
    expressions,
    functions,
    members,
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
    Pass("annotations", statements.without_annotations, ALL),
    Pass("definitions", statements.definitions, ALL),
    Pass("materialise", expressions.materialise, ALL),
    Pass("scalars", arrays.scalars),
    Pass("empty-functions", expressions.empty_functions),
    Pass("class-bodies", classes.class_bodies),
    Pass("blocks", statements.blocks),
    Pass("splice", functions.splice),
    Pass("dissolved", dissolve.dissolved),
    Pass("members", members.members),
    Pass("records", classes.records),
    Pass("inline", variables.inline, ALL),
    Pass("inline-calls", functions.inline_calls),
    Pass("lambdas", functions.lambdas),
    Pass("decorated", functions.decorated),
    Pass("eta", functions.eta),
    Pass("projections", containers.projections),
    Pass("unwrap", transforms.unwrap),
    Pass("arguments", transforms.arguments),
    Pass("parameters-apart", apart.parameters_apart),
    Pass("parameters-with-rules", apart.parameters_with_rules),
    Pass("without-aux", transforms.without_aux),
    Pass("unmap", transforms.unmap),
    Pass("plainer", transforms.plainer),
    Pass("tuples", containers.tuples),
    Pass("keys", containers.keys),
    Pass("unkeyed", containers.unkeyed),
    Pass("instances", classes.instances),
    Pass("aliases", variables.aliases, ALL),
    Pass("collapsed", numbers.collapsed),
    Pass("axes", arrays.axes),
    Pass("truncated", statements.truncated),
    Pass("constants", expressions.constants),
    Pass("hoist", expressions.hoist),
    Pass("parameters", functions.parameters),
    Pass("elements", expressions.elements),
    Pass("targets", statements.targets),
    Pass("hoist-deep", expressions.hoist_deep),
    Pass("methods", classes.methods),
    Pass("merged", variables.merged),
    Pass("ones", arrays.ones),
    Pass("one-library", arrays.one_library),
    Pass("dimensions", numbers.dimensions),
    Pass("numbers", numbers.numbers),
    Pass("strings", numbers.strings, ALL),
)
