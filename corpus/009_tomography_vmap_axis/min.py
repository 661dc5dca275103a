import jax
import jax.numpy as jnp

jax.vmap(lambda x: x, 1)(jnp.ones(1))
