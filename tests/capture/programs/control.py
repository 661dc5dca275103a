# ruff: noqa
# ---- passes scan
import jax, jax.numpy as jnp
def step(carry, x):
    carry = {"h": carry["h"] * 0.5 + x["a"], "n": carry["n"] + 1}
    return carry, (carry["h"].sum(), x["b"])
result = jax.lax.scan(step, {"h": jnp.zeros(2), "n": 0}, {"a": jnp.ones((3, 2)), "b": jnp.arange(3)})
# ---- fails scan
import jax, jax.numpy as jnp
def step(carry, x):
    return {"h": carry["h"].astype(jnp.bfloat16), "n": carry["n"]}, None
jax.lax.scan(step, {"h": jnp.zeros(2), "n": 0}, jnp.ones((3, 2)))
# ---- fails scan structure
import jax, jax.numpy as jnp
def step(carry, x):
    h, c = carry
    return (h, c, x), h
jax.lax.scan(step, (jnp.zeros(2), jnp.zeros(2)), jnp.ones((3, 2)))
# ---- passes scan length
import jax, jax.numpy as jnp
def fib(carry, _):
    a, b = carry
    return (b, a + b), a
result = jax.lax.scan(fib, (0, 1), None, length=8, unroll=2)
# ---- fails scan length
import jax, jax.numpy as jnp
jax.lax.scan(lambda c, x: (c, x), 0.0, {"a": jnp.ones(3), "b": jnp.ones(4)})
# ---- passes map
import jax, jax.numpy as jnp
result = jax.lax.map(lambda p: p["x"] * p["y"], {"x": jnp.arange(4.0), "y": jnp.ones(4)}, batch_size=2)
# ---- fails map
import jax, jax.numpy as jnp
jax.lax.map(lambda x: jnp.dot(x, jnp.ones(4)), jnp.ones((2, 3)))
# ---- passes while
import jax, jax.numpy as jnp
limit = jnp.array(10)
result = jax.lax.while_loop(lambda s: s[0] < limit, lambda s: (s[0] + 1, s[1] * 1.5), (0, jnp.ones(2)))
# ---- fails while
import jax, jax.numpy as jnp
jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] > 0), (0, jnp.ones(2)))
# ---- fails while condition
import jax, jax.numpy as jnp
jax.lax.while_loop(lambda x: x < 3, lambda x: x + 1, jnp.ones(2))
# ---- fails while reverse
import jax, jax.numpy as jnp
def f(x):
    return jax.lax.while_loop(lambda x: x < 3, lambda x: x * 2, x)
jax.grad(f)(1.0)
# ---- passes fori
import jax, jax.numpy as jnp
@jax.jit
def power(x, n):
    return jax.lax.fori_loop(0, n, lambda i, y: y * x + i, jnp.ones_like(x))
result = power(jnp.arange(3.0), 4)
# ---- fails fori
import jax, jax.numpy as jnp
jax.lax.fori_loop(0, 3, lambda i, x: x.at[i].set(jnp.ones(5)), jnp.zeros((3, 4)))
# ---- passes cond
import jax, jax.numpy as jnp
@jax.jit
def f(flag, x):
    return jax.lax.cond(flag, lambda x: x * 2, lambda x: x - 1, x)
result = f(True, jnp.arange(3.0))
# ---- fails cond
import jax, jax.numpy as jnp
jax.lax.cond(True, lambda x: x * 2, lambda x: x.astype(int), jnp.arange(3.0))
# ---- fails cond structure
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return jax.lax.cond(x.sum() > 0, lambda: (x, x), lambda: {"a": x})
f(jnp.ones(2))
# ---- fails cond predicate
import jax, jax.numpy as jnp
jax.lax.cond(jnp.array([True, False]), lambda: 1, lambda: 2)
# ---- passes switch
import jax, jax.numpy as jnp
branches = [lambda x: x, jnp.sin, lambda x: x * 3]
result = jax.lax.switch(2, branches, jnp.arange(3.0))
# ---- passes switch traced
import jax, jax.numpy as jnp
branches = [lambda x: x, jnp.sin, lambda x: x * 3]
result = jax.jit(lambda i, x: jax.lax.switch(i, branches, x))(2, jnp.arange(3.0))
# ---- fails switch
import jax, jax.numpy as jnp
jax.lax.switch(1, [lambda x: x, lambda x: x[:2]], jnp.arange(3.0))
# ---- fails switch index
import jax, jax.numpy as jnp
jax.lax.switch(1.5, [lambda x: x, lambda x: x * 2], jnp.arange(3.0))
# ---- passes associative_scan
import jax, jax.numpy as jnp
result = jax.lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] + b[1]), (jnp.arange(1.0, 5.0), jnp.arange(4.0)))
# ---- fails associative_scan
import jax, jax.numpy as jnp
jax.lax.associative_scan(jnp.add, (jnp.ones(3), jnp.ones(4)))
# ---- passes select
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    y = jnp.where(x > 1, x, -x)
    return jax.lax.select(x > 0, y, jnp.zeros_like(y))
