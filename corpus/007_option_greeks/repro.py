"""Monte Carlo prices and Greeks of a basket of options."""
import dataclasses
import math
from collections import defaultdict

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Market:
    spot: float
    rate: float
    vol: float

    def replace(self, **changes):
        return dataclasses.replace(self, **changes)


jax.tree_util.register_pytree_node(
    Market, lambda m: ((m.spot, m.rate, m.vol), None), lambda _, children: Market(*children)
)


@dataclasses.dataclass(frozen=True)
class Option:
    strike: float
    expiry: float
    kind: str = "call"

    def payoff(self, final):
        if self.kind == "call":
            return jnp.maximum(final - self.strike, 0.0)
        if self.kind == "put":
            return jnp.maximum(self.strike - final, 0.0)
        if self.kind == "digital":
            return jax.nn.sigmoid(20 * (final - self.strike))
        raise NotImplementedError(self.kind)


def paths(key, market, expiry, n=2000, steps=16):
    dt = expiry / steps
    z = jax.random.normal(key, (steps, n))

    def body(log_s, dz):
        log_s = log_s + (market.rate - market.vol**2 / 2) * dt + market.vol * math.sqrt(dt) * dz
        return log_s, None

    log_s, _ = jax.lax.scan(jax.checkpoint(body), jnp.full(n, jnp.log(market.spot)), z)
    return jnp.exp(log_s)


def price(market, option, key):
    final = paths(key, market, option.expiry)
    return jnp.exp(-market.rate * option.expiry) * option.payoff(final)


def greeks(market, option, key):
    g = jax.grad(price)(market, option, key)
    return {"delta": g.spot, "rho": g.rate, "vega": g.vol}


def black_scholes(market, option):
    d1 = (math.log(market.spot / option.strike) + (market.rate + market.vol**2 / 2) * option.expiry) / (
        market.vol * math.sqrt(option.expiry)
    )
    d2 = d1 - market.vol * math.sqrt(option.expiry)
    cdf = lambda x: (1 + math.erf(x / math.sqrt(2))) / 2
    return market.spot * cdf(d1) - option.strike * math.exp(-market.rate * option.expiry) * cdf(d2)


def main():
    market = Market(100.0, 0.02, 0.2)
    book = [Option(k, t, kind) for k in (90.0, 100.0) for t in (0.5, 1.0) for kind in ("call", "put", "digital")]
    total = defaultdict(float)
    key = jax.random.PRNGKey(0)
    for option in book:
        key, sub = jax.random.split(key)
        mc = np.mean(price(market, option, sub))
        exact = f" (exact {black_scholes(market, option):.3f})" if option.kind == "call" else ""
        print(f"{option}: {mc:.3f}{exact}")
        for name, value in greeks(market, option, sub).items():
            total[name] += value
    print(dict(total))


if __name__ == "__main__":
    main()
