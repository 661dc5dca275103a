# ruff: noqa
# ---- fails schedule of a list
import jax
import jax.numpy as jnp
import optax

RATES = [1e-2, 1e-3, 1e-4]


def schedule(step):
    return RATES[min(int(step) // 10, len(RATES) - 1)]


def update(params, state, x):
    gradients = jax.grad(lambda params: jnp.mean((x @ params["w"] + params["b"]) ** 2))(params)
    changes, state = optimiser.update(gradients, state)
    return optax.apply_updates(params, changes), state


optimiser = optax.chain(optax.scale_by_schedule(schedule), optax.scale(-1))
params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
params, state = update(params, optimiser.init(params), jnp.ones((4, 3)))
jax.jit(update)(params, state, jnp.ones((4, 3)))
# ---- fails another head
import jax
import jax.numpy as jnp
import optax


def labels(params):
    return {name: jax.tree.map(lambda _: "frozen" if name == "encoder" else "free", of) for name, of in params.items()}


optimiser = optax.multi_transform({"free": optax.adam(1e-3), "frozen": optax.set_to_zero()}, labels)
params = {"encoder": {"kernel": jnp.ones((5, 8))}, "head": {"kernel": jnp.ones((8, 3)), "bias": jnp.zeros(3)}}
state = optimiser.init(params)
for step in range(3):
    if step == 2:  # seven classes from now on
        params["head"] = {"kernel": jnp.ones((8, 7)), "bias": jnp.zeros(7)}
    changes, state = optimiser.update(jax.tree.map(jnp.ones_like, params), state, params)
    params = optax.apply_updates(params, changes)
# ---- fails features of scalars
import chex
import jax
import jax.numpy as jnp
import optax


@chex.dataclass
class Params:
    bias: chex.Array
    weights: chex.Array


def predict(params, x):
    return jnp.concatenate([x.mean(), x.std(), params.bias]) @ params.weights


optimiser = optax.MultiSteps(optax.adam(1e-3), every_k_schedule=2)
params = Params(bias=jnp.zeros(2), weights=jnp.ones(4))
state = optimiser.init(params)
gradients = jax.jit(jax.grad(lambda params, x: predict(params, x) ** 2))(params, jnp.arange(4.0))
optimiser.update(gradients, state, params)
# ---- fails checked rank
import chex
import jax
import jax.numpy as jnp
import optax


@chex.dataclass
class Batch:
    seen: chex.Array
    action: chex.Array
    before: chex.Array


def loss(params, batch):
    logits = jax.nn.log_softmax(batch.seen @ params)
    chosen = jnp.take_along_axis(logits, batch.action[:, None], -1)
    chex.assert_rank([chosen, batch.before], 1)
    return -jnp.mean(jnp.minimum(jnp.exp(chosen - batch.before), 1.2))


@jax.jit
def update(params, state, batch):
    changes, state = optimiser.update(jax.grad(loss)(params, batch), state)
    return optax.apply_updates(params, changes), state


params, optimiser = jnp.ones((5, 3)), optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3))
update(params, optimiser.init(params), Batch(seen=jnp.ones((8, 5)), action=jnp.zeros(8, int), before=jnp.zeros(8)))
