# ruff: noqa
# ---- passes debug inspect
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    jax.debug.inspect_array_sharding(x, callback=lambda sharding: None)
    return x * 2
result = f(jnp.ones(4))
# ---- fails debug inspect
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    jax.debug.inspect_array_sharding(x, callback=print)
    return x @ jnp.ones(3)
f(jnp.ones(4))
# ---- passes debug visualize
import jax, jax.numpy as jnp
jax.debug.visualize_array_sharding(jnp.ones((4, 4)), use_color=False)
result = jnp.ones(2)
# ---- fails debug visualize
import jax, jax.numpy as jnp
jax.debug.visualize_array_sharding(jnp.ones((2, 2, 2)))
# ---- fails debug breakpoint
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    def debug(x):
        jax.debug.breakpoint()
        return x
    y = jax.lax.cond(x.sum() > 100, debug, lambda x: x, x)
    return y @ jnp.ones(4)
f(jnp.ones(3))
# ---- passes debug callback
import jax, jax.numpy as jnp
seen = []
@jax.jit
def f(x):
    jax.debug.callback(lambda x, *, n: seen.append(n), x, n=3, ordered=True)
    return x + 1
result = f(jnp.ones(2))
# ---- passes checkify sets
import jax, jax.numpy as jnp
from jax.experimental import checkify
def f(x, i):
    return jnp.log(x)[i]
checked = checkify.checkify(f, errors=checkify.float_checks | checkify.index_checks)
err, result = jax.jit(checked)(jnp.ones(3), 1)
# ---- fails checkify index
import jax, jax.numpy as jnp
from jax.experimental import checkify
def f(x, i):
    return jnp.log(x)[i]
checked = checkify.checkify(f, errors=checkify.float_checks | checkify.index_checks)
err, out = jax.jit(checked)(jnp.ones(3), 5)
err.throw()
# ---- fails checkify user
import jax, jax.numpy as jnp
from jax.experimental import checkify
def f(x):
    checkify.check(x.sum() > 10, "sum is {s}, not \"enough\"", s=x.sum())
    return x
err, out = checkify.checkify(jax.jit(f))(jnp.ones(3))
checkify.check_error(err)
# ---- passes export shapes
import jax, jax.numpy as jnp
from jax import export
n, m = export.symbolic_shape("n, m")
exported = export.export(jax.jit(lambda x: x.sum(0)))(jax.ShapeDtypeStruct((n, m), jnp.float32))
result = exported.call(jnp.ones((2, 3)))
# ---- fails export shapes
import jax, jax.numpy as jnp
from jax import export
shape = export.symbolic_shape("n, m", constraints=["n >= 2"])
export.export(jax.jit(lambda x: x.reshape(3, -1)))(jax.ShapeDtypeStruct(shape, jnp.float32))
# ---- passes lax.linalg
import jax, jax.numpy as jnp
from jax.lax import linalg
a = jnp.array([[2.0, 1.0], [1.0, 3.0]])
@jax.jit
def f(a):
    return linalg.cholesky(a), linalg.eigh(a), linalg.svd(a), linalg.qr(a), linalg.lu(a), linalg.triangular_solve(a, a)
