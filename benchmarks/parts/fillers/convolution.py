def kernel_part(key, taps=STEPS):
    """A normalised filter."""
    kernel = jnp.abs(jax.random.normal(key, (taps,))) + 0.1
    return kernel / kernel.sum()


def pad_part(row, amount):
    """Reflect a row at both ends."""
    left = row[1 : amount + 1][::-1]
    right = row[-amount - 1 : -1][::-1]
    return jnp.concatenate([left, row, right])


def filter_part(kernel, row):
    """Convolve a row, keeping its length."""
    taps = kernel.shape[0]
    padded = pad_part(row, taps // 2)
    full = jnp.convolve(padded, kernel, mode="valid")
    return full[: row.shape[0]]


def residual_part(kernel, x):
    """What the filter takes away."""
    smooth = jnp.stack([filter_part(kernel, row) for row in x[:4]])
    return jnp.abs(x[:4] - smooth).mean()


def run_part(key, x, config):
    """Low-pass each row and report how much that removed."""
    kernel = kernel_part(key)
    removed = residual_part(kernel, x)
    y = jax.vmap(filter_part, in_axes=(None, 0))(kernel, x)
    if config.verbose:
        print("part removed", float(removed))
    return y
