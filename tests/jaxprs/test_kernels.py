"""Kernels of Pallas in both forms, run by its interpreter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxshrink.jaxprs import dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.comparing import assert_same_results, flat

pl = pytest.importorskip("jax.experimental.pallas")

X = np.arange(64, dtype=np.float32).reshape(8, 8)
SHAPE = jax.ShapeDtypeStruct(X.shape, X.dtype)


def blocks(x, y):
    def add_twice(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...] * 2

    rows = pl.BlockSpec((4, 8), lambda i: (i, 0))
    return pl.pallas_call(add_twice, SHAPE, grid=(2,), in_specs=[rows, rows], out_specs=rows, interpret=True)(x, y) + 1


def whole(x):
    def kernel(x_ref, sum_ref, o_ref):
        sum_ref[...] = jnp.sum(x_ref[...], axis=0)
        o_ref[...] = jnp.sin(x_ref[...])

    return pl.pallas_call(kernel, (jax.ShapeDtypeStruct((8,), np.float32), SHAPE), interpret=True)(x)


def placed(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * pl.program_id(0)

    spec = pl.BlockSpec((None, 4), lambda i, j: (i, j))
    return pl.pallas_call(
        kernel, SHAPE, grid=(8, 2), in_specs=[spec], out_specs=spec, interpret=True, name="scaled",
        input_output_aliases={0: 0},
    )(x)  # fmt: skip


@pytest.mark.parametrize(("fun", "args"), [(blocks, (X, X)), (whole, (X,)), (placed, (X,))])
def test_kernels(fun, args):
    jaxpr = jax.make_jaxpr(fun)(*args)
    source = to_source(jaxpr)
    made, kept = from_source(source), loads(dumps(jaxpr))
    assert ".pallas_call(" in source and "_src" not in source
    assert equivalent(jax.make_jaxpr(made)(*args), jaxpr), source
    assert equivalent(kept, jaxpr)
    assert_same_results((flat(jaxpr), made, flat(kept)), args)
