def window_part(size):
    """A Hann window."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)


def spectrum_part(x):
    """Power of each frequency, one row each."""
    tapered = x * window_part(x.shape[-1])
    return jnp.abs(jnp.fft.rfft(tapered, axis=-1)) ** 2


def bands_part(power, count=STEPS):
    """Mean power in bands of equal width."""
    edges = np.linspace(0, power.shape[-1], count + 1).astype(int)
    parts = [power[:, a:b].mean(-1) for a, b in zip(edges[:-1], edges[1:]) if b > a]
    return jnp.stack(parts, axis=-1)


def report_part(bands):
    """A line a band."""
    lines = []
    for index, value in enumerate(np.asarray(bands.mean(0))):
        lines.append(f"  band {index}: {value:.3e}")
    return "\n".join(lines)


def run_part(key, x, config):
    """Scale rows by their power in the lowest band."""
    power = spectrum_part(x)
    bands = bands_part(power)
    if config.verbose:
        print("part\n" + report_part(bands))
    weight = bands[:, :1] / (bands.sum(-1, keepdims=True) + 1e-6)
    return x * (0.5 + weight)
