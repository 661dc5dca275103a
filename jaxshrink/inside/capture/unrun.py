"""Rules of the program that never ran: they are traced, with the shapes of a call, for a program of everything."""

import sys

from .calls import INSIDE, Constant, Function, Node, Ref, Rules, like
from .guard import in_a_line
from .values import PLAIN


def traced(session, calls):
    """Trace the rules that never ran of functions that are called in or below these calls; what could not be traced."""
    notes, seen = [], set()
    for call in _below(calls):
        rules = call.func
        if isinstance(rules, Rules) and rules not in seen and call.error is None and _has_unrun(rules):
            seen.add(rules)
            notes += _traced(session, call)
    return tuple(notes)


def _below(calls):
    pending = list(calls)
    while pending:
        call = pending.pop()
        yield call
        pending += (inner for scope in call.scopes for inner in scope.calls)


def _has_unrun(rules):
    return any(isinstance(one, Function) and not one.scopes for _, args, _ in rules.definitions for one in args)


def _traced(session, call):
    """Have JAX call the rules; a note where it cannot."""
    name = getattr(call.func.fun, "name", "f")
    known = len(call.scopes)
    was_on, session.is_on = session.is_on, True
    try:
        _derivative(session, call)
    except Exception as error:  # of the program's code, or for what it may not be given
        del call.scopes[known:]
        return [f"the rules of {name}, which never ran: {in_a_line(error)}"]
    finally:
        session.is_on = was_on
    return [f"the rules of {name} for vmap, which never ran"] if _has_unrun(call.func) else []


def _derivative(session, call):
    import jax

    function = call.func.itself()
    if function is None:
        raise LookupError("it is no more")
    shapes = []
    trees = [*call.args, *call.kwargs.values()]
    for tree in trees:
        _rebuilt(tree, shapes.append)

    def derivative(*leaves):
        leaves = iter(leaves)
        values = [_rebuilt(tree, lambda _: next(leaves)) for tree in trees]
        count = len(call.args)
        named = dict(zip(call.kwargs, values[count:]))
        diff = [i for i, value in enumerate(values[:count]) if _has_arrays(value)]

        def of_arrays(*arrays):
            given = list(values[:count])
            for i, array in zip(diff, arrays):
                given[i] = array
            return function(*given, **named)

        result, back = jax.vjp(of_arrays, *(values[i] for i in diff))
        return back(jax.tree_util.tree_map(_cotangent, result))

    before, session.thread.scope = session.thread.scope, INSIDE
    session.thread.owners.append((call.home, call))
    try:
        jax.eval_shape(derivative, *shapes)
    finally:
        session.thread.owners.pop()
        session.thread.scope = before


def _rebuilt(tree, leaf):
    """The value that a tree stands for, with what `leaf` makes of the shape and type of each array."""
    if isinstance(tree, Node):
        items = [_rebuilt(item, leaf) for item in tree.items]
        return dict(zip(tree.keys, items)) if tree.kind is dict else tree.kind(items)
    if isinstance(tree, Constant) and type(tree.value) in PLAIN:
        return tree.value
    of = tree.like if isinstance(tree, Ref) else like(tree.value) if isinstance(tree, Constant) else None
    if of is None:
        raise LookupError("an argument is not known")
    return leaf(sys.modules["jax"].ShapeDtypeStruct(of.shape, of.dtype))


def _has_arrays(value):
    return any(hasattr(leaf, "dtype") for leaf in sys.modules["jax"].tree_util.tree_leaves(value))


def _cotangent(array):
    import jax
    import numpy as np

    if jax.dtypes.issubdtype(array.dtype, np.inexact):
        return jax.numpy.ones_like(array)
    return np.zeros(array.shape, jax.dtypes.float0)
