# ruff: noqa
# ---- fails vector field
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr


class Field(eqx.Module):
    mlp: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.mlp(y)


class Model(eqx.Module):
    field: Field

    def __call__(self, ts, y0):
        term, times = diffrax.ODETerm(self.field), diffrax.SaveAt(ts=ts)
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), ts[0], ts[-1], ts[1] - ts[0], y0, saveat=times).ys


@eqx.filter_jit
@eqx.filter_value_and_grad
def loss(model, ts, ys):
    return jnp.mean((jax.vmap(model, in_axes=(None, 0))(ts, ys[:, 0]) - ys) ** 2)


model = Model(Field(eqx.nn.MLP(2, 3, 8, 1, key=jr.PRNGKey(0))))
print(loss(model, jnp.linspace(0.0, 2.0, 8), jnp.ones((6, 8, 2))))
# ---- fails key arithmetic
import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr


@eqx.filter_jit
def sample(drift, ts, key):
    path = diffrax.VirtualBrownianTree(ts[0], ts[-1], tol=1e-2, shape=(2,), key=key + 1)
    noise = diffrax.ControlTerm(lambda t, y, args: 0.3 * jnp.eye(2), path)
    terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, args: drift(y)), noise)
    return diffrax.diffeqsolve(terms, diffrax.Euler(), ts[0], ts[-1], 0.1, jnp.zeros(2)).ys


drift = eqx.nn.MLP(2, 2, 8, 1, key=jr.key(0))
print(jax.vmap(sample, (None, None, 0))(drift, jnp.linspace(0.0, 1.0, 5), jr.split(jr.key(1), 4)))
