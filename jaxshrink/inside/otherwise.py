"""Other ways to compute what a program computes: what JAX offers it is replaced before it runs.

Where the numbers are right then, the thing replaced is what makes them wrong. Runs in the target interpreter.
"""

import functools


def plain_rules():
    """No derivative rules of the program's own: what they were for is differentiated as it stands."""
    import jax

    for module in (jax, jax.custom_derivatives):
        module.custom_jvp = module.custom_vjp = _WithoutRule
    jax.custom_gradient = lambda fun: lambda *args, **kwargs: fun(*args, **kwargs)[0]


def loops():
    """No batching: `vmap` calls its function for one element after the other."""
    import jax

    batched = jax.vmap

    def vmap(fun, in_axes=0, out_axes=0, axis_name=None, **other):
        return batched(fun, in_axes, out_axes, axis_name, **other) if axis_name else _looped(fun, in_axes, out_axes)

    jax.vmap = vmap


def double():
    """Numbers with 64 bits, also where the program asks for fewer by a name of `jax.numpy`."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jnp.float16 = jnp.bfloat16 = jnp.float32 = jnp.float64
    jnp.int8 = jnp.int16 = jnp.int32 = jnp.int64
    jnp.complex64 = jnp.complex128


class _WithoutRule:
    """Looks like `jax.custom_jvp` and `jax.custom_vjp`."""

    def __init__(self, fun, *args, **kwargs):
        functools.update_wrapper(self, fun)
        self.fun = fun

    def __call__(self, *args, **kwargs):
        return self.fun(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def defjvp(self, jvp, *args, **kwargs):
        return jvp

    def defjvps(self, *jvps):
        pass

    def defvjp(self, *args, **kwargs):
        pass


_WHOLE = "whole"
"""In place of an axis: all of it is given to each call."""


def _looped(fun, in_axes, out_axes):
    import jax
    import jax.numpy as jnp

    @functools.wraps(fun)
    def mapped(*args, **kwargs):
        axes = _spread(tuple(in_axes) if isinstance(in_axes, list) else in_axes, args), _spread(0, kwargs)
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        pairs = list(zip(leaves, jax.tree_util.tree_leaves(axes)))
        results = []
        for i in range(next(jnp.shape(leaf)[axis] for leaf, axis in pairs if axis != _WHOLE)):
            given, named = jax.tree_util.tree_unflatten(tree, [_part(leaf, axis, i) for leaf, axis in pairs])
            results.append(fun(*given, **named))
        columns = _columns(out_axes, results)
        stacked = [parts[0] if axis == _WHOLE else jnp.stack(parts, axis) for axis, parts in columns]
        return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(results[0]), stacked)

    return mapped


def _part(leaf, axis, i):
    import jax

    return leaf if axis == _WHOLE else jax.lax.index_in_dim(leaf, i, axis, keepdims=False)


def _columns(out_axes, results):
    """Of each leaf of the results its axis and its values in all of them."""
    import jax

    axes = jax.tree_util.tree_leaves(_spread(out_axes, results[0]))
    return zip(axes, zip(*map(jax.tree_util.tree_leaves, results)))


def _spread(axes, tree):
    """An axis for each leaf of a tree; `axes` is a prefix of it."""
    import jax

    def below(axis, part):
        return jax.tree_util.tree_map(lambda leaf: _WHOLE if axis is None else axis, part)

    return jax.tree_util.tree_map(below, axes, tree, is_leaf=lambda axis: axis is None)
