# TypeError: scan body function carry input and carry output must have equal types
def start_part(batch, size=SIZE):
    """State before the first observation."""
    return {"mean": jnp.zeros((batch, size), jnp.float32), "count": jnp.zeros((batch,), jnp.int32)}


def observe_part(weights, state, column):
    """Fold one column of the batch into the state."""
    features = jnp.tanh(column[:, None] * weights["in"] + state["mean"] @ weights["mix"])
    count = state["count"] + 0.5
    mean = state["mean"] + (features - state["mean"]) / count[:, None]
    return {"mean": mean, "count": count}, mean.mean(-1)


def weights_part(key, size=SIZE):
    """Random projections."""
    first, second = jax.random.split(key)
    return {"in": jax.random.normal(first, (size,)), "mix": jax.random.normal(second, (size, size)) / size}


def filter_part(weights, x):
    """Running estimates along the rows."""
    state = start_part(x.shape[0])
    state, means = lax.scan(functools.partial(observe_part, weights), state, x.T)
    return means.T, state


def loss_part(weights, x):
    """How far the estimates are from the batch."""
    means, state = filter_part(weights, x)
    return jnp.mean((means - x) ** 2) + 1e-4 * jnp.mean(state["mean"] ** 2)


def run_part(key, x, config):
    """Fit the projections and smooth the batch."""
    weights = weights_part(key)
    for _ in range(STEPS):
        grads = jax.jit(jax.grad(loss_part))(weights, x)
        weights = jax.tree.map(lambda w, g: w - config.learning_rate * g, weights, grads)
    return filter_part(weights, x)[0]
