"""Mistakes of capture's own: the program goes on as without it, and the mistake is told."""

from __future__ import annotations

import battery
import pytest

PROGRAM = """
import functools, warnings
import jax, jax.numpy as jnp, numpy as np
from jax import lax

@jax.custom_vjp
def scaled(x):
    return x * 2
scaled.defvjp(lambda x: (scaled(x), x), lambda x, g: (g * 3 + x,))

@jax.custom_jvp
def squared(x):
    return x * x
squared.defjvp(lambda primals, tangents: (squared(*primals), tangents[0]))

def inner(x, params):
    with jax.named_scope("inner"):
        total = sum(row.sum() for row in x)
    warnings.warn("traced")
    first = functools.partial(jnp.multiply, 2.0)(params["w"])
    if len(kept) < 1:
        kept.append(total)
    return scaled(total) + squared(first.at[0].set(1).sum()), {"aux": x.T}

def tell(fun, *args):
    try:
        print(jax.tree.map(np.asarray, fun(*args)))
    except Exception as error:
        print(type(error).__name__, str(error).partition("\\n")[0])

kept, x, params = [], jnp.arange(6.0).reshape(2, 3), {"w": jnp.arange(2.0)}
tell(jax.jit(jax.value_and_grad(inner, has_aux=True)), x, params)
tell(jax.vmap(lambda row: lax.scan(lambda c, y: (c + y, c), 0.0, row)), x)
tell(jax.checkpoint(jnp.sin, policy=jax.checkpoint_policies.save_only_these_names("a")), x)
tell(lambda: jax.vjp(jnp.sin, 1.0)[1](2.0))
tell(lambda: jax.jit(lambda x: x + 1).lower(x).compile()(x))
tell(lambda: jax.pure_callback(lambda x: np.asarray(x) + 1, x, x))
tell(lambda: [float(one) for one in jnp.float32(x[0])])
tell(lambda: jnp.dot(x, x))
tell(lambda: x.reshape(7))
tell(lambda: None < x)
tell(lambda: jnp.broadcast_shapes((2,), (3,)))
tell(jax.jit(lambda x: None < x), x)
tell(lambda: jax.jit(lambda x: jnp.dot(x, scaled(x)))(x))
tell(lambda: kept[0] + 1)
tell(jax.grad(lambda x: x), x)
tell(lambda: 1 / 0)
with jax.disable_jit():
    tell(jax.jit(lambda x: x.at[1].add(x[0])), x)
"""

FAULTS = (
    "recorder.Session.taken", "recorder.Session.both", "recorder.Session._known", "recorder.Session._returned",
    "recorder.Session._expressions", "recorder.Session._ref", "recorder.Session.wrapped", "recorder.Session.reference",
    "recorder.Session._within", "recorder.place", "recorder.raised_by_program", "recorder.children", "recorder.Made",
    "tracing.bind", "tracing.traced", "tracing.Function", "tracing.Host", "tracing.refuse", "params._noted",
    "leaks.Left.keep", "wrappers.dressed", "wrappers.mark", "wrappers.mark_of", "wrappers.Objects.keep", "rules.Rules",
    "contexts.Context", "calls.Scope.know", "calls.Scope.find",
)  # fmt: skip
OF_FAILURES = ("recorder.Refused", "leaks.Left.of", "leaks.Left.found")
"""What is called for the record alone; the second where only failures are looked at. Each is made to fail."""

RUNS = """
from capture import calls, contexts, leaks, params, recorder, rules, tracing, wrappers

def failing_with(name):
    def fault(*args, **kwargs):
        raise RuntimeError(f"fault of {{name}}.")
    return fault

for name in {faults}:
    owner, _, attribute = name.rpartition(".")
    owner = eval(owner)
    before = getattr(owner, attribute)
    setattr(owner, attribute, failing_with(name))
    print("----")
    try:
        exec({program!r}, {{}})
    finally:
        setattr(owner, attribute, before)
"""


@pytest.fixture(scope="module")
def original(runner: battery.Runner) -> battery.Answer:
    (answer,) = runner.run([{"source": PROGRAM, "mode": "plain"}])
    assert answer["error"] is None, answer["trace"]
    return answer


@pytest.mark.parametrize(
    ("faults", "mode"),
    [(FAULTS[::2], "failing"), (FAULTS[1::2] + OF_FAILURES, "failing"),
     (FAULTS[::2], "everything"), (FAULTS[1::2], "everything")],
)  # fmt: skip
def test_a_mistake_is_told_and_changes_nothing(
    runner: battery.Runner, original: battery.Answer, faults: tuple[str, ...], mode: str
) -> None:
    (answer,) = runner.run([{"source": RUNS.format(faults=faults, program=PROGRAM), "mode": mode}])
    assert answer["error"] is None, answer["trace"]
    for fault, printed in zip(faults, answer["printed"].split("----\n")[1:], strict=True):
        assert printed == original["printed"], fault
        assert any(f"fault of {fault}." in mistake for mistake in answer["mistakes"]), fault
    assert answer["warnings"] == original["warnings"]
