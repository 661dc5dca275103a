"""Statements as a person writes them: a value that the next statement alone reads stands in it."""

import ast
import copy

_LONGEST = 88
_SIMPLE = (ast.Assign, ast.Return, ast.Expr)


def tidied(body):
    """The statements, with values moved to where they are read."""
    body = list(body)
    i = len(body) - 2
    while i >= 0:
        if i + 1 < len(body):
            merged = _merged(body[i], body[i + 1], body[i + 2 :])
            if merged is not None:
                body[i : i + 2] = [merged]
        i -= 1
    return body


def _merged(first, second, rest):
    """Both statements as one, None where that is not possible or would be too long."""
    if not isinstance(first, ast.Assign) or not isinstance(second, _SIMPLE):
        return None
    target = first.targets[0]
    if not isinstance(target, ast.Name):
        return None
    reads = [node for node in ast.walk(second) if isinstance(node, ast.Name) and node.id == target.id]
    if len(reads) != 1 or _is_deferred(second, reads[0]):
        return None
    if any(isinstance(node, ast.Name) and node.id == target.id for each in rest for node in ast.walk(each)):
        return None
    merged = _Replace(target.id, first.value).visit(copy.deepcopy(second))
    text = ast.unparse(ast.fix_missing_locations(merged))
    return merged if len(text) <= _LONGEST else None


def _is_deferred(statement, read):
    return any(
        isinstance(node, ast.Lambda) and any(inner is read for inner in ast.walk(node)) for node in ast.walk(statement)
    )


class _Replace(ast.NodeTransformer):
    def __init__(self, name, value):
        self.name, self.value = name, value

    def visit_Name(self, node):
        return self.value if node.id == self.name and isinstance(node.ctx, ast.Load) else node
