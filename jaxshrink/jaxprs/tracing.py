"""What a function does, what it gives and what it closes over, of one abstract run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from jaxshrink.jaxprs import internals


@dataclasses.dataclass(frozen=True)
class Traced:
    """What tracing a function has shown.

    `jaxpr` is closed; its constants are `closed_over`, in the same order: arrays of any type, random keys, and tracers
    of whatever transformations are around. So a call is `jax.core.eval_jaxpr(t.jaxpr.jaxpr, t.closed_over, *leaves)`
    with the leaves of the arguments. `in_tree` is the structure of `(args, kwargs)`, `out_tree` that of the result,
    `out_avals` are the types of its leaves, `effects` those of JAX.
    """

    jaxpr: Any
    in_tree: Any
    out_tree: Any
    out_avals: tuple[Any, ...]
    effects: frozenset[Any]
    closed_over: tuple[Any, ...]


def trace(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Traced:
    """Trace a function of pytrees of arrays, numbers or `jax.ShapeDtypeStruct`s, without computing anything.

    Works outside of transformations and inside of them. Plain numbers, of Python or NumPy, that the function closes
    over are part of its code, as always in JAX. Raises what the function raises.
    """
    leaves, in_tree = jax.tree_util.tree_flatten((args, kwargs))
    out_trees: list[Any] = []

    def flat(*given: Any) -> list[Any]:
        given_args, given_kwargs = jax.tree_util.tree_unflatten(in_tree, given)
        results, tree = jax.tree_util.tree_flatten(fun(*given_args, **given_kwargs))
        out_trees.append(tree)
        return results

    flat.__name__ = getattr(fun, "__name__", "f")
    paths = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
    names = ["".join(map(str, path[1:])) for path, _ in paths]
    jaxpr = internals.traced(flat, [internals.type_of(leaf) for leaf in leaves], names)
    parts = internals.opened(jaxpr)
    out_avals = tuple(atom.aval for atom in parts.outvars)
    return Traced(jaxpr, in_tree, out_trees[-1], out_avals, frozenset(parts.jaxpr.effects), parts.consts)


def closure_convert(fun: Callable[..., Any], /, *args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """A function that closes over nothing, and the values that `fun` closes over.

    `pure, values = closure_convert(fun, *args)`: `pure(*args, *values)` is `fun(*args)`, for all arguments of the same
    structure and types. Unlike `jax.closure_convert` it takes out values of every type: integers, keys, tracers of any
    transformation. Raises what tracing raises; `pure` raises TypeError for arguments of another structure.
    """
    traced = trace(fun, *args)
    jaxpr = internals.hoisted(traced.jaxpr)
    in_tree, out_tree, count = traced.in_tree, traced.out_tree, len(traced.closed_over)

    def pure(*given: Any) -> Any:
        own, values = given[: len(given) - count], given[len(given) - count :]
        leaves, tree = jax.tree_util.tree_flatten((own, {}))
        if tree != in_tree:
            raise TypeError(f"{pure.__name__} takes arguments of the structure {in_tree}, not {tree}")
        results = jax.core.eval_jaxpr(jaxpr, (), *values, *leaves)
        return jax.tree_util.tree_unflatten(out_tree, results)

    pure.__name__ = pure.__qualname__ = getattr(fun, "__name__", "pure")
    return pure, list(traced.closed_over)
