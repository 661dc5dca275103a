"""What captured programs look like: before and after."""

from __future__ import annotations

from textwrap import dedent

import battery


def captured(runner: battery.Runner, source: str, mode: str = "failing") -> str:
    """The statements of the captured program, without the imports."""
    head = "import jax, jax.numpy as jnp, numpy as np\nfrom jax import lax\n"
    (answer,) = runner.run([{"source": head + dedent(source), "mode": mode}])
    assert answer["texts"], answer
    lines = answer["texts"][-1].splitlines()
    return "\n".join(line for line in lines if line and not line.startswith(("import ", "from ")))


def test_a_class_with_arrays_becomes_plain_functions(runner: battery.Runner) -> None:
    before = """
        class Layer:
            def __init__(self, key, n, m):
                self.w = jax.random.normal(key, (n, m))
            def __call__(self, x):
                return jnp.tanh(x @ self.w)

        layers = [Layer(jax.random.key(0), 40, 30), Layer(jax.random.key(1), 40, 2)]

        @jax.jit
        def predict(x):
            for layer in layers:
                x = layer(x)
            return x

        predict(jnp.ones((5, 40)))
    """
    after = """
        def predict(x):
            return jnp.tanh(x @ jnp.ones((40, 30))) @ jnp.ones((40, 2))
        jax.jit(predict)(jnp.ones((5, 40)))
    """
    assert captured(runner, before) == dedent(after).strip()


def test_the_innermost_call_comes_first(runner: battery.Runner) -> None:
    source = "import jax, jax.numpy as jnp\njax.vmap(lambda x: jnp.dot(x, jnp.ones(4)))(jnp.ones((2, 3)))\n"
    (answer,) = runner.run([{"source": source, "mode": "failing"}])
    texts = [text.splitlines()[-1] for text in answer["texts"]]
    assert texts[0] == "jnp.dot(jnp.ones(3), jnp.ones(4))"
    assert texts[-1] == "jax.vmap(lambda x: jnp.dot(x, jnp.ones(4)))(jnp.ones((2, 3)))"


def test_named_scopes_are_blocks(runner: battery.Runner) -> None:
    before = """
        @jax.jit
        def f(x):
            with jax.named_scope("encoder"):
                h = jnp.sin(x)
                with jax.named_scope("layer"):
                    h = h * h
            return h + x

        y = f(jnp.arange(3.0))
    """
    after = """
        x = jnp.arange(3.0)
        def f(x):
            with jax.named_scope('encoder'):
                h = jnp.sin(x)
                with jax.named_scope('layer'):
                    h_1 = h * h
            return h_1 + x
        jax.jit(f)(x)
    """
    assert captured(runner, before, "everything") == dedent(after).strip().replace("x = jnp", "a = jnp", 1).replace(
        "(f)(x)", "(f)(a)"
    )


def test_rules_are_written_as_decorators(runner: battery.Runner) -> None:
    before = """
        @jax.custom_vjp
        def f(x):
            return jnp.sin(x)

        def forward(x):
            return f(x), jnp.cos(x)

        def backward(c, g):
            return (c * g.reshape(7),)

        f.defvjp(forward, backward)
        jax.grad(lambda x: f(x).sum())(jnp.ones(3))
    """
    after = """
        @jax.custom_vjp
        def f(x):
            return jnp.sin(x)
        def forward(x):
            return (f(x), jnp.cos(x))
        def backward(c, g):
            return g.reshape(7)
        f.defvjp(forward, backward)
        jax.grad(lambda x: f(x).sum())(jnp.ones(3))
    """
    assert captured(runner, before) == dedent(after).strip()


def test_rules_that_never_ran_are_written_all_the_same(runner: battery.Runner) -> None:
    before = """
        @jax.custom_vjp
        def f(x):
            return jnp.sin(x)

        def forward(x):
            return f(x), jnp.cos(x)

        def backward(c, g):
            return (3 * c * g,)

        f.defvjp(forward, backward)
        f(jnp.ones(3))
    """
    after = """
        a = jnp.ones(3)
        @jax.custom_vjp
        def f(x):
            return jnp.sin(x)
        def forward(x):
            return (f(x), jnp.cos(x))
        def backward(c, g):
            return (3 * c * g,)
        f.defvjp(forward, backward)
        f(a)
    """
    assert captured(runner, before, "everything") == dedent(after).strip()


