# TypeError: dot_general requires contracting dimensions to have the same shape
class Part:
    """Attention over pooled tokens, with a bottleneck."""

    def __init__(self, key, width, bottleneck=SIZE):
        down, up, gate = jax.random.split(key, 3)
        self.width = width
        self.params = {
            "down": jax.random.normal(down, (width, bottleneck)) / math.sqrt(width),
            "up": jax.random.normal(up, (bottleneck + 1, width)) / math.sqrt(bottleneck),
            "gate": jax.random.normal(gate, (width,)),
        }

    def gate(self, params, x):
        """How much of each row passes."""
        return jax.nn.sigmoid(x @ params["gate"])[:, None]

    def __call__(self, params, x):
        squeezed = jax.nn.relu(x @ params["down"])
        return x + self.gate(params, x) * (squeezed @ params["up"])

    def loss(self, params, x):
        """Reconstruction error."""
        return jnp.mean((self(params, x) - x) ** 2)


def run_part(key, x, config):
    """Train the bottleneck for a few steps."""
    model = Part(key, x.shape[-1])
    params = model.params
    gradient = jax.jit(jax.value_and_grad(model.loss))
    for step in range(STEPS):
        value, grads = gradient(params, x)
        params = jax.tree.map(lambda p, g: p - config.learning_rate * g, params, grads)
        if config.verbose:
            print(f"part step {step}: {float(value):.5f}")
    return model(params, x)
