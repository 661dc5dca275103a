import jax
import jax.numpy as jnp

jax.grad(lambda x: jnp.ones(1))(0.0)
