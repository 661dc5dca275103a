"""What a reduction slips to: programs that fail, or say the words of a failure, by themselves, or by chance.

`assert False` is a splendid reduction of any failed assertion.
"""

from __future__ import annotations

import ast
import collections
import functools
from collections.abc import Mapping
from typing import TypeGuard

from jaxshrink.chance import sources
from jaxshrink.operations import is_constant

_SUSPICIOUS = frozenset({
    "exit", "_exit", "quit", "abort", "kill", "raise_signal", "throw", "nan",
    "broadcast_shapes", "result_type", "promote_types", "promote_shapes",
})  # fmt: skip
"""What fails, or says the words of a failure, by itself."""


def slips(original: str, candidate: str) -> str | None:
    """Why a candidate cannot count, whatever its failure: it has more of what fails by itself than the input."""
    old, new = _suspicious(original), _suspicious(candidate)
    return next((what for what, count in new.items() if count > old[what]), None)


@functools.lru_cache(maxsize=64)  # more than are asked about at once
def _suspicious(text: str) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    found["chance"] = len(sources(tree))  # what fails each time is not to fail now and then
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        match node:
            case ast.Raise() | ast.Assert():
                found[type(node).__name__.lower()] += 1
            case ast.While(test=test) if is_constant(test):
                found["while True"] += 1
            case ast.Call() if _is_endless(node, functions):
                found["endless while_loop"] += 1
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in _SUSPICIOUS:
                found[name] += 1
            case ast.Constant(value=str(word)) if word.lower().strip("+-") in ("nan", *_SUSPICIOUS):
                found[word] += 1
    return found


def _is_endless(call: ast.Call, functions: Mapping[str, ast.FunctionDef]) -> bool:
    """Is it a `while_loop` whose condition does not look at the state and is not plainly false?"""
    if not ast.unparse(call.func).endswith("while_loop"):
        return False
    named = [keyword.value for keyword in call.keywords if keyword.arg == "cond_fun"]
    condition: ast.AST | None = next(iter([*call.args[:1], *named]), None)
    if isinstance(condition, ast.Name):
        condition = functions.get(condition.id)
    if not isinstance(condition, ast.Lambda | ast.FunctionDef):
        return False
    returned = [node.value for node in ast.walk(condition) if isinstance(node, ast.Return) and node.value]
    results = [condition.body] if isinstance(condition, ast.Lambda) else returned
    local = {node.arg if isinstance(node, ast.arg) else node.id for node in ast.walk(condition) if _binds(node)}
    looks = any(isinstance(part, ast.Name) and part.id in local for result in results for part in ast.walk(result))
    return not looks and not all(map(_is_false, results))


def _binds(node: ast.AST) -> TypeGuard[ast.arg | ast.Name]:
    return isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _is_false(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not value
        case ast.Compare(ast.Constant(value=a), [ast.Lt() | ast.Gt() | ast.NotEq()], [ast.Constant(value=b)]):
            return bool(a == b)
    return False
