"""Calls of JAX's public functions: as many as can be made with plain arrays, and those that need options."""

# ruff: noqa: E501 - a table
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.experimental.ode
import jax.numpy as jnp
import numpy as np
from jax import lax

X = np.linspace(0.1, 0.9, 16, dtype=np.float32).reshape(4, 4)
I = np.arange(16, dtype=np.int32).reshape(4, 4) % 5  # noqa: E741
V = X[0]
KEY = jax.random.key(0)
C = X + 1j * X.T
B = X > 0.5

_MODULES = (jnp, jnp.linalg, jnp.fft, jax.nn, lax, lax.linalg, jax.scipy.special, jax.scipy.linalg, jax.scipy.stats.norm)
_PLAIN = ((X,), (X, X), (X, X, X), (I,), (I, I), (C,), (B, B), (V,), (V, V), (X, I), (X, 1), (X, 1, 1), ([X, X],), (3,))
_OF_KEY = ((), ((3,),), (X,), (3, (2,)), (V, V), (4,), (X[0], (4,)), (V, V, (4,)))
_NOT = ("print", "callback", "save", "load", "from", "fromfile", "debug", "_p", "create_token", "infeed", "outfeed")


def plain_calls() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Every public function, with the first arguments that it takes: its name, and what to trace."""
    for module in _MODULES:
        yield from _calls_of(module, _PLAIN)
    yield from _calls_of(jax.random, tuple((KEY, *more) for more in _OF_KEY))


def _calls_of(module: Any, choices: tuple[Any, ...]) -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    for name, fun in sorted(vars(module).items()):
        is_odd = name.startswith("_") or any(part in name for part in _NOT) or inspect.isclass(fun)
        if is_odd or not callable(fun) or inspect.ismodule(fun):
            continue
        for args in choices:
            arrays = tuple(one for one in args if not isinstance(one, (int, tuple)))
            traced = _with_rest(fun, args)
            try:
                outs = jax.tree.leaves(jax.eval_shape(traced, *arrays))
            except Exception:
                continue
            if outs and all(hasattr(one, "dtype") for one in outs):
                yield f"{module.__name__}.{name}", traced, arrays
                break


def _with_rest(fun: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    """The function of those arguments that are arrays."""

    def called(*arrays: Any) -> Any:
        given = iter(arrays)
        return fun(*(one if isinstance(one, (int, tuple)) else next(given) for one in args))

    return called


IMAGE = np.ones((1, 2, 6, 6), np.float32)
KERNEL = np.ones((3, 2, 3, 3), np.float32)

OPTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "gather": (lambda x, i: x[i, i], (X, V.astype(np.int32))),
    "slice": (lambda x: (x[1:3, ::2], x[1], x[..., 0], x[::-1], x[:, None]), (X,)),
    "dynamic index": (lambda x, i: (x[i], lax.dynamic_slice(x, (i, 0), (2, 2)), x.at[i].set(0)), (X, np.int32(1))),
    "scatter": (lambda x, i: (x.at[i].add(1), x.at[i].mul(2), x.at[i].min(0), x.at[i].max(0), x.at[i].set(1)),
                (X, np.array([0, 2]))),
    "scatter_apply": (lambda x, i: x.at[i].apply(jnp.sin), (X, np.array([0, 2]))),
    "gather modes": (lambda x, i: (x.at[i].get(mode="fill", fill_value=7.0), x.at[i].get(mode="clip")), (X, I[0])),
    "conv": (lambda x, k: lax.conv(x, k, (1, 1), "SAME"), (IMAGE, KERNEL)),
    "conv nhwc": (lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
                  (IMAGE.transpose(0, 2, 3, 1), KERNEL.transpose(2, 3, 1, 0))),
    "conv dilated": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), [(1, 2), (0, 1)], (2, 1), (1, 2)), (IMAGE, KERNEL)),
    "conv groups": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=2),
                    (IMAGE, np.ones((4, 1, 3, 3), np.float32))),
    "conv transpose": (lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")),
                       (IMAGE, np.ones((3, 2, 3, 3), np.float32))),
    "pools": (lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
                         lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 1, 1), "SAME")), (IMAGE,)),
    "pool of integers": (lambda x: lax.reduce_window(x, np.int32(0), lax.add, (2, 2), (1, 1), "SAME"), (I,)),
    "pool by a function": (lambda x: lax.reduce_window(x, 1.0, lambda a, b: a * b + 1, (2, 2), (1, 1), "VALID"), (X,)),
    "gradient of a pool": (jax.grad(lambda x: lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID").sum()), (IMAGE,)),
    "dot_general": (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32),
                    (X.astype(jnp.bfloat16), X.astype(jnp.bfloat16))),
    "einsum": (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), (X.reshape(2, 2, 4), X.reshape(2, 4, 2))),
    "precision": (lambda x: jnp.dot(x, x, precision="highest"), (X,)),
    "ragged_dot": (lambda x, y, n: lax.ragged_dot(x, y, n), (X, np.ones((2, 4, 3), np.float32), np.array([1, 3], np.int32))),
    "reduce": (lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b * b, (0,)), (X,)),
    "reduce of pairs": (lambda x, i: lax.reduce((x, i), (np.float32(0), np.int32(0)),
                        lambda a, b: (jnp.maximum(a[0], b[0]), a[1] + b[1]), (1,)), (X, I)),
    "sort": (lambda x, i: lax.sort((x, i), dimension=0, num_keys=1), (X, I)),
    "unstable sort": (lambda x: jnp.sort(x, stable=False, descending=True), (X,)),
    "top_k": (lambda x: lax.top_k(x, 2), (X,)),
    "approx_max_k": (lambda x: lax.approx_max_k(x, 2), (X,)),
    "argmax": (lambda x: (jnp.argmax(x, 0), lax.argmin(x, 1, jnp.int32)), (X,)),
    "cumulative": (lambda x: (lax.cumsum(x, 1, reverse=True), lax.cumprod(x), lax.cummax(x), lax.cumlogsumexp(x)), (X,)),
    "iota": (lambda: (lax.iota(jnp.float32, 4), lax.broadcasted_iota(jnp.int32, (2, 3), 1), jnp.arange(5)), ()),
    "pad": (lambda x: (lax.pad(x, 0.0, ((1, 2, 0), (0, 0, 1))), jnp.pad(x, 1, mode="reflect")), (X,)),
    "fft": (lambda x: (jnp.fft.fft2(x), jnp.fft.rfft(x, axis=0), jnp.fft.irfft(x[0].astype(jnp.complex64), 7)), (X,)),
    "linalg": (lambda x: (jnp.linalg.inv(x), jnp.linalg.det(x), jnp.linalg.eigh(x), jnp.linalg.svd(x), jnp.linalg.qr(x),
                          jnp.linalg.cholesky(x), jnp.linalg.svd(x, compute_uv=False)), (X @ X.T + np.eye(4, dtype=np.float32),)),
    "triangular": (lambda x: jax.scipy.linalg.solve_triangular(x, x, lower=True, unit_diagonal=True, trans=1), (X,)),
    "solve": (jnp.linalg.solve, (X, X)),
    "cg": (lambda x: jax.scipy.sparse.linalg.cg(lambda v: x @ v, x[0])[0], (X,)),
    "tridiagonal_solve": (lambda v: lax.linalg.tridiagonal_solve(v, v, v, v[:, None]), (V,)),
    "eig": (jnp.linalg.eig, (X,)),
    "bits": (lambda x: (lax.bitcast_convert_type(x, jnp.int32), lax.population_count(x.astype(int)), lax.clz(x.astype(int))), (X,)),
    "types": (lambda x: [x.astype(name) for name in ("bfloat16", "float16", "int8", "uint32", "bool", "complex64",
                                                     "float8_e4m3fn", "int4")], (X,)),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 10), (X,)),
    "barrier": (lambda x: (lax.optimization_barrier(x), lax.optimization_barrier((x, x + 1))), (X,)),
    "stop_gradient": (lambda x: lax.stop_gradient(x) * x, (X,)),
    "rng": (lambda k: (jax.random.bits(k, (2,), jnp.uint8), jax.random.split(k, 3), jax.random.fold_in(k, 3),
                       jax.random.key_data(k), jax.random.wrap_key_data(jax.random.key_data(k)), jax.random.clone(k)), (KEY,)),
    "old keys": (lambda s: jax.random.normal(jax.random.PRNGKey(s), (2,)), (np.int32(1),)),
    "rbg": (lambda s: jax.random.normal(jax.random.key(s, impl="rbg"), (2,)), (np.int32(1),)),
    "rng_bit_generator": (lambda k: lax.rng_bit_generator(k, (3,)), (np.zeros(4, np.uint32),)),
    "permutation": (lambda k, x: jax.random.permutation(k, x, independent=True), (KEY, X)),
    "gamma": (lambda k, v: (jax.random.gamma(k, v), jax.random.beta(k, v, v), jax.random.poisson(k, v)), (KEY, V)),
    "name": (lambda x: jax.ad_checkpoint.checkpoint_name(x, "here") * 2, (X,)),
    "copies": (lambda x: (jnp.copy(x), jax.device_put(x), jnp.array(x)), (X,)),
    "collapse": (lambda x: (lax.collapse(x, 0, 2), x.T, x.reshape(2, 8), x.transpose(), jnp.moveaxis(x, 0, 1)), (X,)),
    "scalars": (lambda x: (x + 1, 2 - x, 3 / x, x**2, x**-3, 2**x, x % 2, x // 2, -x, abs(x), x > 1), (X,)),
    "integers": (lambda i: (i + 1, i << 2, i >> 1, i & 3, i | 4, i ^ 7, ~i, i // 3, i % 3, i**2, lax.shift_right_logical(i, 1)), (I,)),
    "weak types": (lambda x: (x + 1, jnp.asarray(2.0) * x, jnp.where(x > 0, 1, 2.0), x * np.float32(2)), (3.0,)),
    "literals alone": (lambda x: (lax.add(1.0, 2.0) + x, lax.full((2,), 3), jnp.zeros((2, 3)), jnp.ones(4, int)), (1.0,)),
    "empty": (lambda x: (x[:0], jnp.zeros((0, 3)), jnp.concatenate([x, x[:0]])), (X,)),
    "complex": (lambda z: (z.real, z.imag, jnp.conj(z), jnp.abs(z), jnp.angle(z), lax.complex(z.real, z.imag) * 2j), (C,)),
    "split": (lambda x: (jnp.split(x, 2), jnp.stack([x, x], 1), jnp.concatenate([x, x], 1), jnp.tile(x, (2, 1))), (X,)),
    "nextafter": (lambda x: (lax.nextafter(x, x), lax.igamma(x, x), lax.betainc(x, x, x), lax.polygamma(x, x), lax.zeta(x + 1, x)), (X,)),
    "special": (lambda x: (jax.scipy.special.bessel_jn(x[0], v=2), jax.scipy.special.logsumexp(x), lax.bessel_i1e(x)), (X,)),
    "interpolation": (lambda x: (jax.image.resize(x, (8, 8), "bilinear"), jnp.interp(x, x[0], x[0]),
                                 jax.scipy.ndimage.map_coordinates(x, [x, x], 1)), (X,)),
    "clip": (lambda x: (jnp.clip(x, 0.2, 0.8), lax.clamp(0.2, x, 0.8), jnp.nan_to_num(x)), (X,)),
    "unique": (lambda x: jnp.unique(x, size=3), (X,)),
    "segments": (lambda x: jax.ops.segment_sum(x, np.array([0, 0, 1, 1]), 2), (X,)),
    "one_hot": (lambda i: (jax.nn.one_hot(i, 5), jax.nn.softmax(i * 1.0), jax.nn.gelu(i * 1.0), jax.nn.silu(i * 1.0)), (I,)),
    "attention": (lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), (X.reshape(1, 4, 2, 2),)),
    "ode": (lambda x: jax.experimental.ode.odeint(lambda y, t: -y, x[0], x[0]), (X,)),
}  # fmt: skip
"""Calls with options: what to trace, and its arguments."""