result = f(jnp.arange(3.0))
# ---- fails select
import jax, jax.numpy as jnp
jax.lax.select(jnp.array([True, False]), jnp.ones(2), jnp.ones(3))
# ---- passes custom_root
import jax, jax.numpy as jnp
def sqrt(x):
    f = lambda y: y ** 2 - x
    def solve(f, y):
        return jax.lax.fori_loop(0, 10, lambda i, y: y - f(y) / (2 * y), y)
    return jax.lax.custom_root(f, x, solve, lambda g, y: y / g(1.0))
result = jax.grad(sqrt)(2.0)
# ---- fails custom_root
import jax, jax.numpy as jnp
jax.lax.custom_root(lambda y: y ** 2 - 2.0, 1.0, lambda f, y: jnp.reshape(y, 2), lambda g, y: y / g(1.0))
# ---- passes custom_linear_solve
import jax, jax.numpy as jnp
A = jnp.array([[2.0, 1.0], [1.0, 3.0]])
def solve(matvec, b):
    return jnp.linalg.solve(A, b)
result = jax.lax.custom_linear_solve(lambda x: A @ x, jnp.ones(2), solve, symmetric=True)
# ---- fails custom_linear_solve
import jax, jax.numpy as jnp
A = jnp.ones((2, 3))
jax.lax.custom_linear_solve(lambda x: A @ x, jnp.ones(2), lambda mv, b: b, symmetric=True)
# ---- fails if tracer
import jax, jax.numpy as jnp
@jax.jit
def relu(x):
    if x > 0:
        return x
    return 0.0
relu(1.0)
# ---- fails float tracer
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return jnp.ones(3) * float(x.sum())
f(jnp.ones(3))
# ---- fails int tracer
import jax, jax.numpy as jnp
@jax.jit
def f(x, n):
    return jnp.zeros(n) + x
f(1.0, 3)
# ---- fails iterate tracer
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return [y for y in x]
f(jnp.array(1.0))
# ---- passes iterate tracer
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    total = 0.0
    for row in x:
        total = total + row.sum()
    a, b = x
    return total * a
result = f(jnp.arange(6.0).reshape(2, 3))
# ---- fails tracer index
import jax, jax.numpy as jnp
@jax.jit
def f(x, i):
    return [1, 2, 3][i] * x
f(1.0, 2)
# ---- fails tracer boolean index
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    return x[x > 0]
f(jnp.ones(3))
# ---- fails numpy on tracer
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def f(x):
    y = x * 2
    return np.sin(y)
f(jnp.ones(3))
# ---- fails numpy array of tracer
import jax, jax.numpy as jnp, numpy as np
@jax.jit
def f(x):
    return np.asarray(x * 2).mean()
f(jnp.ones(3))
# ---- fails range of tracer
import jax, jax.numpy as jnp
@jax.jit
def f(n):
    x = 0
    for i in range(n):
        x += i
    return x
f(3)
# ---- fails item
import jax, jax.numpy as jnp
jax.vmap(lambda x: jnp.sum(x).item())(jnp.ones((2, 3)))
# ---- fails leaked
import jax, jax.numpy as jnp
kept = []
@jax.jit
def f(x):
    y = jnp.sin(x)
    kept.append(y)
    return y
f(1.0)
kept[0] + 1
# ---- fails leaked into
import jax, jax.numpy as jnp
class Counter:
    total = 0.0
counter = Counter()
@jax.jit
def f(x):
    counter.total = counter.total + x
    return x * 2
f(1.0)
f(jnp.ones(2))
# ---- fails leaked from scan
import jax, jax.numpy as jnp
kept = []
def body(c, x):
    kept.append(c * 2)
    return c + x, None
@jax.jit
def f(xs):
    c, _ = jax.lax.scan(body, 0.0, xs)
    return c + kept[0]
f(jnp.ones(3))
# ---- fails leaked by nonlocal
import jax, jax.numpy as jnp
def train(x):
    best = None
    @jax.jit
    def loss(x):
        nonlocal best
        best = x.max()
        return x.sum()
    loss(x)
    return best * 2
