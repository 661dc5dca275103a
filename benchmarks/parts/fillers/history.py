def summary_part(x):
    """What is logged of a batch."""
    values = np.asarray(x)
    return {
        "mean": float(values.mean()),
        "deviation": float(values.std()),
        "range": (float(values.min()), float(values.max())),
    }


def table_part(rows):
    """The log as text."""
    lines = [f"{'step':>4}  {'mean':>8}  {'deviation':>9}"]
    for step, row in enumerate(rows):
        lines.append(f"{step:4d}  {row['mean']:8.4f}  {row['deviation']:9.4f}")
    return "\n".join(lines)


def perturb_part(key, x, strength):
    """Multiplicative noise."""
    noise = jax.random.normal(key, x.shape)
    return x * (1.0 + strength * noise)


def run_part(key, x, config):
    """Perturb the batch several times, with a log."""
    rows = [summary_part(x)]
    for step, subkey in enumerate(jax.random.split(key, STEPS)):
        x = perturb_part(subkey, x, 0.01 / (1 + step))
        rows.append(summary_part(x))
    if config.verbose:
        print(table_part(rows))
    drift = abs(rows[-1]["mean"] - rows[0]["mean"])
    return x - drift
