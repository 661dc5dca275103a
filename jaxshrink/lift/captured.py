"""Candidates that hold only calls of JAX: what another run of the whole program has shown of those that failed."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Sequence

from jaxshrink.bundle import parse_with_origin
from jaxshrink.inputs import Inputs
from jaxshrink.oracle import Oracle, Runner
from jaxshrink.outcome import Tier
from jaxshrink.scratch import Scratch

LIMIT = 60.0
"""Seconds of CPU time for the run: it is known to end, but to record it and to write programs takes longer."""

_PLAIN = frozenset({"jax", "jaxlib", "numpy"}) | sys.stdlib_module_names


def captured(
    program: Inputs, arguments: Sequence[str], oracle: Oracle, tier: Tier, passed_over: Sequence[tuple[str, int]] = ()
) -> list[ast.Module]:
    """The programs of JAX calls that may fail as the whole program does; none where it cannot run.

    `tier` is abstract or warm. Statements that are `passed_over` (file, line) are left out of the run.
    """
    if not isinstance(oracle, Runner):
        return []
    entry = program.entry
    with Scratch() as scratch:
        out = scratch / "captured.json"
        spec = {"entry": str(entry.path), "argv": list(arguments), "out": str(out), "passed_over": list(passed_over)}
        oracle.watch(entry.text, {**spec, "capture": True}, tier, LIMIT).exception()
        if not out.exists():
            return []
        texts = json.loads(out.read_text(encoding="utf-8"))["programs"]
    return [parse_with_origin(text, "") for text in texts]


def needs_frameworks(tree: ast.Module) -> bool:
    """Whether a program imports what comes with neither Python nor JAX."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names.update(alias.name for alias in aliases)
            case ast.ImportFrom(module=str(module), level=0):
                names.add(module)
    return any(name.partition(".")[0] not in _PLAIN for name in names)
