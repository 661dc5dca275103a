# ValueError: pytree structure error
def init_part(key, size=SIZE):
    """Encoder and decoder; the decoder has a bias."""
    first, second = jax.random.split(key)
    return {
        "encoder": {"w": jax.random.normal(first, (WIDTH, size)) / WIDTH},
        "decoder": {"w": jax.random.normal(second, (size, WIDTH)) / size, "b": jnp.zeros(WIDTH)},
    }


def average_part(params, average, decay):
    """Exponential moving average of parameters."""
    return jax.tree.map(lambda a, p: decay * a + (1 - decay) * p, average, params)


def encode_part(params, x):
    """A linear autoencoder."""
    code = x @ params["encoder"]["w"]
    return code @ params["decoder"]["w"] + params["decoder"].get("b", 0.0)


def strip_part(params):
    """Without biases, which need no averaging."""
    return {name: {k: v for k, v in layer.items() if k != "b"} for name, layer in params.items()}


def run_part(key, x, config):
    """Train with averaged weights."""
    params = init_part(key)
    average = strip_part(params)
    loss = jax.jit(lambda p: jnp.mean((encode_part(p, x) - x) ** 2))
    for step in range(STEPS):
        grads = jax.grad(loss)(params)
        params = jax.tree.map(lambda p, g: p - config.learning_rate * g, params, grads)
        average = average_part(params, average, config.decay)
    return encode_part(average, x)
