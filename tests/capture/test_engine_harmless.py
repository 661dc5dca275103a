"""What capture must not do: change what the program does, keep its arrays, show itself."""

from __future__ import annotations

from textwrap import dedent

import battery


def printed(runner: battery.Runner, source: str) -> list[str]:
    """What a program prints under capture."""
    head = "import gc, sys, traceback, warnings, weakref\nimport jax, jax.numpy as jnp, numpy as np\n"
    (answer,) = runner.run([{"source": head + dedent(source), "mode": "failing"}])
    assert answer["error"] is None, answer["trace"]
    lines: list[str] = answer["printed"].splitlines()
    return lines


def test_no_tracer_is_kept(runner: battery.Runner) -> None:
    source = """
        @jax.custom_vjp
        def f(x):
            return jnp.sin(x)
        f.defvjp(lambda x: (f(x), x), lambda x, g: (g * jnp.cos(x),))

        with jax.checking_leaks():
            @jax.jit
            def step(x):
                y, _ = jax.lax.scan(lambda c, _: (f(c) * 2, None), x, None, length=3)
                return jax.vmap(lambda y: y + x.sum())(y)
            print(jax.grad(lambda x: step(x).sum())(jnp.ones(3)).shape)
            try:
                jax.jit(lambda x: jnp.dot(x, jnp.ones(4)))(jnp.ones(3))
            except TypeError:
                print("caught")
    """
    assert printed(runner, source) == ["(3,)", "caught"]


def test_no_array_is_kept(runner: battery.Runner) -> None:
    source = """
        step = jax.jit(lambda state, x: (state + x.sum(), x * 2))
        state, kept = jnp.zeros(()), []
        for i in range(5):
            data = jnp.full((100,), float(i))
            kept.append(weakref.ref(data))
            state, out = step(state, data)
            kept.append(weakref.ref(out))
            loss = jax.grad(lambda s: (s * data.mean()) ** 2)(state)
        del data, out
        gc.collect()
        print(sum(one() is not None for one in kept))
    """
    assert printed(runner, source) == ["0"]


def test_no_operand_is_kept_that_an_operator_refused(runner: battery.Runner) -> None:
    source = """
        kept = []
        for x in jnp.ones(30), np.ones(30):
            for other in None, [x]:
                kept += [weakref.ref(x)]
                try:
                    other < jnp.ones(3) + x[:3]
                except TypeError:
                    pass
                try:
                    None < x
                except TypeError:
                    print("refused")
        del x, other
        gc.collect()
        print(sum(one() is not None for one in kept))
    """
    assert printed(runner, source) == ["refused"] * 4 + ["0"]


def test_nothing_is_traced_or_compiled_more_often(runner: battery.Runner) -> None:
    source = """
        traces = []

        class Model:
            def loss(self, w, x):
                traces.append(1)
                return jnp.mean((x @ w) ** 2)

        model = Model()
        step = jax.jit(jax.value_and_grad(model.loss))
        for _ in range(4):
            step(jnp.ones(3), jnp.ones((2, 3)))
            jax.lax.map(jnp.sin, jnp.ones(3))
        print(len(traces), step._cache_size())
    """
    assert printed(runner, source) == ["1 1"]


def test_its_frames_are_left_out_where_jax_leaves_out_its_own(runner: battery.Runner) -> None:
    source = """
        try:
            jax.jit(lambda x: jax.vmap(lambda y: jnp.dot(y, jnp.ones(4)))(x))(jnp.ones((2, 3)))
        except TypeError as error:
            from capture import failures
            failures.hide(error)
            text = "".join(traceback.format_exception(error))
        print("capture" + "/" in text, text.count("<lambda>") > 1)
    """
    assert printed(runner, source) == ["False True"]


def test_functions_look_as_before(runner: battery.Runner) -> None:
    source = """
        import copy, inspect, pickle
        print(jnp.dot.__name__, jnp.dot.__module__, "precision" in inspect.signature(jnp.dot).parameters)
        print(pickle.loads(pickle.dumps(jnp.dot)) is jnp.dot, copy.deepcopy(jnp.dot) is jnp.dot)
        f = jax.jit(lambda x, n: x * n, static_argnames="n")
        print(f.lower(jnp.ones(2), 3).compile()(jnp.ones(2)).shape, f.__wrapped__(1, 2))
        print({f: 1}[f], f == f, isinstance(jnp.ones(1), jax.Array), jnp.add.identity)
    """
    assert printed(runner, source) == [
        "dot jax.numpy True", "True True", "(2,) 2", "1 True True 0",
    ]  # fmt: skip
