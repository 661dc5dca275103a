"""Calls that the message names.

Where a failure comes after a call has returned (in the backward pass, when a compiled function runs), no frame of
the failing stack is inside the call, but JAX's message often names the primitive.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.observation import Observation, Ref, Span, UserFrame
from jaxshrink.view import View

MOST = 12
"""Calls that are worth a look."""


def mentioned(view: View, observation: Observation) -> Iterator[UserFrame]:
    """Executed calls of library functions whose names are in the message, as frames that never were.

    Their variables have the values that were observed where they were read.
    """
    words = set(re.findall(r"\w+", observation.outcome.message or ""))
    found = 0
    for call in view.all(ast.Call):
        span = _span(call)
        named = trees.last_name(call.func) in words
        if named and span in observation.values and _is_library(view, call.func) and found < MOST:
            found += 1
            values: dict[str, Ref] = {}
            _collect(view, observation, call, values, set())
            yield UserFrame(len(observation.outcome.frames), "", "__main__", span, values)


def _is_library(view: View, function: ast.expr) -> bool:
    while isinstance(function, ast.Attribute):
        function = function.value
    binding = view.binding(function)
    return binding is not None and isinstance(binding.definitions[0], ast.alias)


def _collect(view: View, observation: Observation, node: ast.AST, values: dict[str, Ref], seen: set[ast.AST]) -> None:
    """The values of the local variables that a node reads, and that local functions read which it names."""
    seen.add(node)
    for name in ast.walk(node):
        binding = view.binding(name) if isinstance(name, ast.Name) else None
        if binding is None or binding.scope is view.scopes.module or view.inside(binding.scope.node, node):
            continue
        definition = binding.definitions[0]
        if isinstance(definition, ast.FunctionDef):
            if definition not in seen:
                _collect(view, observation, definition, values, seen)
            continue
        known = (observation.values.get(_span(use)) for use in binding.uses)
        value = next((each for each in known if each is not None), None)
        if value is not None:
            values.setdefault(binding.name, value)


def _span(node: ast.AST) -> Span:
    return Span(*getattr(node, "origin", ("", -1, -1, -1, -1)))
