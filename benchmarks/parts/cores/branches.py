# TypeError: cond branches must have equal output types
def robust_part(x, threshold):
    """Clip what lies far out; says how much was clipped."""
    limit = threshold * x.std()
    clipped = jnp.clip(x, -limit, limit)
    return clipped, jnp.abs(clipped - x).sum()


def plain_part(x, threshold):
    """Leave everything as it is."""
    return x, jnp.sum(jnp.abs(x) > threshold)


@functools.partial(jax.jit, static_argnames=("levels",))
def clean_part(x, levels=STEPS):
    """Several rounds of cleaning where the tails are heavy."""
    removed = 0.0
    for level in range(levels):
        kurtosis = ((x - x.mean()) ** 4).mean() / (x.var() ** 2 + 1e-6)
        x, amount = lax.cond(kurtosis > 3.0, robust_part, plain_part, x, 2.0 + level)
        removed = removed + amount
    return x, removed


def run_part(key, x, config):
    """Add outliers and take them away again."""
    spikes = jax.random.bernoulli(key, SIZE / 100, x.shape)
    noisy = jnp.where(spikes, 10.0 * x, x)
    cleaned, removed = clean_part(noisy)
    if config.verbose:
        print(f"part removed {float(removed):.2f}")
    return cleaned
