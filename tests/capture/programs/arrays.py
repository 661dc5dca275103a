# ruff: noqa
# ---- passes random
import jax, jax.numpy as jnp
key = jax.random.key(3)
k1, k2 = jax.random.split(key)
w = jax.random.normal(k1, (2, 3))
x = jax.random.uniform(jax.random.fold_in(k2, 7), (3,))
result = w @ x
# ---- passes random old
import jax, jax.numpy as jnp
key = jax.random.PRNGKey(42)
key, sub = jax.random.split(key)
ks = jax.random.split(sub, 3)
@jax.jit
def init(keys):
    return [jax.random.normal(k, (2,)) for k in keys]
result = init(ks)
# ---- passes random sampling
import jax, jax.numpy as jnp
key = jax.random.key(0)
a = jax.random.permutation(key, 5)
b = jax.random.randint(key, (3,), 0, 10)
c = jax.random.categorical(key, jnp.log(jnp.array([0.2, 0.8])))
d = jax.random.choice(key, jnp.arange(4.0), (2,), replace=False)
result = (a.sum() + b.sum() + c) * d
# ---- fails random key
import jax, jax.numpy as jnp
jax.random.normal(jnp.ones(3), (2,))
# ---- fails random shape
import jax, jax.numpy as jnp
@jax.jit
def f(key, n):
    return jax.random.normal(key, (n, 2))
f(jax.random.key(0), 3)
# ---- fails random key arithmetic
import jax, jax.numpy as jnp
jax.random.key(0) + 1
# ---- fails random keys
import jax, jax.numpy as jnp
keys = jax.random.split(jax.random.key(0), 3)
jax.random.normal(keys, (2,))
# ---- passes at
import jax, jax.numpy as jnp
x = jnp.zeros((3, 4))
x = x.at[0].set(1.0)
x = x.at[1, 2:].add(5.0)
x = x.at[jnp.array([0, 2]), 0].multiply(3.0, mode="drop")
x = x.at[..., -1].max(0.5)
result = x.at[::2].apply(jnp.cos)
# ---- fails at
import jax, jax.numpy as jnp
@jax.jit
def f(x, y):
    return x.at[1:3, None].set(y)
f(jnp.zeros((4, 4)), jnp.ones((2, 3)))
# ---- fails at eager
import jax, jax.numpy as jnp
x = jnp.zeros((4, 4))
x.at[0, 0, 0].add(1)
# ---- fails set item
import jax, jax.numpy as jnp
x = jnp.zeros(3)
x[0] = 1.0
# ---- fails set item traced
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    x[0] = 2.0
    return x
f(jnp.zeros(3))
# ---- fails index
import jax, jax.numpy as jnp
jnp.ones((2, 3))[0, 1, 2]
# ---- fails index float
import jax, jax.numpy as jnp
jnp.ones((2, 3))[jnp.array([0.5])]
# ---- passes indexing
import jax, jax.numpy as jnp
x = jnp.arange(24.0).reshape(2, 3, 4)
y = x[0, ..., 1:] + x[1, jnp.array([0, 1, 2]), None, 0].T
i = jnp.array([2, 0])
result = x[:, i, ::-1][..., 0]
# ---- passes einsum
import jax, jax.numpy as jnp
a = jnp.arange(6.0).reshape(2, 3)
result = jnp.einsum("ij,kj->ik", a, a, precision="highest")
# ---- fails einsum
import jax, jax.numpy as jnp
jnp.einsum("ij,jk->ik", jnp.ones((2, 3)), jnp.ones((4, 5)))
# ---- fails einsum ellipsis
import jax, jax.numpy as jnp
@jax.jit
def attention(q, k):
    return jnp.einsum("...qd,...kd->...qk", q, k) / jnp.sqrt(q.shape[-1])
