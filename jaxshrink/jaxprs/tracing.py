"""What a function does, what it gives and what it closes over, of one abstract run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax

from jaxshrink.jaxprs import internals, lifting, numbers


@dataclasses.dataclass(frozen=True)
class Traced:
    """What tracing a function has shown.

    `jaxpr` is closed; its constants are `closed_over`, in the same order: arrays of any type, random keys, tracers of
    whatever transformations are around, numbers. So a call is
    `jax.core.eval_jaxpr(t.jaxpr.jaxpr, t.closed_over, *leaves)` with the leaves of the arguments. `in_tree` is the
    structure of `(args, kwargs)`, `out_tree` that of the result, `out_avals` are the types of its leaves, `effects`
    those of JAX.
    """

    jaxpr: Any
    in_tree: Any
    out_tree: Any
    out_avals: tuple[Any, ...]
    effects: frozenset[Any]
    closed_over: tuple[Any, ...]


def trace(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Traced:
    """Trace a function of pytrees of arrays, numbers or `jax.ShapeDtypeStruct`s, without computing anything.

    Works outside of transformations and inside of them. Raises what the function raises.

    Numbers of Python or NumPy that the function closes over are among `closed_over`, as arrays of the same (weak) type,
    where JAX does the same with a value in their place (see `numbers`): the function is traced again for this. Those
    that it needs as numbers are part of its code, and so are variables of modules. What compiled functions in it close
    over is there too (see `lifting`).
    """
    found = _with_numbers(fun, args, kwargs)
    jaxpr = lifting.lifted(found.jaxpr)
    return dataclasses.replace(found, jaxpr=jaxpr, closed_over=internals.opened(jaxpr).consts)


def _with_numbers(fun: Any, args: Any, kwargs: Any) -> Traced:
    """What tracing shows, with those numbers as values that may be."""
    found = numbers.closed_over(fun)
    plain = _traced(fun, (), (), args, kwargs)
    if not found:
        return plain
    wanted = _work(plain, 0)
    made: dict[tuple[int, ...], Traced] = {}

    def suits(indices: Sequence[int]) -> bool:
        try:
            traced = _traced(fun, found, indices, args, kwargs)
        except Exception:  # the function's own errors, of whatever kind, where it is given no number
            return False
        made[tuple(indices)] = traced
        return bool(_work(traced, len(indices)) == wanted)

    chosen = numbers.chosen(len(found), suits)
    if not chosen:
        return plain
    used = internals.read_consts(made[tuple(chosen)].jaxpr)[-len(chosen) :]
    left = [index for index, is_used in zip(chosen, used, strict=True) if is_used]
    return made[tuple(chosen)] if left == chosen else _traced(fun, found, left, args, kwargs)


def _traced(fun: Any, found: Sequence[Any], indices: Sequence[int], args: Any, kwargs: Any) -> Traced:
    """What tracing shows, with some of the numbers that were found as values."""
    leaves, in_tree = jax.tree_util.tree_flatten((args, kwargs))
    out_trees: list[Any] = []

    def flat(*given: Any) -> list[Any]:
        values = {**dict(enumerate(found)), **dict(zip(indices, given, strict=False))}
        given_args, given_kwargs = jax.tree_util.tree_unflatten(in_tree, given[len(indices) :])
        called = numbers.replaced(fun, [values[index] for index in range(len(found))]) if indices else fun
        results, tree = jax.tree_util.tree_flatten(called(*given_args, **given_kwargs))
        out_trees.append(tree)
        return results

    flat.__name__ = getattr(fun, "__name__", "f")
    paths = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
    names = [*[""] * len(indices), *("".join(map(str, path[1:])) for path, _ in paths)]
    values = [jax.numpy.asarray(found[index]) for index in indices]
    jaxpr = internals.traced(flat, [internals.type_of(leaf) for leaf in (*values, *leaves)], names)
    jaxpr = internals.with_values(jaxpr, values)
    parts = internals.opened(jaxpr)
    out_avals = tuple(atom.aval for atom in parts.outvars)
    return Traced(jaxpr, in_tree, out_trees[-1], out_avals, frozenset(parts.jaxpr.effects), parts.consts)


def _work(traced: Traced, count: int) -> Any:
    """What a function does, with so many numbers as its last constants."""
    parts = internals.opened(traced.jaxpr)
    flags = [*[False] * (len(parts.consts) - count), *[True] * count, *[False] * len(parts.invars)]
    return list(numbers.work(traced.jaxpr, flags)), traced.out_tree, traced.out_avals, len(traced.effects)


def closure_convert(fun: Callable[..., Any], /, *args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """A function that closes over nothing, and the values that `fun` closes over.

    `pure, values = closure_convert(fun, *args)`: `pure(*args, *values)` is `fun(*args)`, for all arguments of the same
    structure and types. Unlike `jax.closure_convert` it takes out values of every type: integers, keys, tracers of any
    transformation, and numbers of Python as `trace` does. Raises what tracing raises; `pure` raises TypeError for
    arguments of another structure.
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
