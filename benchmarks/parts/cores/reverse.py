# ValueError: Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop values
def contract_part(params, z, x):
    """One step towards the equilibrium."""
    return jnp.tanh(z @ params["w"] + x + params["b"])


def equilibrium_part(params, x, tolerance=1e-3, most=SIZE):
    """Iterate until nothing moves."""

    def unfinished(state):
        previous, current, step = state
        return (jnp.abs(previous - current).max() > tolerance) & (step < most)

    def body(state):
        _, current, step = state
        return current, contract_part(params, current, x), step + 1

    first = jnp.zeros_like(x)
    return lax.while_loop(unfinished, body, (first, contract_part(params, first, x), 0))[1]


def init_part(key):
    """A contraction: small weights."""
    return {"w": 0.1 * jax.random.normal(key, (WIDTH, WIDTH)) / math.sqrt(WIDTH), "b": jnp.zeros(WIDTH)}


def loss_part(params, x):
    """Distance of the equilibrium to the batch."""
    return jnp.mean((equilibrium_part(params, x) - x) ** 2)


def run_part(key, x, config):
    """Train an equilibrium model."""
    params = init_part(key)
    for epoch in range(STEPS):
        value, grads = jax.value_and_grad(loss_part)(params, x)
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
        scale = jnp.minimum(1.0, config.clip / (norm + 1e-6))
        params = jax.tree.map(lambda p, g: p - config.learning_rate * scale * g, params, grads)
    return equilibrium_part(params, x)