def test_it_is_said_what_ones_stand_for(runner: battery.Runner) -> None:
    source = """
        import jax, jax.numpy as jnp, numpy as np
        from jax.experimental import sparse

        @jax.custom_jvp
        def f(x):
            return jnp.sin(x)

        @f.defjvp
        def rule(primals, tangents):
            raise ValueError("not today")

        m = sparse.BCOO.fromdense(jnp.eye(2))
        f(jnp.ones(3)), jax.jit(lambda m, x: m @ x)(m, jnp.ones(2))
        jax.pure_callback(lambda x: np.asarray(x), jnp.ones(2), jnp.ones(2))
    """
    (answer,) = runner.run([{"source": dedent(source), "mode": "everything"}])
    assert answer["notes"] == [
        "where a value of type float32[2,2] comes from: ones stand for it",
        "where a value of type float32[2] comes from: ones stand for it",
        "what the host function <lambda> gives: ones stand for it",
        "the rules of f, which never ran: ValueError: not today",
    ]


def test_an_error_of_the_programs_own_class_is_raised_again(runner: battery.Runner) -> None:
    before = """
        class BadShape(ValueError):
            pass

        @jax.jit
        def f(x):
            raise BadShape(f'it is "{x.shape}"\\n')

        f(jnp.ones(3))
    """
    after = """
        class BadShape(ValueError):
            pass
        def f(x):
            raise BadShape('it is "(3,)"\\n')
        jax.jit(f)(jnp.ones(3))
    """
    assert captured(runner, before) == dedent(after).strip()


def test_numbers_may_be_what_fails(runner: battery.Runner) -> None:
    before = """
        jax.config.update("jax_debug_nans", True)

        @jax.jit
        def mean_log(x):
            return jnp.mean(jnp.log(x))

        mean_log(1 - jnp.arange(9.0))
    """
    after = """
        jax.config.update('jax_debug_nans', True)
        def mean_log(x):
            return jnp.mean(jnp.log(x))
        jax.jit(mean_log)(jnp.array([1.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]))
    """
    assert captured(runner, before, "valued") == dedent(after).strip()


def test_a_call_within_what_was_traced_before_may_be_why(runner: battery.Runner) -> None:
    """And a loop of which nothing else is known comes to an end."""
    source = """
        import jax, jax.numpy as jnp
        from jax import lax

        @jax.jit
        def grown(x):
            return lax.while_loop(lambda s: jnp.sum(s) < 9, lambda s: s + jnp.exp(s), jnp.tan(x)).sum()

        grown(jnp.ones(3))
        jax.grad(grown)(jnp.ones(3))
    """
    (answer,) = runner.run([{"source": dedent(source), "mode": "failing"}])
    (alone,) = [text for text in answer["texts"] if "while_loop" in text and "jnp.tan" not in text and "jit" in text]
    assert "lax.while_loop(lambda s: jnp.zeros((), bool), lambda s: 2 * s, 2 * x)" in alone
    (again,) = runner.run([{"source": alone, "mode": "failing"}])
    assert again["error"] == answer["error"]


SAME_NAMES = """
import jax, jax.numpy as jnp
def f(params, *rest, scale=2.0, **more):
    w, b = params["layer"]
    return {"y": w @ rest[0] + b, "all": (scale * b, more["last"])}
jitted = jax.jit(f, static_argnames="scale")
arguments = {"layer": (jnp.ones((2, 3)), jnp.ones(2))}, jnp.ones(3)
lowered = jitted.lower(*arguments, scale=3.0, last=jnp.ones(1))
"""


def test_names_of_arguments_and_results_are_the_programs(runner: battery.Runner) -> None:
    """JAX tells them in the lowered program and in error messages."""
    pattern = r"""loc\("([^"/]*)"|result_info = "([^"]*)\""""
    tell = f"\nimport re\nprint(re.findall({pattern!r}, {{}}.as_text(debug_info=True)))"
    (capture,) = runner.run([{"source": SAME_NAMES, "mode": "everything"}])
    text = capture["texts"][-1]
    name = "lowered"
    text = "\n".join([*text.splitlines()[:-1], f"{name} = {text.splitlines()[-1]}"])
    first, second = runner.run(
        [{"source": SAME_NAMES + tell.format("lowered"), "mode": "plain"},
         {"source": text + tell.format(name), "mode": "plain"}]
    )  # fmt: skip
    assert first["error"] is None and second["error"] is None, (text, second["error"])
    assert "params['layer'][0]" in first["printed"] and first["printed"] == second["printed"], text


def test_capturing_what_was_captured_changes_nothing(runner: battery.Runner) -> None:
    chosen = [one for one in battery.programs("control") if not one.passes and one.setting == ""][:12]
    for result in runner.results(chosen, rounds=True):
        assert result.round["texts"][-1] == result.captured["texts"][-1]
