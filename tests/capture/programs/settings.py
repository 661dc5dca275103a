# ruff: noqa
# ---- passes policies
import jax, jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jax import checkpoint_policies as cp
policies = [
    cp.everything_saveable, cp.nothing_saveable, cp.dots_saveable, cp.checkpoint_dots,
    cp.dots_with_no_batch_dims_saveable, cp.checkpoint_dots_with_no_batch_dims,
    cp.save_any_names_but_these("a"), cp.save_anything_except_these_names("a", "b"), cp.save_only_these_names("b"),
    cp.save_from_both_policies(cp.dots_saveable, cp.save_only_these_names("a")),
]
def layer(w, x):
    x = checkpoint_name(x @ w, "a")
    return checkpoint_name(jnp.sin(x), "b").sum()
results = [jax.grad(jax.checkpoint(layer, policy=policy))(jnp.eye(3), jnp.ones(3)) for policy in policies]
result = jnp.stack(results)
# ---- fails policies
import functools
import jax, jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
@jax.jit
def f(x):
    policy = jax.checkpoint_policies.save_from_both_policies(
        jax.checkpoint_policies.dots_saveable, jax.checkpoint_policies.save_any_names_but_these("h"))
    @functools.partial(jax.remat, policy=policy)
    def block(x):
        h = checkpoint_name(jnp.tanh(x), "h")
        return (h @ jnp.ones((4, 2))).sum()
    return jax.grad(block)(x)
f(jnp.ones(3))
# ---- passes policy offload
import jax, jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
policy = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=["a"], names_which_can_be_offloaded=[], offload_src="device", offload_dst="pinned_host")
def f(x):
    return jnp.sin(checkpoint_name(x * 2, "a")).sum()
result = jax.jit(jax.grad(jax.checkpoint(f, policy=policy, prevent_cse=False)))(jnp.ones(3))
# ---- fails policy offload
import jax, jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
policy = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"], offload_src="device", offload_dst="pinned_host")
def f(x):
    return jnp.sin(checkpoint_name(x, "a")).reshape(4).sum()
jax.grad(jax.checkpoint(f, policy=policy))(jnp.ones(3))
# ---- passes policy of its own
import jax, jax.numpy as jnp
def policy(prim, *args, **params):
    return prim.name == "sin"
result = jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.cos(x)).sum(), policy=policy))(jnp.ones(3))
# ---- fails policy of its own
import jax, jax.numpy as jnp
def policy(prim, *args, **params):
    return prim.name == "sin"
jax.grad(jax.checkpoint(lambda x: jnp.sin(x) @ jnp.ones(4), policy=policy))(jnp.ones(3))
# ---- passes saved residuals
import jax, jax.numpy as jnp
jax.ad_checkpoint.print_saved_residuals(lambda x: jnp.sin(x), jnp.ones(3))
result = jnp.sin(1.0)
# ---- passes symbolic zeros
import jax, jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
@jax.custom_jvp
def f(x, y):
    return x * y
def f_jvp(primals, tangents):
    x, y = primals
    dx, dy = tangents
    out = jnp.zeros_like(x)
    if type(dx) is not SymbolicZero:
        out = out + dx * y
    if type(dy) is not SymbolicZero:
        out = out + dy * x
    return f(x, y), out
f.defjvp(f_jvp, symbolic_zeros=True)
result = jax.jvp(lambda x: f(x, 3.0), (2.0,), (1.0,))
# ---- fails symbolic zeros
import jax, jax.numpy as jnp
@jax.custom_jvp
def f(x, y):
    return x * y
@f.defjvp
def f_jvp(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    return f(x, y), dx * y + jnp.ones(4) * dy
jax.jvp(lambda x: f(x, 3.0), (jnp.ones(3),), (jnp.ones(3),))
# ---- passes symbolic zeros vjp
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x, y):
    return x * y
def fwd(x, y):
    return x.value * y.value, (x.value, y.value, x.perturbed)
def bwd(res, g):
    x, y, _ = res
    return g * y, g * x