attention(jnp.ones((2, 4, 8)), jnp.ones((3, 4, 8)))
# ---- passes ufunc
import jax, jax.numpy as jnp
x = jnp.arange(6.0).reshape(2, 3)
a = jnp.add.reduce(x, axis=0)
b = jnp.add.accumulate(a)
c = jnp.multiply.outer(a, b)
result = jnp.add.at(c, jnp.array([0, 1]), 1.0, inplace=False)
# ---- fails ufunc
import jax, jax.numpy as jnp
jnp.add.reduce(jnp.ones((2, 3)), axis=5)
# ---- fails ufunc arguments
import jax, jax.numpy as jnp
jnp.add(jnp.ones(3), jnp.ones(4))
# ---- passes scalar types
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return jnp.float32(x) + jnp.int32(2) * jnp.float32(0.5)
result = f(2)
# ---- fails scalar types
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return jnp.dot(jnp.float16(x), jnp.ones((4, 2)))
f(jnp.arange(3))
# ---- passes dtypes
import jax, jax.numpy as jnp, numpy as np
x = jnp.arange(4)
a = x.astype("float32") + jnp.zeros(4, dtype=np.float32) + jnp.ones(4, jnp.bfloat16)
b = a.astype(np.dtype("int8")).astype(float).astype(jnp.dtype("float16"))
c = jnp.array([1, 2, 3, 4], dtype=complex) + b.astype(bool)
d = jnp.asarray([1.5], dtype=jnp.float8_e4m3fn).astype(jnp.float32)
result = jax.lax.convert_element_type(c.real, jnp.int32) + d
# ---- fails dtypes
import jax, jax.numpy as jnp, numpy as np
jax.lax.add(jnp.ones(3, jnp.bfloat16), jnp.ones(3, np.float32))
# ---- fails dtype name
import jax, jax.numpy as jnp
jnp.zeros(3, dtype="float31")
# ---- fails dtype object
import jax, jax.numpy as jnp, numpy as np
jnp.array(np.array([None, 1], dtype=object))
# ---- fails dtype string
import jax, jax.numpy as jnp, numpy as np
jnp.sum(np.array(["a", "b"]))
# ---- passes linalg
import jax, jax.numpy as jnp
a = jnp.array([[2.0, 1.0], [1.0, 3.0]])
q, r = jnp.linalg.qr(a)
u, s, vt = jnp.linalg.svd(q @ r)
l = jnp.linalg.cholesky(a)
w, v = jnp.linalg.eigh(a)
result = jnp.linalg.solve(l, s) + w
# ---- fails linalg
import jax, jax.numpy as jnp
jnp.linalg.cholesky(jnp.ones((2, 3)))
# ---- fails linalg rank
import jax, jax.numpy as jnp
@jax.jit
def f(a, b):
    return jnp.linalg.solve(a, b)
f(jnp.eye(3), jnp.ones((4, 2)))
# ---- passes scipy
import jax, jax.numpy as jnp
import jax.scipy as jsp
from jax.scipy.stats import norm
x = jnp.linspace(-1, 1, 5)
a = norm.logpdf(x, loc=0.5, scale=2.0)
b = jsp.special.logsumexp(a, axis=0)
result = jsp.linalg.solve_triangular(jnp.array([[1.0, 0.0], [2.0, 3.0]]), jnp.array([1.0, 2.0]), lower=True) + b
# ---- fails scipy
import jax, jax.numpy as jnp
from jax.scipy.special import logsumexp
@jax.jit
def f(x):
    return logsumexp(x, axis=2)
