"""Abstract runs against real ones; programs that share a fork."""

import sys
from pathlib import Path

import pytest

from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import End, Outcome, Tier

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"

FAILING = {
    "shapes": "jnp.ones((3, 4)) @ jnp.ones((5, 6))",
    "in jit": "jax.jit(lambda x: jnp.concatenate([x, jnp.ones((2, 2))]))(jnp.ones(3))",
    "vmap sizes": "jax.vmap(jnp.add)(jnp.ones(3), jnp.ones(4))",
    "scan carry": "jax.lax.scan(lambda c, x: (c * jnp.ones(2), x), 0.0, jnp.ones(3))",
    "tracer bool": "jax.jit(lambda x: 1 if x > 0 else 2)(1.0)",
    "tracer to numpy": "jax.jit(lambda x: np.sin(x))(jnp.ones(2))",
    "tracer to integer": "jax.jit(lambda x, n: jnp.zeros(n) + x)(1.0, 2)",
    "grad of a vector": "jax.grad(lambda x: x * 2)(jnp.ones(3))",
    "grad of integers": "jax.grad(lambda x: x * 2)(jnp.arange(3)[0])",
    "cond trees": "jax.lax.cond(jnp.ones(()) > 0, lambda x: (x, x), lambda x: x, jnp.ones(2))",
    "tree mismatch": "jax.tree.map(jnp.add, {'a': jnp.ones(2)}, {'b': jnp.ones(2)})",
    "static array": "jax.jit(lambda x, y: x, static_argnums=1)(1.0, jnp.ones(3))",
    "item assignment": "x = jnp.ones(3)\nx[0] = 2",
    "unhashable": "{jnp.ones(3): 1}",
    "einsum": "jnp.einsum('ij,jk->ik', jnp.ones((2, 3)), jnp.ones((4, 5)))",
    "reverse while": "jax.grad(lambda x: jax.lax.while_loop(lambda c: c < 9, lambda c: c * 2, x))(1.0)",
    "x64": "jax.config.update('jax_enable_x64', True)\njnp.float64(1).dtype.foo",
    "float of a vector": "float(jnp.ones(3))",
    "after reads of values": "x = jnp.ones(3).sum()\nif x > 0: print(f'{x:.3f}', float(x), x.tolist())\nx @ x",
    "shown": "raise ValueError(f'{jnp.ones(2)!r} {jnp.ones(())} {jnp.ones(2)[0]:.2f} {np.asarray(jnp.ones(3))}')",
}


def run(runner: Runner, text: str, tier: Tier) -> Outcome:
    return runner.run([text], tier)[0]


def failure(outcome: Outcome) -> tuple[object, ...]:
    place = outcome.frames[-1] if outcome.frames else None
    return outcome.end, outcome.type, outcome.message, place


@pytest.mark.parametrize("name", FAILING)
def test_fails_as_for_real(runner: Runner, name: str) -> None:
    text = HEAD + FAILING[name]
    real = run(runner, text, Tier.WARM)
    assert real.end is End.EXCEPTION
    assert failure(run(runner, text, Tier.ABSTRACT)) == failure(real)


@pytest.mark.parametrize(
    "program",
    [
        "jnp.ones(3).addressable_data(0)",
        "import pickle; pickle.dumps(jnp.ones(3))",
        "jnp.ones(3).delete()",
        "f = jax.jit(jnp.sin).lower(1.0).compile(); f(jnp.ones(()))",
        "import threading\nx = jnp.ones(3)\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "ThreadPoolExecutor().submit(lambda: x + 1).result()",
    ],
)
def test_what_only_real_arrays_can_tell_is_unknown(runner: Runner, program: str) -> None:
    assert run(runner, HEAD + program, Tier.ABSTRACT).end is End.UNKNOWN
    assert run(runner, HEAD + program, Tier.WARM).end is End.EXIT


@pytest.mark.parametrize(
    "program",
    [
        "import copy; copy.deepcopy({'a': jnp.ones(3)})",
        "jax.block_until_ready(jnp.ones(3)); jnp.ones(3).block_until_ready()",
        "jax.device_put(jnp.ones(3), jax.devices()[0])",
        "assert int(jnp.ones((), int)) == 1 and range(3)[jnp.ones((), int)] == 1",
        "for x in jnp.ones(3): assert x",
        "jax.device_put(jnp.ones(3), jnp.ones(2).sharding); assert jnp.ones(3).devices() == {jax.devices()[0]}",
        "jax.debug.print('{}', jnp.ones(3))",
        "jnp.nonzero(jnp.ones(3)); jnp.unique(jnp.ones(3))",
        "jax.grad(lambda x: x if x > 0 else -x)(jnp.ones(()))",
        "np.testing.assert_allclose(jnp.ones(3), jnp.ones(3))",
        "key = jax.random.key(0); jax.random.normal(key, (3,)).mean().item()",
        "jax.device_get({'a': jnp.ones(3)})['a'].sum().item()",
    ],
)
def test_what_works_for_real_does_not_fail(runner: Runner, program: str) -> None:
    assert failure(run(runner, HEAD + program, Tier.ABSTRACT)) == (End.EXIT, None, None, None)
    assert run(runner, HEAD + program, Tier.WARM).end is End.EXIT


