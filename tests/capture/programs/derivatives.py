# ruff: noqa
# ---- passes grad
import jax, jax.numpy as jnp
def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)
w, x, y = jnp.ones(3), jnp.arange(6.0).reshape(2, 3), jnp.array([1.0, 2.0])
g = jax.grad(loss)(w, x, y)
result = jax.value_and_grad(loss, argnums=(0, 2))(w - 0.1 * g, x, y)
# ---- fails grad
import jax, jax.numpy as jnp
jax.grad(lambda w, x: x @ w)(jnp.ones(3), jnp.ones((2, 3)))
# ---- fails grad int
import jax, jax.numpy as jnp
jax.value_and_grad(lambda p: p["a"] * 2.0)({"a": jnp.array(3)})
# ---- passes grad aux
import jax, jax.numpy as jnp
def loss(p, x):
    h = jnp.tanh(x * p["a"])
    return h.sum(), {"h": h, "n": 3}
result = jax.value_and_grad(loss, has_aux=True)({"a": jnp.array(0.5)}, jnp.arange(3.0))
# ---- fails grad aux
import jax, jax.numpy as jnp
jax.grad(lambda x: x.sum(), has_aux=True)(jnp.arange(3.0))
# ---- passes jacobians
import jax, jax.numpy as jnp
f = lambda x: jnp.array([x[0] * x[1], jnp.sin(x[2])])
x = jnp.array([1.0, 2.0, 3.0])
a = jax.jacfwd(f)(x)
b = jax.jacrev(f)(x)
result = jax.hessian(lambda x: f(x).sum())(x) + (a @ b.T).sum()
# ---- fails jacfwd
import jax, jax.numpy as jnp
jax.jacfwd(lambda x: jnp.sin(x))(jnp.arange(3))
# ---- fails hessian
import jax, jax.numpy as jnp
jax.hessian(lambda x: jnp.linalg.det(x[:2]))(jnp.ones((3, 3)))
# ---- passes jvp
import jax, jax.numpy as jnp
y, dy = jax.jvp(lambda a, b: a * jnp.sin(b), (2.0, 1.0), (1.0, 0.5))
result = y + dy
# ---- fails jvp
import jax, jax.numpy as jnp
jax.jvp(jnp.sin, (jnp.ones(3),), (jnp.ones(4),))
# ---- passes vjp
import jax, jax.numpy as jnp
y, pull = jax.vjp(lambda a, b: (a * b, b.sum()), jnp.arange(3.0), jnp.ones(3))
first = pull((jnp.ones(3), 1.0))
result = pull((first[0], 2.0))
# ---- passes vjp aux
import jax, jax.numpy as jnp
y, pull, aux = jax.vjp(lambda a: (a * 2, a + 1), jnp.arange(3.0), has_aux=True)
result = pull(aux)
# ---- fails vjp
import jax, jax.numpy as jnp
y, pull = jax.vjp(lambda a, b: a @ b, jnp.ones((2, 3)), jnp.ones((3, 4)))
pull(jnp.ones((2, 5)))
# ---- fails vjp in jit
import jax, jax.numpy as jnp
@jax.jit
def f(a, b):
    y, pull = jax.vjp(lambda a: a @ b, a)
    return pull((y, y))
f(jnp.ones((2, 3)), jnp.ones((3, 4)))
# ---- passes linearize
import jax, jax.numpy as jnp
y, push = jax.linearize(lambda x: jnp.sin(x) * 2, jnp.arange(3.0))
result = push(jnp.ones(3)) + push(y)
# ---- fails linearize
import jax, jax.numpy as jnp
y, push = jax.linearize(lambda x: jnp.sin(x) * 2, jnp.arange(3.0))
push(jnp.ones(4))
# ---- passes linear_transpose
import jax, jax.numpy as jnp
t = jax.linear_transpose(lambda x: 3 * x.sum(), jnp.ones(3))
(result,) = t(2.0)
# ---- fails linear_transpose
import jax, jax.numpy as jnp
t = jax.linear_transpose(lambda x: jnp.sin(x), jnp.ones(3))
t(jnp.ones(3))
# ---- passes checkpoint
import jax, jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
def block(w, x):
    h = checkpoint_name(jnp.sin(w * x), "h")
    return jnp.cos(h).sum()
saved = jax.checkpoint(block, policy=jax.checkpoint_policies.save_only_these_names("h"))
dots = jax.checkpoint(lambda w: block(w, w), policy=jax.checkpoint_policies.dots_saveable)
result = jax.grad(lambda w: saved(w, 2.0) + dots(w))(jnp.arange(3.0))
# ---- fails checkpoint
import jax, jax.numpy as jnp
from functools import partial
@partial(jax.checkpoint, policy=jax.checkpoint_policies.everything_saveable)
def block(w, x):
    return jnp.split(w * x, 2)[0].sum()
jax.grad(block)(jnp.arange(3.0), 2.0)
# ---- fails checkpoint static
import jax, jax.numpy as jnp
@jax.remat
def block(w, train):
    return w.sum() if train else w
