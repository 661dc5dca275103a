class Part:
    """A learning rate that warms up and then falls like a cosine."""

    def __init__(self, peak, warmup=STEPS, total=TOTAL):
        if warmup >= total:
            raise ValueError(f"warm-up of {warmup} steps in a schedule of {total}")
        self.peak = peak
        self.warmup = warmup
        self.total = total
        self.history = []

    def rate(self, step):
        """The rate at a step."""
        if step < self.warmup:
            value = self.peak * (step + 1) / self.warmup
        else:
            progress = (step - self.warmup) / max(1, self.total - self.warmup)
            value = 0.5 * self.peak * (1 + math.cos(math.pi * progress))
        self.history.append(value)
        return value

    def average(self):
        """Mean of the rates that were asked for."""
        return sum(self.history) / max(1, len(self.history))


def shrink_part(x, amount):
    """Soft thresholding."""
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - amount, 0.0)


def run_part(key, x, config):
    """Denoise with thresholds that follow the schedule."""
    schedule = Part(config.learning_rate)
    for step in range(0, schedule.total, max(1, schedule.total // 4)):
        x = shrink_part(x, schedule.rate(step))
    if config.verbose:
        print(f"part mean rate {schedule.average():.2e}")
    return x
