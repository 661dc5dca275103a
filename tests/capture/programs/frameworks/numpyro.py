# ruff: noqa
# ---- fails plates
import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(groups, x, y):
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
    with numpyro.plate("groups", groups.max() + 1):
        offset = numpyro.sample("offset", dist.Normal(mean, 1.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    spread = numpyro.sample("spread", dist.Exponential(1.0))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(offset + slope * x, spread), obs=y)  # not offset[groups]


rng = np.random.default_rng(0)
groups = np.repeat(np.arange(3), 4)
mcmc = MCMC(NUTS(model, target_accept_prob=0.9), num_warmup=5, num_samples=5, progress_bar=False)
mcmc.run(jax.random.PRNGKey(0), groups, rng.normal(size=12), rng.normal(size=12))
# ---- fails variational
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y, hidden):
    first = numpyro.sample("first", dist.Normal(0, 1).expand([x.shape[1], hidden]).to_event(2))
    second = numpyro.sample("second", dist.Normal(0, 1).expand([hidden]).to_event(1))
    logits = jnp.tanh(x @ first).reshape(x.shape[0], hidden + 1) @ second
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=logits), obs=y)


svi = SVI(model, AutoNormal(model), optax.adam(1e-2), Trace_ELBO())
svi.run(jax.random.PRNGKey(0), 5, np.ones((6, 3)), np.ones(6, int), 4, progress_bar=False)
