"""What a program did where it failed: the operation that raised, told from the place that the traceback gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.outcome import Frame

_OPERATIONS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.AugAssign: ("binary",),
    ast.BinOp: ("binary",),
    ast.FormattedValue: ("format",),
    ast.JoinedStr: ("format",),
    ast.For: ("iteration",),
    ast.AsyncFor: ("iteration",),
    ast.ListComp: ("iteration", "truth"),
    ast.SetComp: ("iteration", "truth"),
    ast.DictComp: ("iteration", "truth"),
    ast.GeneratorExp: ("iteration", "truth"),
    ast.If: ("truth",),
    ast.While: ("truth",),
    ast.IfExp: ("truth",),
    ast.BoolOp: ("truth",),
    ast.Import: ("import",),
    ast.ImportFrom: ("import",),
}
"""How operations are called; others by the name of their node in lower case.

Which node an operation is reported for differs from one Python to another: the test of an `if` or the `if`.
"""


def operations(tree: ast.Module, frame: Frame, type_: str) -> Iterator[str]:
    """Names for the operation that raised at a frame's position."""
    above = trees.parents(tree)
    place = (frame.line, frame.column, frame.end_line, frame.end_column)
    for node, parent in above.items():
        span = [getattr(node, name, -1) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")]
        if tuple(span) != place or isinstance(node, ast.Expr):
            continue
        assertion = node if isinstance(node, ast.Assert) else parent
        if type_ == "AssertionError" and isinstance(assertion, ast.Assert):
            yield "assert" if is_constant(assertion.test) else "assert of a value"
        elif isinstance(node, ast.Raise):
            yield "raise under a condition" if _is_conditional(node, above) else "raise"
        else:
            yield from _OPERATIONS.get(type(node), [type(node).__name__.lower()])
            yield from _roles(node, parent)


def _roles(node: ast.AST, parent: ast.AST) -> Iterator[str]:
    """What is done with a value where it stands: for that, too, some Pythons report the value's expression."""
    match parent:
        case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value) if value is node:
            yield "iteration"
        case ast.withitem(context_expr=value) if value is node:
            yield "with"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) if test is node:
            yield "truth"
        case ast.comprehension(ifs=conditions) if node in conditions:
            yield "truth"
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            yield "truth"
        case ast.FunctionDef(decorator_list=decorators) if node in decorators:
            yield "call"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "truth"
    if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
        yield "unpack"


def _is_conditional(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    """Does something decide at run time, in the function at hand, whether the statement is reached?"""
    while (parent := above.get(node)) is not None:
        match parent:
            case ast.If(test=test) | ast.While(test=test) if not is_constant(test):
                return True
            case ast.ExceptHandler() | ast.match_case() | ast.For() | ast.AsyncFor():
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return False
        node = parent
    return False


def is_constant(node: ast.expr) -> bool:
    """Can a reader tell the value at sight: does nothing in it stand for something else?"""
    return not any(isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in ast.walk(node))
