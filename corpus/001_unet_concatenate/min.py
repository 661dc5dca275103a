import jax.numpy as jnp

jnp.concatenate([jnp.ones((1, 1)), jnp.ones((1, 2))])