result = f(a)
# ---- fails lax.linalg
import jax, jax.numpy as jnp
jax.jit(jax.lax.linalg.cholesky)(jnp.ones((2, 3)))
# ---- passes sparse
import jax, jax.numpy as jnp
from jax.experimental import sparse
m = sparse.BCOO.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
result = jax.jit(lambda m, x: m @ x)(m, jnp.ones(2))
result = m.todense() + result
# ---- fails sparse
import jax, jax.numpy as jnp
from jax.experimental import sparse
m = sparse.BCOO.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
jax.jit(lambda m, x: m @ x)(m, jnp.ones(3))
# ---- passes sparsify
import jax, jax.numpy as jnp
from jax.experimental import sparse
m = sparse.BCOO((jnp.ones(2), jnp.array([[0, 1], [1, 0]])), shape=(2, 2))
result = sparse.sparsify(lambda m, x: (m * 2) @ x)(m, jnp.ones(2))
# ---- fails sparsify
import jax, jax.numpy as jnp
from jax.experimental import sparse
m = sparse.BCOO((jnp.ones(2), jnp.array([[0, 1], [1, 0]])), shape=(2, 2))
sparse.sparsify(lambda m: jnp.sort(m))(m)
# ---- passes odeint
import jax, jax.numpy as jnp
from jax.experimental.ode import odeint
result = odeint(lambda y, t, k: -k * y, jnp.ones(2), jnp.linspace(0.0, 1.0, 3), 0.5)
# ---- fails odeint
import jax, jax.numpy as jnp
from jax.experimental.ode import odeint
jax.grad(lambda k: odeint(lambda y, t, k: jnp.stack([y, y]) * k, jnp.ones(2), jnp.linspace(0.0, 1.0, 3), k).sum())(0.5)
# ---- passes jet
import jax, jax.numpy as jnp
from jax.experimental.jet import jet
result = jet(lambda x: jnp.sin(x) * x, (1.0,), ((1.0, 0.0),))
# ---- fails jet
import jax, jax.numpy as jnp
from jax.experimental.jet import jet
jet(lambda x: jnp.linalg.svd(x)[1].sum(), (jnp.ones((2, 2)),), ((jnp.ones((2, 2)),),))
# ---- passes ravel_pytree
import jax, jax.numpy as jnp
from jax.flatten_util import ravel_pytree
params = {"w": jnp.ones((2, 2)), "b": jnp.zeros(2)}
flat, unravel = ravel_pytree(params)
@jax.jit
def loss(flat):
    p = unravel(flat)
    return jnp.sum((p["w"] @ jnp.ones(2) + p["b"]) ** 2)
result = jax.grad(loss)(flat)
# ---- fails ravel_pytree
import jax, jax.numpy as jnp
from jax.flatten_util import ravel_pytree
flat, unravel = ravel_pytree({"w": jnp.ones((2, 2)), "b": jnp.zeros(2)})
jax.jit(lambda v: unravel(v)["w"])(jnp.ones(5))
# ---- fails ravel_pytree used
import jax, jax.numpy as jnp
from jax.flatten_util import ravel_pytree
flat, unravel = ravel_pytree({"w": jnp.ones((2, 2)), "b": jnp.zeros(2)})
jax.jit(lambda v: unravel(v)["w"] @ jnp.ones(3))(flat)
# ---- passes tree functions
import jax, jax.numpy as jnp
params = {"a": [jnp.ones(2), jnp.zeros(3)], "b": (jnp.arange(3),)}
@jax.jit
def f(p):
    p = jax.tree.map(lambda x: x * 2, p)
    p = jax.tree_util.tree_map_with_path(lambda path, x: x + len(path), p)
    leaves, treedef = jax.tree.flatten(p)
    total = jax.tree.reduce(lambda a, b: a + b.sum(), p, 0.0)
    return jax.tree.unflatten(treedef, leaves), total, jax.tree.leaves(p)[0]
result = f(params)
# ---- fails tree functions
import jax, jax.numpy as jnp
@jax.jit
def f(p, q):
    return jax.tree.map(jnp.add, p, q)
f({"a": jnp.ones(2)}, {"b": jnp.ones(2)})
# ---- passes eval_shape struct
import jax, jax.numpy as jnp
def init(key, like):
    return {"w": jax.random.normal(key, like.shape), "n": jnp.zeros((), int)}
shapes = jax.eval_shape(init, jax.random.key(0), jax.ShapeDtypeStruct((3, 2), jnp.float32))
result = jax.jit(lambda: jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes))()
# ---- fails eval_shape struct
import jax, jax.numpy as jnp
jax.eval_shape(lambda x, y: x @ y, jax.ShapeDtypeStruct((3, 2), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.bfloat16))
# ---- passes distributions
import jax, jax.numpy as jnp
key = jax.random.key(1)
@jax.jit
def sample(key):
    keys = jax.random.split(key, 12)
    r = jax.random
    return (r.normal(keys[0], (2,)), r.uniform(keys[1], (2,), minval=1.0, maxval=2.0), r.bernoulli(keys[2], 0.3, (3,)),
            r.categorical(keys[3], jnp.zeros((2, 3))), r.gamma(keys[4], 2.0, (2,)), r.beta(keys[5], 1.0, 2.0),
            r.dirichlet(keys[6], jnp.ones(3)), r.randint(keys[7], (2,), 0, 10), r.permutation(keys[8], 5),
            r.choice(keys[9], jnp.arange(5), (2,), replace=False), r.multivariate_normal(keys[10], jnp.zeros(2), jnp.eye(2)),
            r.truncated_normal(keys[11], -1.0, 1.0, (2,)))
