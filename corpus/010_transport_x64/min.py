import os

os.environ["JAX_ENABLE_X64"] = "1"

import jax

jax.lax.dynamic_update_slice(jax.numpy.ones(1), jax.numpy.ones(1, "f"), [0])
