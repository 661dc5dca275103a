"""Programs as people write them: each a function, and arguments for it."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

_random = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return _random.uniform(0.1, 1.0, shape).astype(np.float32)


def attention(q, k, v):
    scores = jnp.einsum("qd,kd->qk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape, bool))
    return jax.nn.softmax(jnp.where(mask, scores, -1e30)) @ v


def conv_net(params, image):
    x = lax.conv_general_dilated(image, params["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ params["head"]


def mlp_loss(params, x, y):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return jnp.mean((x @ w + b - y) ** 2)


MLP = [(floats(3, 4), floats(4)), (floats(4, 2), floats(2))]


def train_step(params, x, y):
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def rnn(w, xs):
    def cell(h, x):
        h = jnp.tanh(w @ h + x)
        return h, h.sum()

    return lax.scan(cell, jnp.zeros(3), xs)


def ode(y):
    def step(state):
        t, y = state
        return t + 0.1, y - 0.1 * y * jnp.cos(t)

    return lax.while_loop(lambda state: (state[0] < 1.0) & (state[1].max() > 0), step, (0.0, y))


@jax.custom_vjp
def clipped(x, limit):
    return jnp.clip(x, -limit, limit)


clipped.defvjp(
    lambda x, limit: (clipped(x, limit), (x, limit)),
    lambda kept, ct: (jnp.where(jnp.abs(kept[0]) < kept[1], ct, 0.0), None),
)


@jax.custom_jvp
def log1pexp(x):
    return jnp.log1p(jnp.exp(x))


@log1pexp.defjvp
def _log1pexp_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return log1pexp(x), x_dot * jax.nn.sigmoid(x)


def own_rules(x):
    return clipped(x * 2, 1.5) + log1pexp(x)


def closing_rule(scale, x):
    @jax.custom_jvp
    def scaled(x):
        return x * scale

    scaled.defjvp(lambda primals, tangents: (scaled(*primals), tangents[0] * 3.0))
    return scaled(x) + scaled(2 * x)


def remat(w, x):
    block = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x @ w)), policy=jax.checkpoint_policies.dots_saveable)
    return block(block(x)).sum()


def remat_names(x):
    def block(x):
        return jnp.sin(checkpoint_name(jnp.sin(x), "kept"))

    return jax.checkpoint(block, policy=jax.checkpoint_policies.save_only_these_names("kept"))(x)


def dropout(key, x):
    first, second = jax.random.split(key)
    keep = jax.random.bernoulli(first, 0.5, x.shape)
    return jnp.where(keep, x * 2, 0.0) + jax.random.normal(second, x.shape) * 0.1


def spectrum(x):
    return jnp.abs(jnp.fft.rfft(x)) ** 2, jnp.fft.ifft2(jnp.outer(x, x).astype(jnp.complex64)).real


def decompositions(a):
    spd = a @ a.T + jnp.eye(3)
    return jnp.linalg.cholesky(spd), jnp.linalg.eigvalsh(spd), jnp.linalg.solve(spd, a), jnp.linalg.slogdet(spd)


def least_squares(a, b):
    return jnp.linalg.lstsq(a, b)[0]


def sorting(x, i):
    order = jnp.argsort(x)
    return x[order], i[order], lax.top_k(x, 2), jnp.median(x), jnp.searchsorted(jnp.sort(x), 0.5)


def histogram(i, w):
    return jnp.zeros(5).at[i].add(w), jnp.zeros(5).at[i].max(w), jax.ops.segment_sum(w, i, 5)


def quantised(x, w):
    scale = jnp.max(jnp.abs(w)) / 7
    small = jnp.round(w / scale).astype(jnp.int4)
    return (x.astype(jnp.bfloat16) @ small.astype(jnp.bfloat16)).astype(jnp.float32) * scale


def eighths(x):
    return x.astype(jnp.float8_e4m3fn).astype(jnp.float32) + x.astype(jnp.bfloat16)


def branches(i, x):
    x = lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 2], x)
    return lax.cond(x.sum() > 0, lambda x, y: x + y, lambda x, y: x - y, x, jnp.ones(3))


def nested_loops(x):
    def outer(i, x):
        return lax.fori_loop(0, 2, lambda j, x: x * 0.9 + j, x) + i

    return lax.fori_loop(0, 3, outer, x)


def prefix(x):
    return lax.associative_scan(lambda a, b: a * b + a, x), jnp.cumsum(x[::-1]), lax.cummax(x)


def references(x):
    total = jax.new_ref(jnp.zeros(3))
    total[...] = x
    total[0] += 2.0
    total[1:] = x[:2]
    return total[...], total[2]


def optimiser(grads, state):
    count, mean, square = state
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g**2, square, grads)
    count = count + 1
    corrected = jax.tree.map(lambda m, s: m / (1 - 0.9**count) / (jnp.sqrt(s) + 1e-8), mean, square)
    return corrected, (count, mean, square)


def table_lookup(ids):
    table = np.arange(4000, dtype=np.float32).reshape(1000, 4) ** 0.5
    return jnp.take(jnp.asarray(table), ids, axis=0) + np.array([1.0, 2.0, 3.0, 4.0], np.float32)


def per_example(params, x, y):
    return jax.vmap(jax.grad(mlp_loss), (None, 0, 0))(params, x[:, None], y[:, None])


def mapped_sum(x):
    return jax.vmap(lambda x: x - lax.pmean(x, "batch"), axis_name="batch")(x)


def donated(x):
    return jax.jit(lambda x, y: x + y, donate_argnums=0, inline=False)(x * 1, x)


def newton(x):
    return lax.custom_root(lambda y: y**2 - x, x, lambda f, y: lax.fori_loop(
        0, 5, lambda i, y: y - f(y) / (2 * y), y), lambda g, y: y / g(1.0))  # fmt: skip


def interpolated(x):
    return jnp.interp(x, jnp.linspace(0, 1, 5), jnp.arange(5.0)), jax.image.resize(x[None], (2, 6), "linear")


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "attention": (attention, (floats(4, 3), floats(4, 3), floats(4, 3))),
    "conv_net": (conv_net, ({"kernel": floats(3, 3, 1, 2), "head": floats(8, 2)}, floats(2, 4, 4, 1))),
    "mlp": (mlp_loss, (MLP, floats(5, 3), floats(5, 2))),
    "train_step": (train_step, (MLP, floats(5, 3), floats(5, 2))),
    "rnn": (rnn, (floats(3, 3), floats(5, 3))),
    "gradient of rnn": (jax.grad(lambda w, xs: rnn(w, xs)[0].sum()), (floats(3, 3), floats(5, 3))),
    "ode": (ode, (floats(3),)),
    "own_rules": (own_rules, (floats(3),)),
    "gradient of own_rules": (jax.grad(lambda x: own_rules(x).sum()), (floats(3),)),
    "remat": (remat, (floats(3, 3), floats(2, 3))),
    "remat_names": (remat_names, (floats(3),)),
    "gradient of remat": (jax.grad(remat), (floats(3, 3), floats(2, 3))),
    "dropout": (dropout, (jax.random.key(1), floats(4))),
    "spectrum": (spectrum, (floats(6),)),
    "decompositions": (decompositions, (floats(3, 3),)),
    "least_squares": (least_squares, (floats(4, 2), floats(4))),
    "sorting": (sorting, (floats(5), np.arange(5, dtype=np.int32))),
    "histogram": (histogram, (np.array([0, 1, 1, 4], np.int32), floats(4))),
    "quantised": (quantised, (floats(2, 3), floats(3, 2))),
    "eighths": (eighths, (floats(3),)),
    "branches": (branches, (np.int32(1), floats(3))),
    "nested_loops": (nested_loops, (floats(3),)),
    "prefix": (prefix, (floats(6),)),
    "optimiser": (optimiser, ({"w": floats(3)}, (np.int32(0), {"w": floats(3)}, {"w": floats(3)}))),
    "table_lookup": (table_lookup, (np.array([1, 5], np.int32),)),
    "per_example": (per_example, (MLP, floats(5, 3), floats(5, 2))),
    "mapped_sum": (mapped_sum, (floats(4),)),
    "donated": (donated, (floats(3),)),
    "newton": (newton, (np.float32(2.0),)),
    "interpolated": (interpolated, (floats(3),)),
    "hessian": (jax.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 3)), (floats(3),)),
    "jacobian": (jax.jacrev(functools.partial(jnp.cross, floats(3))), (floats(3),)),
}  # fmt: skip
if hasattr(jax, "new_ref"):
    PROGRAMS["references"] = (references, (floats(3),))

SMOOTH = (
    "attention", "mlp", "rnn", "own_rules", "remat", "prefix", "spectrum", "interpolated", "remat_names", "conv_net",
)  # fmt: skip
"""Programs whose gradients make sense."""