result = sample(key)
# ---- fails distributions
import jax, jax.numpy as jnp
jax.jit(lambda key: jax.random.multivariate_normal(key, jnp.zeros(3), jnp.eye(2)))(jax.random.key(0))
# ---- fails choice
import jax, jax.numpy as jnp
jax.random.choice(jax.random.key(0), 3, (5,), replace=False)
# ---- fails gamma shape
import jax, jax.numpy as jnp
jax.vmap(lambda key: jax.random.gamma(key, jnp.ones(3), (2,)))(jax.random.split(jax.random.key(0), 4))
# ---- passes array methods
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    y = x.reshape(2, -1).T.astype(jnp.float32).mean(axis=0).clip(0, 1)
    return y.at[0].add(1.0).cumsum().argmax(), x.std(), x.ravel().sort()[::-1], x.any(), x.conj().real, x.nbytes
result = f(jnp.arange(6.0))
# ---- fails array methods
import jax, jax.numpy as jnp
jax.jit(lambda x: x.reshape(2, 3).swapaxes(0, 2))(jnp.arange(6.0))
# ---- fails array astype
import jax, jax.numpy as jnp
jnp.arange(3).view(jnp.int8).squeeze(0)
# ---- passes vectorize signature
import jax, jax.numpy as jnp, functools
@functools.partial(jnp.vectorize, signature="(n,m),(m)->(n)", excluded=(2,))
def matvec(a, x, scale):
    return (a @ x) * scale
result = matvec(jnp.ones((4, 2, 3)), jnp.ones(3), 2.0)
# ---- fails vectorize signature
import jax, jax.numpy as jnp, functools
@functools.partial(jnp.vectorize, signature="(n,m),(m)->(n)")
def matvec(a, x):
    return a @ x
matvec(jnp.ones((4, 2, 3)), jnp.ones(4))
# ---- passes image
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    y = jax.image.resize(x, (2, 2), method="bilinear")
    return y, jax.image.scale_and_translate(x, (4, 4), (0, 1), jnp.ones(2), jnp.zeros(2), "linear")
result = f(jnp.ones((4, 4)))
# ---- passes interpolation
import jax, jax.numpy as jnp
from jax.scipy.ndimage import map_coordinates
result = map_coordinates(jnp.arange(9.0).reshape(3, 3), [jnp.array([0.5]), jnp.array([1.5])], order=1)
# ---- fails interpolation
import jax, jax.numpy as jnp
from jax.scipy.ndimage import map_coordinates
map_coordinates(jnp.arange(9.0).reshape(3, 3), [jnp.array([0.5])], order=1)
# ---- passes minimize
import jax, jax.numpy as jnp
from jax.scipy.optimize import minimize
result = minimize(lambda x: jnp.sum((x - 1) ** 2), jnp.zeros(2), method="BFGS")
# ---- fails minimize
import jax, jax.numpy as jnp
from jax.scipy.optimize import minimize
minimize(lambda x: (x - 1) ** 2, jnp.zeros(2), method="BFGS")
# ---- passes cg
import jax, jax.numpy as jnp
from jax.scipy.sparse.linalg import cg
result = cg(lambda x: 2 * x, jnp.ones(3))[0]
# ---- fails cg
import jax, jax.numpy as jnp
from jax.scipy.sparse.linalg import cg
cg(lambda x: x[:2], jnp.ones(3))
# ---- passes optimization barrier
import jax, jax.numpy as jnp
result = jax.jit(lambda x: jax.lax.optimization_barrier((x, x * 2)))(jnp.ones(2))
# ---- passes collectives
import jax, jax.numpy as jnp
@jax.vmap
def _(x):
    return x
def f(x):
    return x - jax.lax.pmean(x, "i"), jax.lax.axis_index("i"), jax.lax.all_gather(x, "i"), jax.lax.psum(1, "i")
result = jax.vmap(f, axis_name="i")(jnp.arange(4.0))
# ---- fails collectives
import jax, jax.numpy as jnp
jax.vmap(lambda x: jax.lax.psum(x, "batch"), axis_name="i")(jnp.ones(3))
# ---- fails ppermute
import jax, jax.numpy as jnp
jax.vmap(lambda x: jax.lax.ppermute(x, "i", [(0, 1), (1, 5)]), axis_name="i")(jnp.ones(2))
