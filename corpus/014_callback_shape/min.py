import jax
import jax.numpy as jnp

jax.pure_callback(lambda: 0, jnp.ones(1))
