def init_part(key, width=SIZE):
    """Weights of a two-layer perceptron."""
    first, second = jax.random.split(key)
    scale = 1.0 / math.sqrt(WIDTH)
    return {
        "hidden": {"w": scale * jax.random.normal(first, (WIDTH, width)), "b": jnp.zeros(width)},
        "out": {"w": jax.random.normal(second, (width, WIDTH)) / width, "b": jnp.zeros(WIDTH)},
    }


def apply_part(params, x):
    """The perceptron with a residual connection."""
    hidden = jax.nn.gelu(x @ params["hidden"]["w"] + params["hidden"]["b"])
    return x + hidden @ params["out"]["w"] + params["out"]["b"]


def loss_part(params, x, target):
    """Mean squared error of a reconstruction."""
    error = apply_part(params, x) - target
    return jnp.mean(error**2)


@jax.jit
def step_part(params, x, target, rate):
    """One step of gradient descent."""
    value, grads = jax.value_and_grad(loss_part)(params, x, target)
    return jax.tree.map(lambda p, g: p - rate * g, params, grads), value


def run_part(key, x, config):
    """Fit the perceptron to reproduce its input, then apply it."""
    params = init_part(key)
    for epoch in range(3):
        params, value = step_part(params, x, x, config.learning_rate)
        if config.verbose:
            print(f"part epoch {epoch}: loss {float(value):.5f}")
    return apply_part(params, x)
