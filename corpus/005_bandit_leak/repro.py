"""Thompson sampling against a few rivals, on a contextual bandit."""
import abc
import itertools
import time
from functools import partial, wraps

import jax
import jax.numpy as jnp
import numpy as np


def timed(fn):
    @wraps(fn)
    def inner(*args, **kwargs):
        begin = time.perf_counter()
        try:
            return fn(*args, **kwargs)
        finally:
            inner.seconds += time.perf_counter() - begin

    inner.seconds = 0.0
    return inner


class Policy(abc.ABC):
    name = "abstract"

    def __init__(self, arms, dim):
        self.arms, self.dim = arms, dim

    @abc.abstractmethod
    def choose(self, key, context): ...

    def learn(self, context, arm, reward):
        pass


class Uniform(Policy):
    name = "uniform"

    def choose(self, key, context):
        return int(jax.random.randint(key, (), 0, self.arms))


class Thompson(Policy):
    name = "thompson"

    def __init__(self, arms, dim, noise=0.3):
        super().__init__(arms, dim)
        self.noise = noise
        self.precision = np.stack([np.eye(dim, dtype=np.float32)] * arms)
        self.target = np.zeros((arms, dim), np.float32)
        self.last_draw = None

    @partial(jax.jit, static_argnums=0)
    def scores(self, key, precision, target, context):
        cov = jnp.linalg.inv(precision)
        mean = jnp.einsum("aij,aj->ai", cov, target)
        chol = jnp.linalg.cholesky(cov)
        draw = mean + self.noise * jnp.einsum("aij,aj->ai", chol, jax.random.normal(key, mean.shape))
        self.last_draw = draw  # for the plot at the end
        return draw @ context

    @timed
    def choose(self, key, context):
        return int(self.scores(key, self.precision, self.target, context).argmax())

    def learn(self, context, arm, reward):
        self.precision[arm] += np.outer(context, context)
        self.target[arm] += reward * context


class World:
    def __init__(self, arms=3, dim=4, seed=0):
        self.rng = np.random.default_rng(seed)
        self.weights = self.rng.normal(size=(arms, dim)).astype(np.float32)

    def contexts(self):
        while True:
            yield self.rng.normal(size=self.weights.shape[1]).astype(np.float32)

    def pull(self, arm, context):
        return float(self.weights[arm] @ context + 0.3 * self.rng.normal())


def play(policy, rounds, seed=0):
    world, regret = World(seed=seed), 0.0
    for i, context in enumerate(itertools.islice(world.contexts(), rounds)):
        arm = policy.choose(jax.random.PRNGKey(i), context)
        reward = world.pull(arm, context)
        policy.learn(context, arm, reward)
        regret += float((world.weights @ context).max()) - reward
    return regret / rounds


if __name__ == "__main__":
    rivals = [Uniform(3, 4), Thompson(3, 4)]
    for policy in rivals:
        print(f"{policy.name:>10}: {play(policy, 20):.3f}")
    spread = jnp.std(rivals[-1].last_draw, axis=0)
    print("spread of the last draw", spread, f"after {Thompson.choose.seconds:.1f} s")
