"""Final names: while statements are written, every name is one of its own kind (`wanted§number`).

Once it is known which of them are left, each gets the name that is wanted, or a letter, if that is free where it
stands.
"""

import ast

from . import names


def named(module, reserved):
    """Give all names in a module their final form."""
    found = {}
    _scope(module, module.body, set(reserved), found)
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            node.id = found.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = found.get(node.arg, node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.name = found.get(node.name, node.name)
    return module


def _scope(owner, body, reserved, found):
    """Name what is bound in a function or the module, then in the functions inside."""
    bound, inner, used = [], [], set()
    if owner.__class__ in (ast.FunctionDef, ast.Lambda):
        arguments = owner.args
        every = (*arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg)
        bound += [one.arg for one in every if one is not None]
    pending = list(reversed(body))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.append(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.append(node.id)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            inner.append(node)
        else:
            pending += reversed(list(ast.iter_child_nodes(node)))
    bound = list(dict.fromkeys(name for name in bound if names.SIGN in name))
    for node in (found_node for statement in body for found_node in ast.walk(statement)):
        if isinstance(node, ast.Name):
            used.add(found.get(node.id, node.id))
    taken = reserved | {name for name in used if names.SIGN not in name}
    for name in bound:
        found[name] = names.free(name.partition(names.SIGN)[0], taken)
        taken.add(found[name])
    for node in inner:
        _scope(node, node.body if isinstance(node.body, list) else [node.body], reserved, found)