@pytest.mark.parametrize(
    "first",
    [
        "jax.config.update('jax_enable_x64', True)",
        "jax.numpy.ones = None",
        "import os; os.environ['JAX_LEFT'] = '1'",
        "import os; os.chdir('/')",
        "import sys; sys.path.append('/nowhere')",
        "open('left.txt', 'w').close()",
        "import threading; threading.Thread(target=__import__('time').sleep, args=(9,), daemon=True).start()",
        "import types; jax.tree_util.register_pytree_node(types.MethodType, lambda x: ((), None), lambda a, b: 0)",
        "np.seterr(all='raise')",
        "import builtins; builtins.len = None",
        "import random; random.random(); np.random.rand()",
        "jax.devices()",
        "import os; os._exit(0)",
        "import sys; sys.setrecursionlimit(300)",
        "import sys; sys.argv.append('more')",
        "sys = __import__('sys'); sys.modules['__main__'] = None; sys.stdout.close()",
        "import os; os.abort()",
        "import subprocess; subprocess.Popen(['sleep', '9'])",
        "while True: pass",
    ],
)
def test_a_program_does_not_notice_the_one_before(runner: Runner, first: str) -> None:
    second = HEAD + """\
import os, random, sys, threading, types
jax.tree_util.register_pytree_node(types.MethodType, lambda x: ((), None), lambda a, b: 0)
print(len(sys.argv))
def deep(n): return n and deep(n - 1)
deep(900)
raise ValueError(
    jnp.ones(3, float).dtype, os.environ.get("JAX_LEFT"), os.listdir(), "/nowhere" in sys.path, sys.argv[1:],
    threading.active_count(), np.geterr(), random.random(), np.random.rand(), os.path.samefile(".", sys.path[0]),
    open("/proc/thread-self/children").read(),
)
"""
    alone = run(runner, second, Tier.ABSTRACT)
    assert alone.type == "ValueError"
    _, after, again = runner.run([HEAD + first, second, second + "\n"], Tier.ABSTRACT, 1.0)
    assert failure(after) == failure(alone)
    assert failure(again) == failure(alone)


def test_one_that_leaves_nothing_runs_where_the_last_did(runner: Runner) -> None:
    texts = [f"import os; raise ValueError(os.getppid() and os.getpid(), {i})" for i in range(10)]
    processes = {(outcome.message or "").split(",")[0] for outcome in runner.run(texts, Tier.ABSTRACT)}
    assert len(processes) <= runner.setting.jobs


def test_each_answer_is_that_of_its_own_program(runner: Runner) -> None:
    """Also where a process has run so many that it ends, and where one dies of itself among others."""
    for i in range(200):
        assert run(runner, f"raise ValueError({i})", Tier.ABSTRACT).message == str(i)
    ends = [run(runner, f"import os; os._exit({i % 3})  # {i}", Tier.ABSTRACT).code for i in range(9)]
    assert ends == [0, 1, 2] * 3


def test_what_one_imports_is_there_for_those_after_it() -> None:
    known = "import sys; known = 'jax.experimental.ode' in sys.modules\n"
    text = known + "import jax.experimental.ode\nraise ValueError(known)"
    with Runner(Setting(sys.executable)) as runner:
        assert [run(runner, f"{text}  # {i}", Tier.ABSTRACT).message for i in range(3)] == ["False", "True", "True"]


def test_modules_of_the_program_are_not(folder: Path) -> None:
    (folder / "sizes.py").write_text("width = 3\n")
    text = "import sys; known = 'sizes' in sys.modules\nimport sizes\nraise ValueError(known)"
    with Runner(Setting(sys.executable, folder=folder)) as runner:
        assert [run(runner, f"{text}  # {i}", Tier.ABSTRACT).message for i in range(3)] == ["False"] * 3


def test_a_backend_that_one_has_started_does_no_harm(runner: Runner) -> None:
    texts = [f"import jax; raise ValueError(len(jax.devices()), {i})" for i in range(6)]
    assert [outcome.message for outcome in runner.run(texts, Tier.ABSTRACT)] == [f"(1, {i})" for i in range(6)]


def test_a_program_that_may_have_met_another_runs_again_in_a_process_of_its_own(runner: Runner) -> None:
    text = "import os; raise ValueError(f'{os.getpid()} is there already')"
    outcomes = [run(runner, f"{text}  # {i}", Tier.ABSTRACT) for i in range(3)]
    assert len({outcome.message for outcome in outcomes}) == 3


def test_they_are_answered_in_order(runner: Runner) -> None:
    texts = [f"raise ValueError({i})" if i % 5 else f"import os; os._exit({i})" for i in range(50)]
    for i, outcome in enumerate(runner.run(texts, Tier.ABSTRACT)):
        assert (outcome.message if i % 5 else outcome.code) == (str(i) if i % 5 else i)