train(jnp.ones(3))
# ---- fails leaked from vmap
import jax, jax.numpy as jnp
seen = {}
def norm(x):
    seen["norm"] = jnp.linalg.norm(x)
    return x / seen["norm"]
jax.vmap(norm)(jnp.ones((2, 3)))
jnp.log(seen["norm"])
# ---- fails leaked from grad
import jax, jax.numpy as jnp
class Model:
    def loss(self, w):
        self.activations = jnp.tanh(w)
        return self.activations.sum()
model = Model()
jax.grad(model.loss)(jnp.ones(3))
jnp.mean(model.activations)
# ---- fails leaked from while
import jax, jax.numpy as jnp
history = []
def body(x):
    history.append(x)
    return x * 2
@jax.jit
def run(x):
    x = jax.lax.while_loop(lambda x: x < 10, body, x)
    return x, jnp.stack(history)
run(1.0)
# ---- fails leaked from cond
import jax, jax.numpy as jnp
kept = []
def positive(x):
    kept.append({"a": x, "b": [x + 1]})
    return x
def f(x):
    return jax.lax.cond(x > 0, positive, lambda x: -x, x) + kept[0]["b"][0]
jax.grad(f)(1.0)
# ---- fails leaked key
import jax, jax.numpy as jnp
class Rng:
    def __init__(self):
        self.key = jax.random.key(0)
    def next(self):
        self.key, sub = jax.random.split(self.key)
        return sub
rng = Rng()
@jax.jit
def dropout(x):
    return x * jax.random.bernoulli(rng.next(), 0.5, x.shape)
dropout(jnp.ones(3))
dropout(jnp.ones(4))
# ---- fails leaked from eval_shape
import jax, jax.numpy as jnp
params = {}
def init(x):
    params["w"] = jnp.ones((3, 2)) * x[0]
    return x @ params["w"]
jax.eval_shape(init, jnp.ones(3))
jax.jit(lambda x: x @ params["w"])(jnp.ones(3))
# ---- fails leaked twice
import jax, jax.numpy as jnp
kept = []
@jax.jit
def f(x, y):
    kept.extend([x * 2, y["a"]])
    return x
f(jnp.ones(2), {"a": jnp.ones(2)})
kept[0] @ kept[1]
# ---- fails leaked and read
import jax, jax.numpy as jnp
kept = []
jax.jit(lambda x: kept.append(x))(jnp.ones(2))
float(kept[0].sum())
# ---- fails leaked argument
import jax, jax.numpy as jnp
kept = []
jax.jit(lambda x: kept.append(x))(jnp.ones(2))
jax.jit(lambda x: x + 1)(kept[0])
# ---- fails leaked is checked
import jax, jax.numpy as jnp
kept = []
with jax.checking_leaks():
    @jax.jit
    def f(x):
        kept.append(x * 2)
        return x
    f(jnp.ones(2))
# ---- passes kept from outside
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    kept = []
    def row(y):
        kept.append(jnp.cos(x))
        return y * 2
    z = jax.vmap(row)(jnp.ones((2, 3)))
    return z.sum() + kept[0]
result = f(1.0)
# ---- passes caught
import jax, jax.numpy as jnp
def sizes(x):
    try:
        return jnp.reshape(x, (2, 2))
    except TypeError:
        return jnp.reshape(x, (3, 1))
a = sizes(jnp.arange(3.0))
@jax.jit
def f(x):
    try:
        return jnp.dot(x, jnp.ones(5))
    except TypeError:
        return jnp.dot(x, x)
result = f(a[:, 0]) + a
# ---- fails after caught
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    try:
        y = jnp.dot(x, jnp.ones(5))
    except TypeError:
        y = jnp.dot(x, x)
    return jnp.concatenate([y, x])
f(jnp.ones(3))
# ---- fails own error
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    y = jnp.sin(x)
    return {"a": y}["b"]
f(jnp.ones(3))
# ---- fails own error text
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    if x.shape[0] != 4:
        raise ValueError(f"it's a \"bad\" shape\\: {x.shape},\nnot (4,)")
    return x
f(jnp.ones(3))
# ---- fails own class of error
import jax, jax.numpy as jnp
class ShapeError(ValueError):
    pass
def f(c, x):
    raise ShapeError("bad", c.shape)
jax.lax.scan(f, jnp.ones(3), jnp.ones(3))
# ---- fails assertion
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    assert x.ndim == 2
    return x
f(jnp.ones(3))
