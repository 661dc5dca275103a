def init_part(key, size=SIZE):
    """Weights of a gated recurrent cell, by gate."""
    names = ("update", "reset", "candidate")
    keys = jax.random.split(key, len(names))
    return {
        name: {
            "kernel": jax.random.normal(k, (1 + size, size)) / math.sqrt(1 + size),
            "bias": jnp.zeros((size,)),
        }
        for name, k in zip(names, keys)
    }


def gate_part(weights, inputs, activation):
    """An affine map and what comes after it."""
    return activation(inputs @ weights["kernel"] + weights["bias"])


def cell_part(params, state, value):
    """One step: the new state, and its mean as output."""
    joined = jnp.concatenate([value[None], state])
    update = gate_part(params["update"], joined, jax.nn.sigmoid)
    reset = gate_part(params["reset"], joined, jax.nn.sigmoid)
    candidate = gate_part(params["candidate"], jnp.concatenate([value[None], reset * state]), jnp.tanh)
    state = (1 - update) * state + update * candidate
    return state, state.mean()


@functools.partial(jax.jit, static_argnames="size")
def unroll_part(params, row, size=SIZE):
    """The outputs of the cell along a row."""
    _, outputs = lax.scan(functools.partial(cell_part, params), jnp.zeros((size,)), row)
    return outputs


def run_part(key, x, config):
    """Smooth each row by a recurrent cell."""
    params = init_part(key)
    smooth = jax.vmap(lambda row: unroll_part(params, row))(x)
    return config.decay * x + (1 - config.decay) * smooth
