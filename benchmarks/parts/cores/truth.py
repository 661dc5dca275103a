# jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array
def ladder_part(count=STEPS):
    """Step sizes to try, from large to small."""
    return [0.5**index for index in range(count)]


def quality_part(x, target):
    """Lower is better."""
    return jnp.mean(jnp.abs(x - target)) + 1e-3 * jnp.mean(jnp.diff(x, axis=-1) ** 2)


def descend_part(x, target):
    """A line search: the first step that makes it better."""
    gradient = jax.grad(quality_part)(x, target)
    before = quality_part(x, target)
    for step in ladder_part():
        candidate = x - step * gradient
        if quality_part(candidate, target) < before:
            return candidate
    return x


class Part:
    """Smooths by descent; compiled once for each target."""

    def __init__(self, target):
        self.target = target
        self.step = jax.jit(lambda x: descend_part(x, self.target))

    def smooth(self, x, rounds):
        """As many steps as asked for."""
        for _ in range(rounds):
            x = self.step(x)
        return x


def run_part(key, x, config):
    """Descend towards a noisy copy of the batch."""
    noise = SIZE / 100 * jax.random.normal(key, x.shape)
    return Part(x + noise).smooth(x, rounds=3)
