"""The passes, coarse to fine. A new pass is one function in one file and one row here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from jaxshrink.passes import (
    apart,
    arrays,
    calls,
    carries,
    checks,
    classes,
    containers,
    dissolve,
    expressions,
    fixed,
    functions,
    generators,
    inherited,
    loops,
    members,
    meshes,
    names,
    numbers,
    outward,
    partials,
    registries,
    rules,
    starred,
    statements,
    threads,
    transforms,
    variables,
)
from jaxshrink.tree import Edit
from jaxshrink.view import View

ALL = 1_000_000


@dataclasses.dataclass(frozen=True)
class Pass:
    """A source of edits. `group` is how many of them are tried together at first (see `search.reduce`).

    `refactors`: no edit of it gives a value other than the program computes.
    """

    name: str
    propose: Callable[[View], Iterable[Edit]]
    group: int = 1
    refactors: bool = False

    @property
    def summary(self) -> str:
        return (self.propose.__doc__ or "").strip().split("\n")[0]


PASSES: tuple[Pass, ...] = (
    Pass("beginnings", statements.beginnings, refactors=True),
    Pass("statements", statements.statements, ALL, refactors=True),
    Pass("module-guard", functions.unwrap_module_guard, refactors=True),
    Pass("annotations", statements.without_annotations, ALL, refactors=True),
    Pass("definitions", statements.definitions, ALL, refactors=True),
    Pass("materialise", expressions.materialise, ALL),
    Pass("registries", registries.registries, ALL),
    Pass("scalars", arrays.scalars),
    Pass("empty-functions", expressions.empty_functions),
    Pass("threads", threads.threads, refactors=True),
    Pass("inherited", inherited.inherited, refactors=True),
    Pass("class-bodies", classes.class_bodies, refactors=True),
    Pass("blocks", statements.blocks, refactors=True),
    Pass("splice", functions.splice, refactors=True),
    Pass("generators", generators.generators, refactors=True),
    Pass("dissolved", dissolve.dissolved, refactors=True),
    Pass("members", members.members, refactors=True),
    Pass("records", classes.records, refactors=True),
    Pass("inline", variables.inline, ALL, refactors=True),
    Pass("inline-calls", functions.inline_calls, refactors=True),
    Pass("lambdas", functions.lambdas, refactors=True),
    Pass("decorated", functions.decorated, refactors=True),
    Pass("eta", functions.eta, refactors=True),
    Pass("partials", partials.partials, refactors=True),
    Pass("called-decorators", partials.called_decorators, refactors=True),
    Pass("starred", starred.starred, refactors=True),
    Pass("projections", containers.projections, refactors=True),
    Pass("unwrap", transforms.unwrap),
    Pass("without-rules", rules.without_rules),
    Pass("arguments", transforms.arguments),
    Pass("parameters-apart", apart.parameters_apart),
    Pass("parameters-with-rules", apart.parameters_with_rules),
    Pass("positional", fixed.positional, refactors=True),
    Pass("collected", starred.collected),
    Pass("outward", outward.outward),
    Pass("loops", loops.loops),
    Pass("without-aux", transforms.without_aux),
    Pass("unmap", transforms.unmap),
    Pass("plainer", transforms.plainer),
    Pass("shorter-calls", calls.shorter_calls),
    Pass("shorter-names", calls.shorter_names, refactors=True),
    Pass("meshes", meshes.meshes),
    Pass("varying", meshes.varying),
    Pass("carries", carries.carries),
    Pass("operands", carries.operands),
    Pass("tuples", containers.tuples, refactors=True),
    Pass("one-for-all", containers.one_for_all),
    Pass("keys", containers.keys, refactors=True),
    Pass("unpacked", containers.unpacked, refactors=True),
    Pass("appended", containers.appended, refactors=True),
    Pass("unkeyed", containers.unkeyed, refactors=True),
    Pass("instances", classes.instances, refactors=True),
    Pass("aliases", variables.aliases, ALL, refactors=True),
    Pass("collapsed", numbers.collapsed),
    Pass("axes", arrays.axes),
    Pass("truncated", statements.truncated),
    Pass("checks", checks.checks),
    Pass("constants", expressions.constants),
    Pass("hoist", expressions.hoist),
    Pass("parameters", functions.parameters),
    Pass("fixed", fixed.fixed),
    Pass("elements", expressions.elements),
    Pass("keywords", calls.keywords),
    Pass("targets", statements.targets),
    Pass("hoist-deep", expressions.hoist_deep),
    Pass("sums", expressions.sums),
    Pass("passed-on", calls.passed_on),
    Pass("plain-functions", calls.plain_functions),
    Pass("methods", classes.methods, refactors=True),
    Pass("merged", variables.merged),
    Pass("ones", arrays.ones),
    Pass("sized", arrays.sized),
    Pass("other-numbers", arrays.other_numbers),
    Pass("one-library", arrays.one_library),
    Pass("unnumbered", names.unnumbered, refactors=True),
    Pass("dimensions", numbers.dimensions),
    Pass("numbers", numbers.numbers),
    Pass("strings", numbers.strings, ALL),
)
