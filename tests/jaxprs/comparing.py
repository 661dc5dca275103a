"""Checks that two functions of flat arguments do the same."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np


def flat(jaxpr: Any) -> Callable[..., list[Any]]:
    """A closed jaxpr as a function of flat arguments."""
    return lambda *leaves: jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *leaves)


def listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def assert_same_numbers(made: Any, wanted: Any, rtol: float = 1e-5) -> None:
    """Results that are equal but for rounding."""
    made, wanted = listed(made), listed(wanted)
    assert [str(one.dtype) for one in made] == [str(one.dtype) for one in wanted]
    for one, other in zip(made, wanted, strict=True):
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        one, other = np.asarray(one, np.complex128), np.asarray(other, np.complex128)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-6)


def assert_same_results(funs: Sequence[Callable[..., Any]], args: Sequence[Any], rtol: float = 1e-5) -> None:
    """Functions that give the same, compiled together: that takes XLA little more than one of them."""
    first, *others = jax.jit(lambda *args: [listed(fun(*args)) for fun in funs])(*args)
    for results in others:
        assert_same_numbers(results, first, rtol)


def assert_same_transformed(funs: Sequence[Callable[..., Any]], leaves: Sequence[Any]) -> None:
    """The same under vmap and grad together, for all arguments that have derivatives."""
    floats = [i for i, leaf in enumerate(leaves) if np.issubdtype(np.asarray(leaf).dtype, np.floating)]
    stacked = [np.stack([leaf, leaf * np.asarray(0.9, leaf.dtype)]) if i in floats else np.stack([leaf, leaf])
               for i, leaf in enumerate(leaves)]  # fmt: skip

    def gradient(fun: Callable[..., Any]) -> Any:
        def loss(*args: Any) -> Any:
            outs = [out for out in listed(fun(*args)) if np.issubdtype(out.dtype, np.floating)]
            return sum(out.astype(np.float32).sum() for out in outs)

        return jax.vmap(jax.grad(loss, tuple(floats)))

    assert_same_results([gradient(fun) for fun in funs], stacked, rtol=1e-4)
