"""Layer normalisation and softmax as Pallas kernels, compared with plain JAX."""
import functools
import sys
import time
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

INTERPRET = jax.default_backend() == "cpu"


@dataclass
class Tiling:
    rows: int = 8
    columns: int = 128

    def grid(self, shape):
        return tuple(-(-n // b) for n, b in zip(shape, (self.rows, shape[1])))


def norm_kernel(x_ref, scale_ref, o_ref, *, eps):
    x = x_ref[...]
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    o_ref[...] = (x - mean) / jnp.sqrt(var + eps) * scale_ref[...]


def softmax_kernel(x_ref, o_ref):
    x = x_ref[...]
    e = jnp.exp(x - x.max(-1, keepdims=True))
    o_ref[...] = e / e.sum(-1, keepdims=True)


def layer_norm(x, scale, tiling=Tiling(), eps=1e-6):
    block = (tiling.rows, x.shape[1])
    return pl.pallas_call(
        functools.partial(norm_kernel, eps=eps),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=tiling.grid(x.shape),
        in_specs=[
            pl.BlockSpec(block, lambda i, j: (i, j)),
            pl.BlockSpec((1, x.shape[1]), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec(block, lambda i, j: (i, j)),
        interpret=INTERPRET,
    )(x, scale)


def softmax(x, tiling=Tiling()):
    block = (tiling.rows, x.shape[1])
    spec = pl.BlockSpec(block, lambda i, j: (i, j))
    return pl.pallas_call(
        softmax_kernel, out_shape=x, grid=tiling.grid(x.shape), in_specs=[spec], out_specs=spec, interpret=INTERPRET
    )(x)


def reference(name, x, scale):
    if name == "softmax":
        return jax.nn.softmax(x)
    x = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6)
    return x * scale


def check(name, fn, *args):
    started = time.perf_counter()
    got = np.asarray(fn(*args))
    want = np.asarray(reference(name, *args, *([None] if name == "softmax" else [])))
    difference = np.abs(got - want).max()
    print(f"{name:>10}: {difference:.2e} in {time.perf_counter() - started:.2f} s", file=sys.stderr)
    return difference < 1e-4


x = jnp.asarray(np.random.default_rng(0).normal(size=(32, 64)), jnp.float32)
scale = jnp.linspace(0.5, 1.5, 64)
assert check("softmax", functools.partial(softmax, tiling=replace(Tiling(), rows=16)), x)
assert check("layer norm", layer_norm, x, scale)