f.defvjp(fwd, bwd, symbolic_zeros=True)
result = jax.grad(lambda x: f(x, 3.0))(2.0)
# ---- passes optimize_remat
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
f.defvjp(lambda x: (f(x), x), lambda x, g: (g * jnp.cos(x),), optimize_remat=True)
result = jax.jit(jax.grad(jax.checkpoint(lambda x: f(x) * 2)))(1.0)
# ---- fails optimize_remat
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
f.defvjp(lambda x: (f(x), x), lambda x, g: (g * jnp.cos(x), g), optimize_remat=True)
jax.grad(jax.checkpoint(lambda x: f(x) * 2))(1.0)
# ---- passes sequential_vmap
import jax, jax.numpy as jnp
from jax.custom_batching import sequential_vmap
@sequential_vmap
def f(x, y):
    return jnp.sum(x) * y
result = jax.vmap(f, in_axes=(0, None))(jnp.ones((3, 2)), 2.0)
# ---- fails sequential_vmap
import jax, jax.numpy as jnp
@jax.custom_batching.sequential_vmap
def f(x):
    return x @ jnp.ones(4)
jax.vmap(f)(jnp.ones((2, 3)))
# ---- passes compile time
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    with jax.ensure_compile_time_eval():
        n = int(jnp.sum(jnp.arange(3)))
    return jnp.ones(n) * x
result = f(2.0)
# ---- fails compile time
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    with jax.ensure_compile_time_eval():
        y = jnp.arange(3) + 1
    return y @ x
f(jnp.ones(2))
# ---- passes matmul precision
import jax, jax.numpy as jnp
with jax.default_matmul_precision("highest"):
    result = jax.jit(lambda x: x @ x)(jnp.eye(3))
# ---- fails matmul precision
import jax, jax.numpy as jnp
with jax.default_matmul_precision("float32"):
    jax.jit(lambda x: x @ x)(jnp.ones((2, 3)))
# ---- passes transfer guard
import jax, jax.numpy as jnp, numpy as np
x = jax.device_put(np.ones(3, np.float32))
f = jax.jit(lambda x: x * 2)
with jax.transfer_guard("log"):
    result = f(x)
result = result + 1
# ---- fails transfer guard
import jax, jax.numpy as jnp, numpy as np
with jax.transfer_guard("disallow"):
    jnp.ones(3) @ np.ones(4)
# ---- fails rank promotion in context
import jax, jax.numpy as jnp
with jax.numpy_rank_promotion("raise"):
    jax.jit(lambda x, y: x + y)(jnp.ones((2, 3)), jnp.ones(3))
# ---- passes rank promotion in context
import jax, jax.numpy as jnp
with jax.numpy_rank_promotion("allow"):
    result = jax.jit(lambda x, y: x + y)(jnp.ones((2, 3)), jnp.ones(3))
# ---- fails promotion in context
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    with jax.numpy_dtype_promotion("strict"):
        return x + jnp.arange(3)
f(jnp.ones(3))
# ---- fails nans in context
import jax, jax.numpy as jnp
with jax.debug_nans(True):
    jax.jit(lambda x: jnp.log(x))(jnp.array([-1.0, 1.0]))
# ---- fails infs in context
import jax, jax.numpy as jnp
with jax.debug_infs(True):
    jax.jit(lambda x: 1 / x)(jnp.zeros(2))
# ---- passes disable jit
import jax, jax.numpy as jnp
with jax.disable_jit():
    result = jax.jit(lambda x: x * 2 if x.sum() > 0 else x)(jnp.ones(3))
# ---- fails disable jit
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return x @ jnp.ones(4)
with jax.disable_jit():
    f(jnp.ones(3))
# ---- fails key reuse
import jax, jax.numpy as jnp
with jax.debug_key_reuse(True):
    key = jax.random.key(0)
    jax.random.normal(key)
    jax.random.uniform(key)
# ---- passes prng impl
import jax, jax.numpy as jnp
with jax.default_prng_impl("rbg"):
    result = jax.random.key_data(jax.random.key(3)).shape
# ---- fails prng impl
import jax, jax.numpy as jnp
with jax.default_prng_impl("no such thing"):
    jax.random.key(3)
# ---- passes default device
import jax, jax.numpy as jnp
with jax.default_device(jax.devices()[0]):
    result = jax.jit(jnp.sin)(jnp.ones(3))
# ---- fails nans in the derivative of a mean
import jax, jax.numpy as jnp
jax.config.update("jax_debug_nans", True)
def loss(w, x):
    return jnp.mean(jnp.log(x @ w))
@jax.jit
def step(w, x):
    value, slope = jax.value_and_grad(loss)(w, x)
    return w - slope, value
step(jnp.array([1.0, -2.0]), jnp.array([[1.0, 0.0], [0.0, 1.0]]))
