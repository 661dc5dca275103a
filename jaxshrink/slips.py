"""What a reduction slips to: programs that fail, or say the words of a failure, by themselves.

`assert False` is a splendid reduction of any failed assertion.
"""

from __future__ import annotations

import ast
import collections
import functools

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


@functools.lru_cache(maxsize=16)
def _suspicious(text: str) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Raise() | ast.Assert():
                found[type(node).__name__.lower()] += 1
            case ast.While(test=test) if is_constant(test):
                found["while True"] += 1
            case ast.Call() if _is_endless(node):
                found["endless while_loop"] += 1
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in _SUSPICIOUS:
                found[name] += 1
            case ast.Constant(value=str(word)) if word.lower().strip("+-") in ("nan", *_SUSPICIOUS):
                found[word] += 1
    return found


def _is_endless(call: ast.Call) -> bool:
    """Is it a `while_loop` whose condition does not look at the state and is not plainly false?"""
    if not call.args or not isinstance(condition := call.args[0], ast.Lambda):
        return False
    state = {arg.arg for arg in condition.args.args}
    looks = any(isinstance(part, ast.Name) and part.id in state for part in ast.walk(condition.body))
    return ast.unparse(call.func).endswith("while_loop") and not looks and not _is_false(condition.body)


def _is_false(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not value
        case ast.Compare(ast.Constant(value=a), [ast.Lt() | ast.Gt() | ast.NotEq()], [ast.Constant(value=b)]):
            return bool(a == b)
    return False
