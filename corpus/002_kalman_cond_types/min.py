import jax

jax.lax.cond(0, lambda: 0, lambda: 0.0)
