# ValueError: vmap got inconsistent sizes for array axes to be mapped
def templates_part(key, count=SIZE):
    """Shapes to look for in the batch."""
    return jax.random.normal(key, (count, WIDTH))


def score_part(row, template, temperature):
    """How well a row fits a template."""
    a, b = row - row.mean(), template - template.mean()
    return (a * b).sum() / (temperature * jnp.linalg.norm(a) * jnp.linalg.norm(b) + 1e-6)


def align_part(row, template):
    """The rotation of the template that fits best, as a weighted mean of all."""
    rotations = jnp.stack([jnp.roll(template, shift) for shift in range(0, WIDTH, 6)])
    scores = jax.vmap(score_part, in_axes=(None, 0, None))(row, rotations, 0.5)
    return jax.nn.softmax(scores) @ rotations


def match_part(x, templates):
    """Replace each row by its aligned template."""
    return jax.vmap(align_part)(x, templates)


def run_part(key, x, config):
    """Mix the batch with what was matched."""
    templates = templates_part(key)
    strongest = templates[jnp.argsort(-jnp.abs(templates).sum(-1))]
    matched = jax.jit(match_part)(x, strongest)
    return config.decay * x + (1 - config.decay) * matched
