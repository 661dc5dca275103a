# ruff: noqa
# ---- passes custom_jvp
import jax, jax.numpy as jnp
@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1.0 + jnp.exp(x))
@log1pexp.defjvp
def log1pexp_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t
a = log1pexp(3.0)
result = jax.grad(log1pexp)(3.0) * a
# ---- fails custom_jvp
import jax, jax.numpy as jnp
@jax.custom_jvp
def f(x):
    return jnp.sin(x)
@f.defjvp
def f_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return f(x), jnp.sum(t)
jax.grad(lambda x: f(x).sum())(jnp.ones(3))
# ---- passes custom_jvp defjvps
import jax, jax.numpy as jnp
@jax.custom_jvp
def f(x, y):
    return jnp.sin(x) * y
f.defjvps(lambda t, ans, x, y: jnp.cos(x) * t * y, lambda t, ans, x, y: jnp.sin(x) * t)
result = jax.grad(f, argnums=(0, 1))(2.0, 3.0)
# ---- fails custom_jvp undefined
import jax, jax.numpy as jnp
f = jax.custom_jvp(lambda x: jnp.sin(x))
f(1.0)
# ---- passes custom_jvp nondiff
import jax, jax.numpy as jnp
from functools import partial
@partial(jax.custom_jvp, nondiff_argnums=(0,))
def app(f, x):
    return f(x)
@app.defjvp
def app_jvp(f, primals, tangents):
    (x,), (t,) = primals, tangents
    return f(x), 2.0 * t
result = jax.grad(lambda x: app(jnp.sin, x))(1.0)
# ---- passes custom_jvp rule unused
import jax, jax.numpy as jnp
@jax.custom_jvp
def f(x):
    return jnp.sin(x)
@f.defjvp
def f_jvp(primals, tangents):
    return f(primals[0]), tangents[0]
result = jax.jit(f)(1.0)
# ---- passes custom_vjp
import jax, jax.numpy as jnp
@jax.custom_vjp
def clip_gradient(lo, hi, x):
    return x
def forward(lo, hi, x):
    return x, (lo, hi)
def backward(res, g):
    lo, hi = res
    return (None, None, jnp.clip(g, lo, hi))
clip_gradient.defvjp(forward, backward)
result = jax.grad(lambda x: clip_gradient(-0.75, 0.75, jnp.sin(x) * 3).sum())(jnp.arange(3.0))
# ---- passes custom_vjp rule unused
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
def f_fwd(x):
    return f(x), jnp.cos(x)
def f_bwd(c, g):
    return (c * g,)
f.defvjp(f_fwd, f_bwd)
result = jax.jit(lambda x: f(x) * 2)(jnp.arange(3.0))
# ---- passes custom_vjp only forward
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
def f_fwd(x):
    return jnp.sin(x), jnp.cos(x)
def f_bwd(c, g):
    return (c * g,)
f.defvjp(f_fwd, f_bwd)
y, pull = jax.vjp(f, jnp.arange(3.0))
result = y * 2
# ---- fails custom_vjp forward
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
def f_fwd(x):
    return jnp.sin(x), x.reshape(7)
def f_bwd(c, g):
    return (c * g,)
f.defvjp(f_fwd, f_bwd)
jax.grad(lambda x: f(x).sum())(jnp.arange(3.0))
# ---- fails custom_vjp backward
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x, y):
    return jnp.sin(x) * y
def f_fwd(x, y):
    return f(x, y), (jnp.cos(x), y)
def f_bwd(res, g):
    c, y = res
    return (c * g * y,)
f.defvjp(f_fwd, f_bwd)
jax.grad(lambda x, y: f(x, y).sum())(jnp.arange(3.0), jnp.ones(3))
# ---- fails custom_vjp forward mode
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
def f_fwd(x):
    return f(x), jnp.cos(x)
def f_bwd(c, g):
    return (c * g,)
f.defvjp(f_fwd, f_bwd)
jax.jvp(f, (1.0,), (1.0,))
# ---- fails custom_vjp unrelated
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
def f_fwd(x):
    return f(x), jnp.cos(x)
def f_bwd(c, g):
    return (c * g,)
f.defvjp(f_fwd, f_bwd)
@jax.jit
def loss(x):
    return jnp.dot(f(x), jnp.ones(4))
loss(jnp.arange(3.0))
# ---- passes custom_vjp nondiff
import jax, jax.numpy as jnp
from functools import partial
@partial(jax.custom_vjp, nondiff_argnums=(1,))
def scale(x, n):
    return x * n
def fwd(x, n):
    return scale(x, n), x.shape
def bwd(n, shape, g):
    return (g * n * 10,)
scale.defvjp(fwd, bwd)
result = jax.grad(lambda x: scale(x, 3).sum())(jnp.arange(3.0))
# ---- fails custom_vjp nondiff
import jax, jax.numpy as jnp
from functools import partial
@partial(jax.custom_vjp, nondiff_argnums=(1,))
def scale(x, n):
    return x * n
def fwd(x, n):
    return scale(x, n), x
def bwd(n, res, g):
    return (jnp.ones(4) * res,)
scale.defvjp(fwd, bwd)
jax.grad(lambda x: scale(x, 3).sum())(jnp.arange(3.0))
# ---- passes custom_vmap
import jax, jax.numpy as jnp
@jax.custom_batching.custom_vmap
def f(x, y):
    return jnp.sin(x) * y
@f.def_vmap
def rule(axis_size, in_batched, x, y):
    return jnp.cos(x) * y, True
result = jax.vmap(f, in_axes=(0, None))(jnp.arange(3.0), 2.0)
# ---- fails custom_vmap
import jax, jax.numpy as jnp
@jax.custom_batching.custom_vmap
def f(x, y):
    return jnp.sin(x) * y
