# TypeError: Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated
def down_part(x, factor):
    """Mean over neighbours."""
    usable = x.shape[-1] - x.shape[-1] % factor
    return x[:, :usable].reshape(x.shape[0], -1, factor).mean(-1)


def up_part(x, factor):
    """Repeat each point."""
    return jnp.repeat(x, factor, axis=-1)


def pyramid_part(x, factors):
    """The batch at several resolutions."""
    levels = [x]
    for factor in factors:
        levels.append(down_part(levels[-1], factor))
    return levels


@jax.jit
def collapse_part(levels, weights):
    """From the coarsest level back to the finest, as channels side by side."""
    coarse = levels[-1][..., None]
    for level, weight in zip(reversed(levels[:-1]), weights):
        repeated = up_part(coarse[..., 0], 2)[..., None]
        coarse = jnp.concatenate([level[..., None], weight * repeated], axis=-1)
    return coarse


def run_part(key, x, config):
    """Blend the levels of the pyramid."""
    levels = pyramid_part(x[:, : WIDTH - 3], (2, 2))
    weights = jax.random.uniform(key, (len(levels) - 1,))
    blended = collapse_part(levels, weights).mean(-1)
    return jnp.pad(blended, ((0, 0), (0, x.shape[-1] - blended.shape[-1])))
