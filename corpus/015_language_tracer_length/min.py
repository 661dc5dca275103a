import jax

jax.jit(int)(0)
