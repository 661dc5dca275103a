"""Kernels of Pallas in both forms, run by its interpreter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxshrink.jaxprs import Inexpressible, dumps, equivalent, from_source, loads, to_source
from tests.jaxprs.comparing import assert_same_results, flat

pl = pytest.importorskip("jax.experimental.pallas")
if not hasattr(jax, "ref"):
    pytest.skip("this JAX has references in kernels alone, and no functions for them", allow_module_level=True)
pltpu = pytest.importorskip("jax.experimental.pallas.tpu")
PARAMS = getattr(pltpu, "CompilerParams", None) or pltpu.TPUCompilerParams

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


def accumulated(x):
    def kernel(x_ref, o_ref, total_ref):
        @pl.when(pl.program_id(1) == 0)
        def _():
            total_ref[...] = jnp.zeros_like(total_ref)

        total_ref[...] += x_ref[...]

        @pl.when(pl.program_id(1) == pl.num_programs(1) - 1)
        def _():
            o_ref[...] = total_ref[...]

    return pl.pallas_call(
        kernel, jax.ShapeDtypeStruct((8, 4), np.float32), grid=(2, 2), scratch_shapes=[pltpu.VMEM((4, 4), np.float32)],
        in_specs=[pl.BlockSpec((4, 4), lambda i, j: (i, j))], out_specs=pl.BlockSpec((4, 4), lambda i, j: (i, 0)),
        compiler_params=PARAMS(dimension_semantics=("parallel", "arbitrary")), interpret=True,
    )(x)  # fmt: skip


def prefetched(order, x):
    def kernel(order_ref, x_ref, o_ref, factor_ref):
        factor_ref[0] = 2
        o_ref[...] = x_ref[...] * factor_ref[0] + order_ref[pl.program_id(0)]

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1, grid=(2,), in_specs=[pl.BlockSpec((4, 8), lambda i, order: (order[i], 0))],
        out_specs=pl.BlockSpec((4, 8), lambda i, order: (i, 0)), scratch_shapes=[pltpu.SMEM((1,), np.int32)],
    )  # fmt: skip
    return pl.pallas_call(kernel, SHAPE, grid_spec=spec, interpret=True)(order, x)


def described(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    return pl.pallas_call(
        kernel, SHAPE, interpret=True, name="doubled", in_specs=[pl.BlockSpec(memory_space=pltpu.VMEM)],
        cost_estimate=pl.CostEstimate(flops=64, transcendentals=0, bytes_accessed=512),
    )(x)  # fmt: skip


def overlapping(x):
    def kernel(x_ref, o_ref):
        i = pl.program_id(0)
        o_ref[pl.ds(i * 4, 4), :] = x_ref[...] * 2

    return pl.pallas_call(
        kernel, SHAPE, grid=(2,), in_specs=[pl.BlockSpec((pl.Element(4), 8), lambda i: (i * 4, 0))], interpret=True
    )(x)


def mapped(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    return jax.vmap(pl.pallas_call(kernel, jax.ShapeDtypeStruct((8,), np.float32), interpret=True))(x)


ORDER = np.array([1, 0], np.int32)


@pytest.mark.parametrize(
    ("fun", "args"),
    [(blocks, (X, X)), (whole, (X,)), (placed, (X,)), (accumulated, (X,)), (prefetched, (ORDER, X)), (described, (X,)),
     (overlapping, (X,))],
)  # fmt: skip
def test_kernels(fun, args):
    jaxpr = jax.make_jaxpr(fun)(*args)
    source = to_source(jaxpr)
    made, kept = from_source(source), loads(dumps(jaxpr))
    assert "pl.pallas_call(" in source and "_src" not in source
    assert equivalent(jax.make_jaxpr(made)(*args), jaxpr), source
    assert equivalent(kept, jaxpr)
    assert_same_results((flat(jaxpr), made, flat(kept)), args)


def test_a_kernel_that_a_transformation_has_made_is_kept_as_bytes_alone():
    jaxpr = jax.make_jaxpr(mapped)(X)
    assert_same_results((flat(jaxpr), flat(loads(dumps(jaxpr)))), (X,))
    with pytest.raises(Inexpressible, match="pallas_call"):
        to_source(jaxpr)
