"""Final names: while statements are written, every name is one of its own: the wanted, `names.SIGN`, a number.

Once it is known which of them are left, each gets the name that is wanted, or a letter, if that is free where it
stands.
"""

import ast

from . import names

_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


def named(module, reserved=()):
    """Give all names in a module their final form."""
    found, inside = {}, {}
    _names(module, inside)
    _scope(module, module.body, set(reserved), found, inside)
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            node.id = found.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = found.get(node.arg, node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.name = found.get(node.name, node.name)
    return module


def _names(owner, inside):
    """All names in a function or the module; `inside` gets those of the functions in it too, as one is in many."""
    names_in = inside[owner] = set()
    pending = list(ast.iter_child_nodes(owner))
    while pending:
        node = pending.pop()
        if isinstance(node, _FUNCTIONS):
            names_in |= _names(node, inside)
        else:
            if isinstance(node, ast.Name):
                names_in.add(node.id)
            pending += ast.iter_child_nodes(node)
    return names_in


def _scope(owner, body, reserved, found, inside):
    """Name what is bound in a function or the module, then in the functions inside."""
    bound, inner = [], []
    if isinstance(owner, _FUNCTIONS):
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
        if isinstance(node, _FUNCTIONS):
            inner.append(node)
        else:
            pending += reversed(list(ast.iter_child_nodes(node)))
    bound = list(dict.fromkeys(name for name in bound if names.SIGN in name))
    used = (found.get(name, name) for name in inside[owner])
    taken = reserved | {name for name in used if names.SIGN not in name}
    letters = names.letters()
    for name in bound:
        wanted = name.partition(names.SIGN)[0]
        found[name] = names.free(wanted, taken) if wanted else next(one for one in letters if one not in taken)
        taken.add(found[name])
    for node in inner:
        _scope(node, node.body if isinstance(node.body, list) else [node.body], reserved, found, inside)
