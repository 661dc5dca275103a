"""Statements as a person writes them: a value that the next statement alone reads stands in it; contexts in blocks."""

import ast
import collections

from . import names

_LONGEST = 88
_SIMPLE = (ast.Assign, ast.Return, ast.Expr)
_WORK = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)


def tidied(body, in_order=False):
    """The statements, with values moved to where they are read, and in the blocks of their contexts.

    `in_order`: only where everything is computed in the same order then.
    """
    return _blocks(_merged(list(body), in_order), 0)


def _merged(body, in_order):
    counts = collections.Counter(name for statement in body for name in _reads(statement))
    merged = []  # the last first
    for first in reversed(body):
        second = merged[-1] if merged else None
        is_near = second is not None and first.within == second.within
        one = _joined(first, second, counts, in_order) if is_near else None
        if one is not None:
            merged[-1] = one
        else:
            merged.append(first)
    return merged[::-1]


def _reads(statement):
    return (node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _joined(first, second, counts, in_order):
    """Both statements as one, None where that is not possible or would be too long."""
    if not isinstance(first, ast.Assign) or not isinstance(second, _SIMPLE):
        return None
    target = first.targets[0]
    if not isinstance(target, ast.Name) or counts[target.id] != 1:
        return None
    reads = [node for node in ast.walk(second) if isinstance(node, ast.Name) and node.id == target.id]
    if len(reads) != 1 or _is_deferred(second, reads[0]):
        return None
    if in_order and (_is_named_result(target, second) or not _comes_first(second, reads[0])):
        return None
    if _length(first) + _length(second) - 2 * len(names.plain(target.id)) - len(" = ") > _LONGEST:
        return None
    _Replace(target.id, first.value).visit(second)
    second.length = None
    return second


def _length(statement):
    """Characters of a statement as it will be, about."""
    if getattr(statement, "length", None) is None:
        statement.lineno = 0  # it is asked for
        statement.length = len(names.plain(ast.unparse(statement)))
    return statement.length


def _is_deferred(statement, read):
    return any(
        isinstance(node, ast.Lambda) and any(inner is read for inner in ast.walk(node)) for node in ast.walk(statement)
    )


def _is_named_result(target, statement):
    """Whether a value is one of several results, and somebody has named it."""
    is_one_of_several = isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple)
    return is_one_of_several and bool(target.id.partition(names.SIGN)[0])


def _comes_first(statement, read):
    """Whether nothing is computed in a statement before it reads a name."""
    pending = [(part, False) for part in reversed([statement.value, *getattr(statement, "targets", ())])]
    while pending:
        node, is_done = pending.pop()
        if node is read:
            return True
        if not is_done:
            pending.append((node, True))
            pending += [(child, False) for child in reversed(list(ast.iter_child_nodes(node)))]
        elif isinstance(node, _WORK) or _is_of_value(node):
            return False
    return False


def _is_of_value(node):
    """Whether a node is an attribute of a value, not a function of a module."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and names.SIGN in node.value.id


def _blocks(body, depth):
    """The statements, those in a context below `with`."""
    found = []
    for statement in body:
        if len(statement.within) == depth:
            found.append(statement)
            continue
        context = statement.within[depth]
        if not found or getattr(found[-1], "context", None) is not context:
            item = ast.withitem(context.written, None)
            found.append(ast.With([item], []))
            found[-1].context = context
        found[-1].body.append(statement)
    for block in found:
        if getattr(block, "context", None) is not None:
            block.body = _blocks(block.body, depth + 1)
    return found


class _Replace(ast.NodeTransformer):
    def __init__(self, name, value):
        self.name, self.value = name, value

    def visit_Name(self, node):
        return self.value if node.id == self.name and isinstance(node.ctx, ast.Load) else node
