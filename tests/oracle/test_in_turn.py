"""Real runs, one after another in a process: they end as each would alone."""

from __future__ import annotations

import pytest

from jaxshrink.oracle import Runner
from jaxshrink.outcome import End, Tier

HEAD = "import jax\nimport jax.numpy as jnp\n"
SECOND = HEAD + """\
import os, random, sys, threading
raise ValueError(
    float(jnp.sum(jnp.ones(3))), jnp.ones(3, float).dtype, os.environ.get("JAX_LEFT"), os.path.exists("left.txt"),
    sys.argv[1:], threading.active_count(), random.random(), jax.config.jax_debug_nans,
    os.path.samefile(".", sys.path[0]),
)
"""


@pytest.fixture(scope="module")
def alone(runner: Runner) -> str | None:
    return runner.run([SECOND], Tier.WARM)[0].message


@pytest.mark.parametrize(
    "first",
    [
        "jax.config.update('jax_debug_nans', True); jnp.sum(jnp.ones(2))",
        "jax.numpy.ones = None",
        "import os; os.environ['JAX_LEFT'] = '1'",
        "open('left.txt', 'w').close()",
        "import threading; threading.Thread(target=__import__('time').sleep, args=(9,), daemon=True).start()",
        "import random; random.random(); assert jnp.sin(1.0) > 1",
        "import os; os.abort()",
        "import os; os._exit(3)",
        "while True: pass",
    ],
)
def test_a_program_does_not_notice_the_one_before(sharing: Runner, alone: str | None, first: str) -> None:
    limit = 0.5 if "while" in first else None
    _, after, again = (sharing.run([text], Tier.WARM, limit)[0] for text in (HEAD + first, SECOND, SECOND + "\n"))
    assert (after.type, after.message) == (again.type, again.message) == ("ValueError", alone)


def test_one_that_leaves_nothing_runs_where_the_last_did(sharing: Runner) -> None:
    text = HEAD + "import os; raise ValueError(int(jnp.sum(jnp.ones(3))), os.getpid(), {})"
    outcomes = sharing.run([text.format(i) for i in range(8)], Tier.WARM)
    assert [(outcome.message or "").split(", ")[::2] for outcome in outcomes] == [["(3", f"{i})"] for i in range(8)]
    assert len({(outcome.message or "").split(", ")[1] for outcome in outcomes}) <= sharing.setting.jobs


def test_what_one_has_made_is_gone_before_the_next(sharing: Runner) -> None:
    made = "class Cycle: pass\nc = Cycle()\nc.own, c.array = c, jnp.ones(1 << 24)\n"
    told = "raise ValueError(sum(each.nbytes for each in jax.live_arrays()) >> 26, {})"
    texts = [HEAD + made + told.format(i) for i in range(4 * sharing.setting.jobs)]
    assert [outcome.message for outcome in sharing.run(texts, Tier.WARM)] == [f"(1, {i})" for i in range(len(texts))]


ENDLESS = "jax.lax.while_loop(lambda x: x == x, lambda x: x + 1, 0)"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("jnp.ones(3)", (End.EXIT, 0, None)),
        ("raise SystemExit(3)", (End.EXIT, 3, None)),
        ("import atexit; atexit.register(print); raise SystemExit(4)", (End.EXIT, 4, None)),
        ("import os; os.kill(os.getpid(), 15)", (End.SIGNAL, None, 15)),
        (ENDLESS, (End.TIMEOUT, None, None)),
        (f"{ENDLESS}\nassert not jnp.ones(3).all()", (End.TIMEOUT, None, None)),
    ],
)
def test_ends(sharing: Runner, text: str, end: object) -> None:
    """What still computes when a program has come to its end keeps an interpreter from ending."""
    limit = 0.5 if ENDLESS in text else None
    first, second = sharing.run([HEAD + text, f"{HEAD}{text}\n"], Tier.WARM, limit)
    assert (first.end, first.code, first.signal) == (second.end, second.code, second.signal) == end


def test_one_that_met_another_runs_again_in_a_process_of_its_own(sharing: Runner) -> None:
    text = "import os; raise ValueError(f'{os.getpid()} is there already')"
    outcomes = [sharing.run([f"{text}  # {i}"], Tier.WARM)[0] for i in range(3)]
    assert len({outcome.message for outcome in outcomes}) == 3
