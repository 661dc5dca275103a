class PartState(NamedTuple):
    """Moments of the optimiser."""

    count: jax.Array
    first: Any
    second: Any


def init_part(params):
    """All moments zero."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    return PartState(jnp.zeros((), jnp.int32), zeros, zeros)


def update_part(grads, state, config, beta=0.999, epsilon=1e-8):
    """A step of Adam: what to add to the parameters, and the next state."""
    count = state.count + 1
    first = jax.tree.map(lambda m, g: config.decay * m + (1 - config.decay) * g, state.first, grads)
    second = jax.tree.map(lambda v, g: beta * v + (1 - beta) * g * g, state.second, grads)
    correct = lambda tree, rate: jax.tree.map(lambda leaf: leaf / (1 - rate**count), tree)
    steps = jax.tree.map(
        lambda m, v: -config.learning_rate * m / (jnp.sqrt(v) + epsilon),
        correct(first, config.decay),
        correct(second, beta),
    )
    return steps, PartState(count, first, second)


def objective_part(params, x):
    """How far a scaled and shifted batch is from unit variance and zero mean."""
    y = params["scale"] * x + params["shift"]
    return (y.mean() ** 2) + (y.var() - 1.0) ** 2


def run_part(key, x, config):
    """Whiten the batch by a few steps of Adam."""
    params = {"scale": jnp.ones((1, WIDTH)), "shift": 0.01 * jax.random.normal(key, (1, WIDTH))}
    state = init_part(params)
    gradient = jax.jit(jax.grad(objective_part))
    for _ in range(STEPS):
        steps, state = update_part(gradient(params, x), state, config)
        params = jax.tree.map(jnp.add, params, steps)
    return params["scale"] * x + params["shift"]
