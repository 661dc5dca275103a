"""Fewer statements: deleted with what depends on them, blocks in place of what surrounds them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.closed import closed_deletion, with_holes
from jaxshrink.scopes import FUNCTION
from jaxshrink.settle import is_read
from jaxshrink.tree import DELETE, Edit
from jaxshrink.view import View

LONG = 32
"""Statements of a block that is cut as a whole first."""

_DEFINES = (ast.Import, ast.ImportFrom, ast.ClassDef, *FUNCTION)

def statements(view: View) -> Iterator[Edit]:
    """Delete a statement, with the statements that read what it binds."""
    for statement in trees.walk_statements(view.tree):
        if _loads(view, statement):
            continue
        if not isinstance(statement, ast.Pass) or len(view.block(statement)) > 1:
            yield closed_deletion(view, statement)


def _loads(view: View, statement: ast.stmt) -> bool:
    """Does an import load a module that is read by its whole name? In a warm run it may be there anyway."""
    names = statement.names if isinstance(statement, ast.Import) else ()
    return any("." in each.name and each.asname is None and is_read(view.tree, each.name) for each in names)


def definitions(view: View) -> Iterator[Edit]:
    """Delete a statement and put values where what it binds is read."""
    for statement in trees.walk_statements(view.tree):
        yield from with_holes(view, statement)


def beginnings(view: View) -> Iterator[Edit]:
    """Delete all but the last statements of a long block at once, and put values where those read what the rest binds.

    In a chain of statements each needs the one before: one by one, that takes as many runs as there are statements.
    """
    for first in trees.walk_statements(view.tree):
        block = view.block(first)
        if block[0] is not first or len(block) < LONG:
            continue
        chain = [each for each in block if not isinstance(each, _DEFINES)]
        last = 1
        while last <= len(chain) // 2:
            yield from with_holes(view, *chain[:-last])
            last *= 2


def blocks(view: View) -> Iterator[Edit]:
    """Put the body (or one branch) of a compound statement in its place."""
    for statement in trees.walk_statements(view.tree):
        for i, edit in enumerate(_blocks(view, statement)):
            yield dataclasses.replace(edit, about=("block", i, trees.identity(statement)))


def _blocks(view: View, statement: ast.stmt) -> Iterator[Edit]:
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            for block in (body, orelse, [ast.Expr(test)]):
                yield Edit.replace(statement, tuple(block))
        case ast.For(iter=source, body=body) | ast.AsyncFor(iter=source, body=body):
            for block in (body, [ast.Expr(source)]):
                yield _unlooped(view, statement, tuple(block))
        case ast.While(test=test, body=body):
            for block in (body, [ast.Expr(test)]):
                yield _unlooped(view, statement, tuple(block))
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            yield Edit.replace(statement, tuple(body))
            entered = [ast.Assign([item.optional_vars], item.context_expr) for item in items if item.optional_vars]
            if entered:
                yield Edit.replace(statement, (*entered, *body))
        case ast.Try(body=body, handlers=handlers, finalbody=final):
            for block in (body, final, *(handler.body for handler in handlers)):
                yield Edit.replace(statement, tuple(block))
        case ast.Match(cases=cases):
            for case in cases:
                yield Edit.replace(statement, tuple(case.body))


def truncated(view: View) -> Iterator[Edit]:
    """Return early: what a function computes first is its result, and the rest goes."""
    for statement in trees.walk_statements(view.tree):
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr) and view.function(statement) is not None:
            block = view.block(statement)
            rest = block[block.index(statement) + 1 :]
            if rest:
                gone: dict[ast.AST, trees.Replacement] = dict.fromkeys(rest, DELETE)
                about = ("truncate", trees.identity(statement))
                yield Edit({statement: ast.Return(statement.value), **gone}, sum(map(trees.extent, rest)), about)


def targets(view: View) -> Iterator[Edit]:
    """Drop what an assignment binds and nothing reads, annotations, and the words `return` and `=`."""
    for statement in trees.walk_statements(view.tree):
        match statement:
            case ast.Assign(targets=names, value=value):
                for target in names:
                    yield Edit.delete(target)
                    yield from _unpacked(target, value)
            case ast.AugAssign(target=target, value=value):
                yield Edit.replace(statement, ast.Expr(value))
                yield Edit.replace(statement, ast.Assign([target], value))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield Edit.replace(statement, ast.Assign([target], value))
                yield Edit.replace(statement, ast.Expr(value))
            case ast.Return(value=value) if value is not None:
                yield Edit.delete(value)
                yield Edit.replace(statement, ast.Expr(value))


def without_annotations(view: View) -> Iterator[Edit]:
    """Drop annotations, docstrings and type parameters."""
    for node in view.nodes:
        match node:
            case ast.arg(annotation=ast.expr() as annotation):
                yield Edit.delete(annotation)
            case ast.FunctionDef(returns=ast.expr() as returns) | ast.AsyncFunctionDef(returns=ast.expr() as returns):
                yield Edit.delete(returns)
            case ast.Expr(value=ast.Constant()):
                yield Edit.delete(node)
            case ast.AsyncFunctionDef():
                plain = ast.FunctionDef(node.name, node.args, node.body, node.decorator_list, None, None)
                yield Edit({node: plain})


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[Edit]:
    if not isinstance(target, ast.Tuple | ast.List):
        return
    same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
    for i, element in enumerate(target.elts):
        if same and isinstance(value, ast.Tuple | ast.List):
            yield Edit.delete(element, value.elts[i])
        else:
            yield Edit.delete(element)
        yield Edit.replace(target, element)


def _unlooped(view: View, loop: ast.stmt, block: tuple[ast.stmt, ...]) -> Edit:
    """The block once, without the loop's own `break` and `continue`, its variables as they were observed."""
    changes: dict[ast.AST, trees.Replacement] = {loop: block}
    for statement in block:
        for node in _own_jumps(statement):
            changes[node] = DELETE
    if isinstance(loop, ast.For | ast.AsyncFor):
        for target in ast.walk(loop.target):
            binding = view.binding(target)
            if binding is not None and len(binding.definitions) == 1:
                changes.update((use, hole) for use in binding.uses if (hole := view.rendered(use)) is not None)
    return Edit(changes, trees.extent(loop) - sum(map(trees.extent, block)))


def _own_jumps(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Break | ast.Continue):
        yield node
    elif not isinstance(node, (ast.For, ast.AsyncFor, ast.While, *FUNCTION)):
        for child in ast.iter_child_nodes(node):
            yield from _own_jumps(child)
