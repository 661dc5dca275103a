def centres_part(key, x, count=STEPS):
    """Rows of the batch to begin with."""
    chosen = jax.random.permutation(key, x.shape[0])[:count]
    return x[chosen]


def distances_part(x, centres):
    """Squared distance of each row to each centre."""
    return ((x[:, None, :] - centres[None, :, :]) ** 2).sum(-1)


def refine_part(x, centres):
    """One step of Lloyd's algorithm; an empty cluster stays where it is."""
    nearest = jnp.argmin(distances_part(x, centres), axis=1)
    members = jax.nn.one_hot(nearest, centres.shape[0])
    counts = members.sum(0)
    means = (members.T @ x) / jnp.maximum(counts, 1.0)[:, None]
    return jnp.where(counts[:, None] > 0, means, centres), nearest


def run_part(key, x, config):
    """Pull each row a little towards the centre of its cluster."""
    centres = centres_part(key, x)
    nearest = None
    for _ in range(4):
        centres, nearest = refine_part(x, centres)
    sizes = np.bincount(np.asarray(nearest), minlength=centres.shape[0])
    if config.verbose:
        print("part cluster sizes", sizes.tolist())
    return config.decay * x + (1 - config.decay) * centres[nearest]
