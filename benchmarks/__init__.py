"""jaxshrink against what a user would take instead, on the same inputs: `python -m benchmarks`."""