f(jnp.ones((3, 4)))
# ---- fails scipy linalg
import jax, jax.numpy as jnp
import jax.scipy as jsp
jsp.linalg.cho_solve((jnp.ones((2, 3)), True), jnp.ones(2))
# ---- passes image
import jax, jax.numpy as jnp
result = jax.image.resize(jnp.arange(16.0).reshape(4, 4), (2, 2), method="bilinear")
# ---- fails image
import jax, jax.numpy as jnp
jax.image.resize(jnp.ones((4, 4, 3)), (2, 2), method="bilinear")
# ---- passes nn
import jax, jax.numpy as jnp
x = jnp.arange(-2.0, 2.0)
y = jax.nn.softmax(jax.nn.gelu(x)) + jax.nn.relu(x) + jax.nn.one_hot(2, 4)
result = jax.nn.initializers.lecun_normal()(jax.random.key(0), (4, 2)).T @ jax.nn.silu(y)
# ---- fails nn
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return jax.nn.softmax(x, axis=3)
f(jnp.ones((2, 3)))
# ---- fails attention
import jax, jax.numpy as jnp
q = jnp.ones((2, 5, 4, 8))
jax.nn.dot_product_attention(q, q[..., :4], q)
# ---- passes windows
import jax, jax.numpy as jnp
x = jnp.arange(16.0).reshape(1, 4, 4, 1)
y = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
k = jnp.ones((2, 2, 1, 3))
z = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
result = jax.lax.reduce(z, 0.0, jax.lax.add, (1, 2)) + y.sum()
# ---- fails conv
import jax, jax.numpy as jnp
x = jnp.ones((1, 4, 4, 3))
jax.lax.conv_general_dilated(x, jnp.ones((2, 2, 4, 8)), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
# ---- fails reduce_window
import jax, jax.numpy as jnp
jax.lax.reduce_window(jnp.ones((4, 4)), 0.0, jax.lax.add, (2, 2, 2), (1, 1, 1), "VALID")
# ---- passes gather
import jax, jax.numpy as jnp
dn = jax.lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
g = jax.lax.gather(jnp.arange(12.0).reshape(4, 3), jnp.array([[0], [2]]), dn, (1, 3))
sn = jax.lax.ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
result = jax.lax.scatter_add(jnp.zeros((4, 3)), jnp.array([[1], [1]]), g, sn)
# ---- fails gather
import jax, jax.numpy as jnp
dn = jax.lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
jax.lax.gather(jnp.ones((4, 3)), jnp.array([[0], [2]]), dn, (1, 5))
# ---- fails scatter
import jax, jax.numpy as jnp
sn = jax.lax.ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
jax.lax.scatter_add(jnp.zeros((4, 3)), jnp.array([[1], [1]]), jnp.ones((2, 4)), sn)
# ---- passes dynamic
import jax, jax.numpy as jnp
x = jnp.arange(10.0)
y = jax.lax.dynamic_slice(x, (3,), (4,))
z = jax.lax.dynamic_update_slice_in_dim(x, y, 0, axis=0)
result = jax.lax.top_k(z, 3)
# ---- fails dynamic
import jax, jax.numpy as jnp
jax.lax.dynamic_slice(jnp.ones(3), (0,), (4,))
# ---- fails dot_general
import jax, jax.numpy as jnp
jax.lax.dot_general(jnp.ones((2, 3)), jnp.ones((2, 3)), (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)
# ---- fails eager
import jax, jax.numpy as jnp
jnp.ones((2, 3)) + jnp.ones((4,))
# ---- fails eager concatenate
import jax, jax.numpy as jnp
jnp.concatenate([jnp.ones((2, 3)), jnp.ones((2, 4))], axis=0)
# ---- fails requires ndarray
import jax, jax.numpy as jnp
jnp.sum([1.0, 2.0])
# ---- fails requires ndarray object
import jax, jax.numpy as jnp
class Thing:
    pass
jnp.sin(Thing())
# ---- fails rank
import jax, jax.numpy as jnp
jnp.transpose(jnp.ones((2, 3)), (0, 1, 2))
# ---- fails rank promotion
import jax, jax.numpy as jnp
jax.config.update("jax_numpy_rank_promotion", "raise")
jnp.ones((2, 3)) + jnp.ones(3)
# ---- fails strict promotion
import jax, jax.numpy as jnp
with jax.numpy_dtype_promotion("strict"):
    jnp.ones(3) + jnp.ones(3, int)
# ---- fails reshape
import jax, jax.numpy as jnp
x = jnp.ones((2, 3))
x.reshape(4, -1)
# ---- fails method
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return x.mean(axis=1).T.swapaxes(0, 3)
f(jnp.ones((2, 3)))
# ---- fails attribute
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return x.relu()
f(jnp.ones(2))
# ---- fails matmul operator
import jax, jax.numpy as jnp, numpy as np
np.ones((2, 3)) @ jnp.ones((2, 3))
# ---- fails in place operator
import jax, jax.numpy as jnp
x = jnp.ones(3)
x += jnp.ones(2)
# ---- fails bool of array
import jax, jax.numpy as jnp
if jnp.array([True, False]):
    pass
# ---- fails float of array
import jax, jax.numpy as jnp
float(jnp.ones(3))
# ---- fails hash
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return {x: 1}
f(1.0)
# ---- fails eager operator list
import jax, jax.numpy as jnp
jnp.ones(3) + [1, 2, 3]
# ---- fails none
import jax, jax.numpy as jnp
jnp.ones(3) * None
# ---- fails none in function
import jax, jax.numpy as jnp
class Layer:
    bias = None
@jax.jit
def f(x):
    return jnp.sin(x) + Layer.bias
f(jnp.ones(3))
# ---- fails order of none
import jax, jax.numpy as jnp
jnp.ones(3) < None
# ---- passes refused
import jax, jax.numpy as jnp
class Units:
    def __rmul__(self, x):
        return x * 2
result = jax.jit(lambda x: x * Units())(jnp.ones(3)) + jnp.ones(3) * Units()
# ---- passes big arrays
import jax, jax.numpy as jnp, numpy as np
data = np.arange(3000, dtype=np.float32).reshape(30, 100)
@jax.jit
def f(x):
    return x.mean(0) @ x.T
result = f(jnp.asarray(data)) + data[:, 0]
# ---- passes operators
import jax, jax.numpy as jnp
x = jnp.arange(1, 4)
y = -x + 2 - (3 - x) * x / 2
z = y // 1 + 7 % x + 2 ** x + (x & 1) + (x | 2) + (x ^ 3) + (x << 1) + (x >> 1) + ~x + abs(-x)
q, r = divmod(x, 2)
result = jnp.where((x > 1) & (x <= 3) | (x == 1) | (x != 2), z + q + r, 0)
# ---- passes tree
import jax, jax.numpy as jnp
params = {"a": jnp.ones(2), "b": (jnp.zeros(3), jnp.arange(2.0))}
grads = jax.tree.map(lambda p: p + 1, params)
params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
leaves, treedef = jax.tree.flatten(params)
again = jax.tree.unflatten(treedef, [l * 2 for l in leaves])
result = jnp.concatenate(jax.tree.leaves(again))
# ---- fails tree
import jax, jax.numpy as jnp
jax.tree.map(lambda a, b: a + b, {"a": jnp.ones(2)}, {"b": jnp.ones(2)})
# ---- fails tree inside
import jax, jax.numpy as jnp
jax.tree.map(lambda a, b: a + b, {"a": jnp.ones(2)}, {"a": jnp.ones(3)})
# ---- passes x64
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
x = jnp.arange(3.0) + jnp.float64(1e-12)
result = jnp.sum(x * 3)
# ---- passes numpy mixed
import jax, jax.numpy as jnp, numpy as np
w = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
x = jnp.asarray(w) @ np.ones(2, np.float32)
y = np.asarray(x) + 1
result = jnp.sum(jnp.asarray(y)) * np.float32(2)
# ---- passes fft
import jax, jax.numpy as jnp
result = jnp.fft.irfft(jnp.fft.rfft(jnp.arange(8.0)))
# ---- passes sorting
import jax, jax.numpy as jnp
x = jnp.array([3.0, 1.0, 2.0])
i = jnp.argsort(x)
u, c = jnp.unique(jnp.array([1, 2, 1]), return_counts=True)
result = jnp.sort(x)[i] + jnp.searchsorted(u, 2) + c[0]
# ---- passes array_function
import jax, jax.numpy as jnp
x = jnp.ones((2, 3))
a, b, c = jnp.split(x, 3, axis=1)
xx, yy = jnp.meshgrid(jnp.arange(2.0), jnp.arange(3.0))
result = jnp.hstack([a, b + c]) * jnp.max(xx) + jnp.pad(yy, ((0, 1), (0, 0)))[:2, :2]
# ---- passes ref
import jax, jax.numpy as jnp
if hasattr(jax, "new_ref"):
    ref = jax.new_ref(jnp.zeros(3))
    @jax.jit
    def f(x):
        ref[...] = x * 2
        ref[0] += 1.0
    f(jnp.arange(3.0))
    result = ref[...] + 1
else:
    result = jnp.array([2.0, 3.0, 5.0]) + 1
# ---- fails none below an array
import jax, jax.numpy as jnp
x = jnp.ones(3)
None <= x
# ---- fails none below a temporary
import jax, jax.numpy as jnp
None < jnp.ones(3)
# ---- fails none below a tracer
import jax, jax.numpy as jnp
jax.jit(lambda x: None > x)(jnp.ones(3))
