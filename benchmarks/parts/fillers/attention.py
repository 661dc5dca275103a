class PartParams(NamedTuple):
    """Projections of one attention head."""

    query: jax.Array
    key: jax.Array
    value: jax.Array
    out: jax.Array


def init_part(rng, size=SIZE):
    """Glorot-like projections."""
    q, k, v, o = jax.random.split(rng, 4)
    scale = 1.0 / math.sqrt(size)

    def draw(key, shape):
        return scale * jax.random.normal(key, shape)

    return PartParams(draw(q, (1, size)), draw(k, (1, size)), draw(v, (1, size)), draw(o, (size, 1)))


def attend_part(params, row, mask=None):
    """Self-attention over the points of one row."""
    points = row[:, None]
    queries, keys, values = points @ params.query, points @ params.key, points @ params.value
    scores = queries @ keys.T / math.sqrt(queries.shape[-1])
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    weights = jax.nn.softmax(scores, axis=-1)
    return (weights @ values @ params.out)[:, 0]


def causal_part(size):
    """A lower triangle."""
    return jnp.tril(jnp.ones((size, size), dtype=bool))


def run_part(key, x, config):
    """Attention of each row to its own past."""
    params = init_part(key)
    mask = causal_part(x.shape[-1])
    attended = jax.vmap(functools.partial(attend_part, params, mask=mask))(x)
    return x + config.decay * attended
