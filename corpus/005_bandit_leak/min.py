import jax

kept = []
jax.jit(kept.append)(0)
-kept[0]
