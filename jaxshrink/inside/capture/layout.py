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
    counts = collections.Counter(read.node.id for statement in body for read in _reads(statement))
    merged = []  # the last first
    for first in reversed(body):
        second = merged[-1] if merged else None
        is_near = second is not None and first.within == second.within
        if is_near and _is_joined(first, second, counts, in_order):
            continue
        merged.append(first)
    return merged[::-1]


class _Read:
    """A name that is read, and where it stands: the field of its parent, and the index there if it is a list."""

    __slots__ = ("field", "index", "is_deferred", "node", "parent")

    def __init__(self, node, parent, field, index, is_deferred):
        self.node, self.parent, self.field, self.index, self.is_deferred = node, parent, field, index, is_deferred

    def replace(self, value):
        if self.index is None:
            setattr(self.parent, self.field, value)
        else:
            getattr(self.parent, self.field)[self.index] = value


def _reads(statement):
    """All names that a statement reads; they are looked for once."""
    if getattr(statement, "reads", None) is None:
        statement.reads = list(_found(statement, False))
    return statement.reads


def _found(parent, is_deferred):
    whole, pending = parent, [(parent, is_deferred)]
    while pending:
        parent, is_deferred = pending.pop()
        if isinstance(parent, ast.FunctionDef) and parent is not whole:
            yield from _reads(parent)  # looked for once, however deep it is in others
            continue
        is_deferred = is_deferred or isinstance(parent, ast.Lambda)
        for field in parent._fields:
            value = getattr(parent, field, None)
            for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(node, ast.Name):
                    if isinstance(node.ctx, ast.Load):
                        yield _Read(node, parent, field, index, is_deferred)
                elif isinstance(node, ast.AST) and node._fields:
                    pending.append((node, is_deferred))


def _is_joined(first, second, counts, in_order):
    """Put the value of the first statement into the second, unless that is not possible or would be too long."""
    if not isinstance(first, ast.Assign) or not isinstance(second, _SIMPLE):
        return False
    target = first.targets[0]
    if not isinstance(target, ast.Name) or counts[target.id] != 1:
        return False
    read = next((read for read in _reads(second) if read.node.id == target.id), None)
    if read is None or read.is_deferred:
        return False
    if in_order and (_is_named_result(target, second) or not _comes_first(second, read.node)):
        return False
    length = _length(first) + _length(second) - 2 * len(names.plain(target.id)) - len(" = ")
    if length > _LONGEST:
        return False
    read.replace(first.value)
    second.length = length
    second.reads = [one for one in second.reads if one is not read] + [
        _Read(one.node, read.parent, read.field, read.index, read.is_deferred) if one.parent is first else one
        for one in _reads(first)
    ]
    return True


def _length(statement):
    """Characters of a statement as it will be, about."""
    if getattr(statement, "length", None) is None:
        statement.lineno = 0  # it is asked for
        statement.length = len(names.plain(ast.unparse(statement)))
    return statement.length


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
            found.append(ast.With([item], [], lineno=0))
            found[-1].context = context
        found[-1].body.append(statement)
    for block in found:
        if getattr(block, "context", None) is not None:
            block.body = _blocks(block.body, depth + 1)
    return found
