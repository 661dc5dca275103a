# ruff: noqa
# ---- fails branches
import collections

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

Transition = collections.namedtuple("Transition", "seen action reward next")


class Agent:
    def __init__(self, epsilon=0.1):
        self.net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([16, 4])(hk.Flatten()(x))))
        self.optimiser, self.epsilon = optax.adam(1e-3), epsilon
        self.act, self.update = jax.jit(self._act), jax.jit(self._update)

    def _act(self, params, key, seen):
        def explore(key):
            return jax.random.randint(key, (1,), 0, 4)

        def exploit(key):
            return jnp.argmax(self.net.apply(params, seen[None])[0])

        first, second = jax.random.split(key)
        return jax.lax.cond(jax.random.uniform(first) < self.epsilon, explore, exploit, second)

    def _update(self, params, state, batch):
        def loss(params):
            values = jnp.take_along_axis(self.net.apply(params, batch.seen), batch.action[:, None], 1)[:, 0]
            return jnp.mean((values - batch.reward - self.net.apply(params, batch.next).max(-1)) ** 2)

        changes, state = self.optimiser.update(jax.grad(loss)(params), state)
        return optax.apply_updates(params, changes), state


agent, key = Agent(), jax.random.PRNGKey(42)
params = agent.net.init(key, jnp.zeros((1, 4, 4)))
batch = Transition(np.ones((8, 4, 4)), np.zeros(8, int), np.ones(8), np.ones((8, 4, 4)))
params, state = agent.update(params, agent.optimiser.init(params), batch)
print(agent.act(params, key, np.ones((4, 4))))
# ---- fails boolean index
import haiku as hk
import jax
import numpy as np


def score(tokens):
    embedded = hk.Embed(10, 4)(tokens)
    kept = hk.LayerNorm(-1, True, True)(embedded)[tokens > 0]
    return hk.Linear(1)(kept).mean()


model = hk.without_apply_rng(hk.transform(score))
tokens = np.array([[1, 2, 0], [3, 0, 0]])
params = model.init(jax.random.PRNGKey(0), tokens)
print(model.apply(params, tokens))
print(jax.jit(model.apply)(params, tokens))
# ---- fails reset core
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


class Encoder(hk.Module):
    def __call__(self, tokens):
        core = hk.ResetCore(hk.LSTM(12))
        state = core.initial_state(tokens.shape[0] // 2)
        embedded = jnp.swapaxes(hk.Embed(11, 8)(tokens), 0, 1)
        out, _ = hk.dynamic_unroll(core, (embedded, jnp.zeros(tokens.shape).T), state)
        return hk.Linear(3)(out[-1])


model = hk.transform(lambda tokens: Encoder()(tokens))
print(jax.jit(model.init)(jax.random.PRNGKey(0), np.ones((4, 5), int)))
# ---- fails strict types
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_numpy_dtype_promotion", "strict")


def net(x):
    scale = hk.get_parameter("scale", [16], jnp.float32, init=jnp.ones)
    return hk.Linear(2)(jax.nn.relu(hk.Linear(16)(x)) * scale)


def halved(params):
    return {name: jax.tree.map(lambda a: a.astype(jnp.bfloat16), of) if "linear" in name else of for name, of in params.items()}


model = hk.without_apply_rng(hk.transform(net))
x = np.ones((4, 8), np.float32)
params = model.init(jax.random.PRNGKey(0), x)
print(jax.jit(lambda params, x: model.apply(halved(params), x).mean())(params, x.astype(jnp.bfloat16)))
# ---- fails check at the third step
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.experimental import checkify

model = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 1])(x)[:, 0]))
optimiser = optax.sgd(0.1)


def update(params, state, x, y):
    def loss(params):
        checkify.check(jnp.all(y < 1.5), "target {largest} is out of range", largest=y.max())
        return jnp.mean((model.apply(params, x) - y) ** 2)

    changes, state = optimiser.update(jax.grad(loss)(params), state)
    return optax.apply_updates(params, changes), state


checked = jax.jit(checkify.checkify(update, errors=checkify.user_checks))
params = model.init(jax.random.PRNGKey(0), jnp.ones((1, 3)))
state = optimiser.init(params)
for step in range(3):
    error, (params, state) = checked(params, state, np.ones((6, 3)), np.full(6, float(step)))
    error.throw()