@f.def_vmap
def rule(axis_size, in_batched, x, y):
    return jnp.cos(x).reshape(7) * y, True
jax.vmap(f, in_axes=(0, None))(jnp.arange(3.0), 2.0)
# ---- passes custom_gradient
import jax, jax.numpy as jnp
@jax.custom_gradient
def f(x):
    return x ** 2, lambda g: g * x * 10
result = jax.grad(f)(3.0)
# ---- fails custom_gradient
import jax, jax.numpy as jnp
@jax.custom_gradient
def f(x):
    return x ** 2, lambda g: (g, g, g)
jax.grad(f)(3.0)
# ---- passes closure_convert
import jax, jax.numpy as jnp
def f(x, y):
    g, consts = jax.closure_convert(lambda z: z * x, y)
    return g(y, *consts)
result = jax.jit(f)(2.0, 3.0)
# ---- passes pure_callback
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def f(x):
    y = jax.pure_callback(lambda x: np.ones(3, np.float32), jax.ShapeDtypeStruct((3,), jnp.float32), x)
    return y + x
result = f(jnp.arange(3.0))
# ---- fails pure_callback
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def f(x):
    y = jax.pure_callback(lambda x: np.sin(x), jax.ShapeDtypeStruct((3,), jnp.float32), x)
    return y @ jnp.ones((4, 4))
f(jnp.arange(3.0))
# ---- fails pure_callback grad
import jax, jax.numpy as jnp, numpy as np
def f(x):
    return jax.pure_callback(lambda x: np.sin(x), jax.ShapeDtypeStruct((), jnp.float32), x)
jax.grad(f)(1.0)
# ---- passes io_callback
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback
@jax.jit
def f(x):
    y = io_callback(lambda x: np.float32(1), jax.ShapeDtypeStruct((), jnp.float32), x, ordered=True)
    return y + x
result = f(2.0)
# ---- fails io_callback
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback
def f(x):
    return io_callback(lambda x: np.float32(1), jax.ShapeDtypeStruct((), jnp.float32), x, ordered=True)
jax.vmap(f)(jnp.arange(3.0))
# ---- passes debug
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    jax.debug.print("x = {x}, {{braces}}", x=x, ordered=True)
    jax.debug.callback(lambda x: None, x)
    return x * 2
result = f(jnp.arange(2.0))
# ---- fails debug print
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    jax.debug.print("x = {y}", x=x)
    return x * 2
f(jnp.arange(2.0))
# ---- passes pallas
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...] * 2
@jax.jit
def add(x, y):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x, y)
result = add(jnp.arange(8.0), jnp.ones(8))
# ---- passes pallas grid
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
def kernel(x_ref, o_ref):
    i = pl.program_id(0)
    o_ref[:] = x_ref[:] * i
f = pl.pallas_call(
    kernel, out_shape=jax.ShapeDtypeStruct((8,), jnp.float32), grid=(2,),
    in_specs=[pl.BlockSpec((4,), lambda i: (i,))], out_specs=pl.BlockSpec((4,), lambda i: (i,)), interpret=True)
result = f(jnp.arange(8.0))
# ---- fails pallas
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
def kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]
def add(x, y):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x, y)
add(jnp.arange(8.0), jnp.ones(4))
# ---- fails pallas shape
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sum(x_ref[...], axis=1)
f = pl.pallas_call(
    kernel, out_shape=jax.ShapeDtypeStruct((8, 2), jnp.float32), grid=(2,),
    in_specs=[pl.BlockSpec((4, 2), lambda i: (i, 0))], out_specs=pl.BlockSpec((4, 2), lambda i: (i, 0)), interpret=True)
f(jnp.ones((8, 2)))
# ---- passes checkify
import jax, jax.numpy as jnp
from jax.experimental import checkify
def f(x):
    checkify.check(x > 0, "x must be positive, got {x}", x=x)
    return jnp.log(x)
err, y = checkify.checkify(f)(jnp.array(2.0))
err.throw()
result = y + 1
# ---- fails checkify
import jax, jax.numpy as jnp
from jax.experimental import checkify
def f(x):
    checkify.check(x > 0, "x must be positive, got {x}", x=x)
    return jnp.log(x)
err, y = jax.jit(checkify.checkify(f))(jnp.array(-2.0))
err.throw()
# ---- fails checkify float
import jax, jax.numpy as jnp
from jax.experimental import checkify
err, y = checkify.checkify(jax.jit(lambda x: jnp.log(x)), errors=checkify.float_checks)(-2.0)
checkify.check_error(err)
# ---- fails check without checkify
import jax, jax.numpy as jnp
from jax.experimental import checkify
@jax.jit
def f(x):
    checkify.check(x > 0, "x must be positive")
    return jnp.log(x)
f(1.0)
# ---- fails debug nans
import jax, jax.numpy as jnp
jax.config.update("jax_debug_nans", True)
@jax.jit
def f(x):
    y = jnp.log(x)
    return y * 2
f(-1.0)
# ---- fails debug nans eager
import jax, jax.numpy as jnp
jax.config.update("jax_debug_nans", True)
x = jnp.zeros(2)
x / x
# ---- passes rules that never ran
import functools
import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x):
    return jnp.sin(x)
f.defvjp(lambda x: (f(x), x), lambda x, g: (g * 3 * x,))
@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def h(x, n):
    return x ** n
@h.defjvp
def h_jvp(n, primals, tangents):
    return h(primals[0], n), tangents[0] * 7 * n
@jax.jit
def both(x):
    return h(f(x), 2)
result = both(jnp.ones(2))
