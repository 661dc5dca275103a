@dataclasses.dataclass
class Part:
    """Normalisation with a learned scale and shift."""

    scale: jax.Array
    shift: jax.Array
    epsilon: float = 1e-5

    def __call__(self, x):
        mean = x.mean(-1, keepdims=True)
        variance = x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + self.epsilon) * self.scale + self.shift


def build_part(key, count=STEPS):
    """A stack of normalisations."""
    keys = jax.random.split(key, count)
    return [Part(1.0 + 0.1 * jax.random.normal(k, (WIDTH,)), jnp.zeros(WIDTH)) for k in keys]


def run_part(key, x, config):
    """Apply the stack, with a nonlinearity between two of its members."""
    layers = build_part(key)
    for index, layer in enumerate(layers):
        x = layer(x)
        if index + 1 < len(layers):
            x = jnp.tanh(x)
    statistics = {"mean": float(x.mean()), "largest": float(jnp.abs(x).max())}
    if config.verbose:
        print("part", statistics)
    return x * min(1.0, config.clip)