jax.grad(block)(jnp.arange(3.0), True)
# ---- passes named
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    with jax.named_scope("encoder"):
        x = jnp.sin(x)
        with jax.named_scope("layer"):
            x = x * 2
        x = x + 1
    return jax.named_call(jnp.cos, name="decoder")(x)
result = f(jnp.arange(3.0))
# ---- fails named
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    with jax.named_scope("encoder"):
        x = jnp.sin(x)
        return jax.named_call(lambda y: y @ x.T, name="decoder")(jnp.ones((2, 2)))
f(jnp.ones((3, 3)))
# ---- passes named loop
import jax, jax.numpy as jnp
loop = jax.named_call(jax.lax.while_loop, name="search")
result = jax.jit(lambda x: loop(lambda s: s < 9, lambda s: s * 2, x))(3)
# ---- passes lower
import jax, jax.numpy as jnp
lowered = jax.jit(lambda x: x * 2).lower(jnp.ones(2))
compiled = lowered.compile()
result = jnp.sin(compiled(jnp.arange(2.0)))
# ---- fails compiled call
import jax, jax.numpy as jnp
compiled = jax.jit(lambda x: x * 2).lower(jnp.ones(2)).compile()
compiled(jnp.ones(3))
# ---- passes eval_shape
import jax, jax.numpy as jnp
shape = jax.eval_shape(lambda x: x @ x.T, jax.ShapeDtypeStruct((2, 3), jnp.float32))
result = jnp.zeros(shape.shape, shape.dtype)
# ---- fails eval_shape
import jax, jax.numpy as jnp
jax.eval_shape(lambda x: x @ x, jax.ShapeDtypeStruct((2, 3), jnp.float32))
# ---- fails make_jaxpr
import jax, jax.numpy as jnp
jax.make_jaxpr(lambda x: jnp.squeeze(x, 0))(jnp.ones((2, 3)))
# ---- passes export
import jax, jax.numpy as jnp
from jax import export
exported = export.export(jax.jit(lambda x: jnp.sin(x) * 2))(jax.ShapeDtypeStruct((3,), jnp.float32))
result = exported.call(jnp.arange(3.0))
# ---- fails export
import jax, jax.numpy as jnp
from jax import export
(n,) = export.symbolic_shape("n")
exported = export.export(jax.jit(lambda x: jnp.dot(x, jnp.ones(3))))(jax.ShapeDtypeStruct((n,), jnp.float32))
# ---- passes vectorize
import jax, jax.numpy as jnp
from functools import partial
@partial(jnp.vectorize, signature="(n),(n)->()")
def dot(a, b):
    return jnp.dot(a, b)
result = dot(jnp.arange(6.0).reshape(2, 3), jnp.ones(3))
# ---- fails vectorize
import jax, jax.numpy as jnp
dot = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
dot(jnp.ones((2, 3)), jnp.ones(4))
# ---- passes jit of method
import jax, jax.numpy as jnp
from functools import partial
class Model:
    def __init__(self, n):
        self.n = n
        self.w = jnp.arange(float(n))
    @partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x * self.w
    @jax.jit
    def other(x):
        return x + 1
m = Model(3)
result = Model.other(m(jnp.ones(3)))
# ---- fails jit of method
import jax, jax.numpy as jnp
from functools import partial
class Model:
    def __init__(self, n):
        self.w = jnp.arange(float(n))
    @partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x * self.w
    def loss(self, x):
        return self(x).sum()
m = Model(3)
jax.grad(m.loss)(jnp.ones(4))
# ---- passes nested transformations
import jax, jax.numpy as jnp
def model(p, x):
    return jnp.tanh(x @ p)
def loss(p, x):
    return jnp.sum(jax.vmap(model, (None, 0))(p, x))
@jax.jit
def train(p, xs):
    def step(p, x):
        l, g = jax.value_and_grad(loss)(p, x)
        return p - 0.1 * g, l
    return jax.lax.scan(step, p, xs)
result = train(jnp.ones((3, 2)), jnp.arange(24.0).reshape(2, 4, 3) / 24)
# ---- fails nested transformations
import jax, jax.numpy as jnp
def model(p, x):
    return jnp.tanh(x @ p)
def loss(p, x):
    return jnp.sum(jax.vmap(model, (None, 0))(p, x))
@jax.jit
def train(p, xs):
    def step(p, x):
        l, g = jax.value_and_grad(loss)(p, x)
        return p - 0.1 * g[:2], l
    return jax.lax.scan(step, p, xs)
train(jnp.ones((3, 2)), jnp.ones((2, 4, 3)))
# ---- passes jit in loop
import jax, jax.numpy as jnp
@jax.jit
def step(p, x):
    return p - 0.5 * jax.grad(lambda p: ((p - x) ** 2).sum())(p)
p = jnp.zeros(2)
for i in range(5):
    p = step(p, jnp.full(2, float(i)))
result = p * 2
