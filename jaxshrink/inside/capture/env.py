"""Where statements are written, and the names that are known there."""

import ast

from . import names
from .calls import Call, Node, Ref, leaves
from .constants import expression, is_float


class Env:
    """The module, or the body of a function (of one trace, `scope`). `within`: the contexts that are open."""

    def __init__(self, scope=None, parent=None):
        self.scope, self.parent = scope, parent
        self.body, self.known, self.functions, self.texts = [], {}, {}, {}
        self.params, self.within = {}, ()
        self.is_closure = False

    @property
    def root(self):
        return self if self.parent is None else self.parent.root

    def add(self, statement):
        statement.within = self.within
        self.body.append(statement)

    def forget(self, name):
        """A function of this name is no longer what it was: the next that wants it is to define its own."""
        for known in (self.functions, self.texts):
            for key in [key for key, value in known.items() if value == name]:
                del known[key]

    def find(self, get):
        """What `get` finds in this environment or one around it; those on the way are closures then."""
        env, passed = self, []
        while env is not None:
            found = get(env)
            if found is not None:
                if env.parent is not None:
                    for each in passed:
                        each.is_closure = True
                return found
            passed.append(env)
            env = env.parent
        return None


def reached(ref, env):
    """The expression of a Ref by the names known here, None where it is out of reach."""
    source, path = ref.source, ref.path
    if source is None:
        return None
    if isinstance(source, Call):
        known = env.find(lambda env: env.known.get(source))
        if isinstance(known, list):
            known, path = known[path[0]], path[1:]
    else:
        known = env.find(lambda env: env.params.get(path[0]) if env.scope is source else None)
        path = path[1:]
    if known is None:
        return None
    value = ast.Name(known, ast.Load())
    for key in path:
        value = ast.Subscript(value, ast.Constant(key), ast.Load())
    return value


def whole_of(node):
    """The Ref of a container that stands in one piece in what a call gave or a function got, or None."""
    if not node.items or node.kind is slice:
        return None
    parts = [whole_of(item) if isinstance(item, Node) else item for item in node.items]
    first = parts[0]
    if not isinstance(first, Ref) or not first.path:
        return None
    source, path = first.source, first.path[:-1]
    there = _at(source, path)
    if not isinstance(there, Node) or there.kind is not node.kind or list(there.keys) != list(node.keys):
        return None
    for part, key in zip(parts, node.keys):
        if not isinstance(part, Ref) or part.source is not source or part.path != (*path, key):
            return None
    if not path and (not isinstance(source, Call) or source.result.kind in (tuple, list)):
        return None  # its parts have names
    return Ref(source, path)


def _at(source, path):
    """What stands at a path of what a call gave or a function got."""
    if isinstance(source, Call):
        tree = source.result
    else:
        if not path:
            return None
        tree = next((tree for name, _, tree in source.params if name == path[0]), None)
        path = path[1:]
    for key in path:
        if not isinstance(tree, Node) or key not in tree.keys:
            return None
        tree = tree.items[tree.keys.index(key)]
    return tree


def has_refs(tree):
    """Whether there is anything in a tree that a name can stand for."""
    return next(leaves(tree), None) is not None


def placeholder(wanted, number):
    """A name for now: see `naming`."""
    return f"{wanted or ''}{names.SIGN}{number}"


def differentiable(env):
    """The first float that the innermost function is given which is given any: its expression and type."""
    while env is not None and env.scope is not None:
        for _, _, tree in env.scope.params:
            leaf = next((leaf for leaf in leaves(tree) if is_float(leaf.like)), None)
            if leaf is not None:
                return reached(leaf, env), leaf.like
        env = env.parent
    return None


def linked(array, like, given, given_like):
    """An array that depends on another, and has its own shape; not the other itself, as JAX may see that it is."""
    if tuple(like.shape) == tuple(given_like.shape):
        return ast.BinOp(ast.Constant(2), ast.Mult(), given)
    total = ast.Call(expression("jnp.sum"), [given], []) if given_like.shape else given
    return ast.BinOp(array, ast.Mult(), total) if like.shape else total
