import jax
import jax.numpy as jnp

f = jax.custom_jvp(jnp.sin)
f.defjvp(lambda p, t: (jnp.ones(1), 0.0))
jax.jvp(f, (0.0,), (0.0,))
