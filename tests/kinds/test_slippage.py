"""For each kind of failure, programs that fail in another way, or by themselves: they must not count as the same."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from jaxshrink.kinds import Needs
from tests.kinds.asking import Asked, Runners


@dataclasses.dataclass(frozen=True)
class Case:
    """A program that fails, one that fails in the same way, and what fails otherwise."""

    original: str
    same: str
    other: dict[str, str]
    needs: Needs = dataclasses.field(default_factory=Needs)
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


JAX = "import jax\nimport jax.numpy as jnp\n"

SHAPES = Case(
    JAX + "class Model:\n    def __call__(self, x):\n        return jax.lax.concatenate([x, jnp.ones((4, 2))], 1)\n"
    "Model()(jnp.ones((3, 2)))",
    JAX + "jax.lax.concatenate([jnp.ones((1, 1)), jnp.ones((2, 1))], 1)",
    {
        "another line of the same function": JAX + "jax.lax.concatenate([jnp.ones((3, 2)), jnp.ones(2)], 1)",
        "another function": JAX + "jax.lax.dot(jnp.ones((3, 2)), jnp.ones((4, 2)))",
        "a type that is wrong": JAX + "jax.lax.concatenate(['x', jnp.ones((4, 2))], 1)",
        "a name that is missing": JAX + "jax.lax.concatenate([x, jnp.ones((4, 2))], 1)",
        "the same words": "raise TypeError('Cannot concatenate arrays with shapes that differ in dimensions')",
    },
    options={"match": "concatenat|contracting"},
)

TYPE = Case(
    "import statistics\nsize = 1e307\nstatistics.fmean([size * 9 for _ in range(3)])",
    "import statistics\nstatistics.fmean([1e308, 1e308])",
    {"another type at the same line": "import statistics\nstatistics.fmean([1e308, ''])"},
    options={"match": "."},
)

CALLBACK = JAX + "jax.pure_callback(lambda x: {}, jax.ShapeDtypeStruct((), 'float32'), 1.0)"
IN_CALLBACK = Case(
    JAX + "table = {'mean': 1.0}\ndef host(x):\n    return table['std'] * x\n"
    "jax.pure_callback(host, jax.ShapeDtypeStruct((), 'float32'), 1.0)",
    CALLBACK.format("{}['std']"),
    {
        "a name that is missing": CALLBACK.format("table['std']"),
        "another type": CALLBACK.format("[]['std']"),
        "a result of another shape": CALLBACK.format("jnp.ones(2)"),
    },
)

C = "import ctypes\nlibc = ctypes.CDLL(None)\nblock = ctypes.create_string_buffer(64)\n"
KILLED = "import signal, threading\nsignal.pthread_kill(threading.get_ident(), 9)"
SEGFAULT = Case(
    "import ctypes\ndef load(address):\n    return ctypes.string_at(address)\nprint('loading')\nload(0)",
    "import ctypes\nctypes.string_at(0)",
    {
        "in another function of a library": "import ctypes\nctypes.wstring_at(0)",
        "in the program": "import faulthandler\nfaulthandler._sigsegv()",
        "another signal": C + "libc.abort()",
        "SIGKILL": KILLED,
        "the memory limit": "import ctypes\nctypes.string_at(b'x' * (1 << 30))",
        "an exception": "import ctypes\nctypes.string_at('x')",
        "an exit code": "import ctypes, sys\nsys.exit(139)",
    },
    Needs(finish=True),
)
ABORT = JAX + "import os\njax.pure_callback({}, jax.ShapeDtypeStruct((), 'float32'), 1.0)"
CRASH_IN_CALLBACK = Case(
    JAX + "import os\ndef check(x):\n    os.abort()\n"
    "jax.jit(lambda x: jax.pure_callback(check, jax.ShapeDtypeStruct((), 'float32'), x))(2.0).block_until_ready()",
    ABORT.format("lambda x: os.abort()"),
    {
        "not in a callback": "import os\nos.abort()",
        "when the callback is over": ABORT.format("lambda x: x") + "\nos.abort()",
        "another signal": ABORT.format("lambda x: os.kill(os.getpid(), 11)"),
    },
    Needs(finish=True),
)
FATAL = Case(
    C + "def release(size):\n    libc.free(ctypes.byref(block, size))\nrelease(8)",
    C + "libc.free(ctypes.byref(block, 8))",
    {
        "another fatal line": C + "libc.malloc.restype = ctypes.c_void_p\np = ctypes.c_void_p(libc.malloc(32))\n"
        "libc.free(p)\nlibc.free(p)",
        "no fatal line": C + "libc.abort()",
        "the line on stdout": C + "print('free(): invalid pointer', flush=True)\nlibc.abort()",
        "another signal": C + "import sys\nsys.stderr.write('free(): invalid pointer\\n')\nctypes.string_at(0)",
    },
    Needs(finish=True),
)
FLAGS = "import os\nos.environ['XLA_FLAGS'] = '--xla_no_such_flag=1'\n" + JAX
FATAL_EXIT = Case(
    FLAGS + "def train():\n    return jnp.ones(3) + 1\ntrain()",
    FLAGS + "jax.devices()",
    {
        "another fatal line": FLAGS.replace("no_such", "other") + "jax.devices()",
        "an exit with the same code": FLAGS + "import sys\nsys.exit(1)",
        "an exception": FLAGS + "devices()",
        "a signal": C + "libc.abort()",
    },
    Needs(finish=True),
)

HANG = 2.0
DEADLOCK = Case(
    "import threading, time\nready = threading.Event()\ntime.sleep(0.1)\nif not ready.is_set():\n    ready.wait()",
    "import threading\nthreading.Event().wait()",
    {
        "slow, in the same place": "import threading\nthreading.Event().wait(0.2)",
        "slow": "import time\ntime.sleep(0.2)",
        "a hang in another place of the library": "import threading\nthread = threading.Thread("
        "target=threading.Event().wait)\nthread.start()\nthread.join()",
        "a hang of a thread": "import threading\nthreading.Thread(target=threading.Event().wait).start()",
        "a hang in the program": "import time\ntime.sleep(100)",
        "an endless loop": "import threading\nwhile True: threading.Event().is_set()",
        "an exception": "import threading\nEvent().wait()",
        "a crash": "import threading, ctypes\nctypes.string_at(0)",
    },
    Needs(hang=HANG),
    {"hang": HANG},
)
TURNING = JAX + "turn = lambda x: jax.lax.while_loop(lambda s: s < 5, lambda s: s * 2 % 7, x)\n"
EXECUTING = Case(
    TURNING + "def main():\n    step = jax.jit(turn)\n    print(float(step(1)))\nmain()",
    TURNING + "turn(1).block_until_ready()",
    {
        "a wait in C": TURNING + "import time\ntime.sleep(100)",
        "a wait of its own": TURNING + "import threading\nthreading.Event().wait()",
        "a lock": TURNING + "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
        "a loop in the program": TURNING + "x = 1\nwhile x: x = -x",
        "a loop of builtins": TURNING + "sum(iter(int, 1))",
        "what ends": TURNING.replace("< 5", "< 2") + "jax.jit(turn)(1).block_until_ready()",
    },
    Needs(hang=HANG),
    {"hang": HANG},
)
BLOCKED = JAX + "import queue\nqueue = queue.Queue(1)\n"
PUT = "jax.pure_callback(lambda x: {}, jax.ShapeDtypeStruct((), 'float32'), 1.0).block_until_ready()"
HANG_IN_CALLBACK = Case(
    BLOCKED + "def tell(x):\n    for _ in range(3):\n        queue.put(x)\n"
    "jax.jit(lambda x: jax.debug.callback(tell, x))(1.0)\njax.effects_barrier()",
    BLOCKED + PUT.format("[queue.put(x), queue.put(x)]"),
    {
        "not in a callback": BLOCKED + "queue.put(1)\nqueue.put(1)",
        "when the callback is over": BLOCKED + PUT.format("queue.put(x) or x") + "\nqueue.put(1)",
    },
    Needs(hang=HANG),
    {"hang": HANG},
)
POOL = "import multiprocessing\n"
CHILD = Case(
    POOL + "def wait(x):\n    import threading\n    threading.Event().wait()\n"
    "pool = multiprocessing.get_context('fork').Pool(1)\nprint('begin')\npool.map(wait, [0, 1])",
    POOL + "def wait(x):\n    import threading\n    threading.Event().wait()\n"
    "multiprocessing.get_context('fork').Pool(1).map(wait, [0])",
    {
        "the child does not know the function": POOL + "pool = multiprocessing.get_context('fork').Pool(1)\n"
        "def wait(x):\n    pass\npool.map(wait, [0])",
    },
    Needs(hang=HANG),
    {"hang": HANG},
)
GROWN = JAX + "def f(x, n):\n    return f(x * 1.5 + n, n - 1) + f(x * 2.5, n - 1) if n else x\n"
BLOW_UP = Case(
    GROWN + "class Model:\n    def __call__(self, x):\n        return jax.grad(f)(x, 28)\njax.jit(Model())(1.0)",
    GROWN + "jax.jit(lambda x: f(x, 28))(1.0)",
    {
        "what ends": GROWN + "jax.jit(lambda x: f(x, 3))(1.0)",
        "not traced": GROWN + "f(1, 28)",
        "a wait": "import threading\nthreading.Event().wait()",
    },
    Needs(hang=2 * HANG),
    {"hang": 2 * HANG},
)
LOOP = "float(jax.lax.while_loop({}, lambda x: x * 2 % 7, 1))"
ENDLESS = Case(
    JAX + "def unfinished(x):\n    return x < 5\ndef solve(x):\n"
    "    return jax.lax.while_loop(unfinished, lambda x: x * 2 % 7, x)\nprint(float(solve(jnp.int32(1))))",
    JAX + LOOP.format("lambda x: x < 5"),
    {
        "a constant condition": JAX + LOOP.format("lambda x: True"),
        "a constant comparison": JAX + LOOP.format("lambda x: 1 < 5"),
        "a constant array": JAX + LOOP.format("lambda x: jnp.bool_(1)"),
        "a constant function": JAX + "def unfinished(x):\n    return not False\n" + LOOP.format("unfinished"),
        "a constant body": JAX + LOOP.replace("x * 2 % 7", "1").format("lambda x: x < 5"),
        "a loop that ends": JAX + LOOP.format("lambda x: x < 2"),
        "an endless loop in Python": "x = 1\nwhile True:\n    x = x * 2 % 7",
        "a sleep": "import time\ntime.sleep(100)",
    },
    Needs(hang=HANG),
    {"hang": HANG},
)

LATER = JAX + "x = jnp.ones((1 << 20, 1))\n"
TOLD_LATER = Case(
    LATER + "def distances(x):\n    return x - x.T\nprint(float(distances(x)[0, 0]))",
    LATER + "float((x - x.T).max())",
    {
        "a size that fits": LATER.replace("20", "10") + "float((x - x.T).max())",
        "told at once": LATER + "x - jnp.ones((1 << 20, 1 << 20))",
        "not in JAX": "import numpy as np\nfloat(np.ones((1 << 25, 1 << 25)).sum())",
    },
)
TOLD = Case(
    JAX + "def kernel(n):\n    return jnp.ones((n, n))\nkernel(1 << 20)",
    JAX + "jnp.ones((1, 1 << 40))",
    {
        "a size that fits": JAX + "jnp.ones((1 << 10, 1 << 10))",
        "the memory limit": "data = b'x' * (1 << 30)",
        "NumPy's own": "import numpy as np\nnp.ones((1 << 25, 1 << 25))",
        "Python's own": "'x' * (1 << 62)",
        "another failure": JAX + "jnp.ones((-1, 1))",
    },
)
LIMIT = Case(
    "import numpy as np\nkept = []\nfor step in range(12):\n    kept.append(np.ones(1 << 23))",
    "data = b'x' * (1 << 30)",
    {
        "JAX's own": JAX + "jnp.ones((1 << 20, 1 << 20))",
        "Python's own": "'x' * (1 << 62)",
        "what fits": "import numpy as np\nkept = [np.ones(1 << 10) for step in range(12)]",
        "SIGKILL": KILLED,
    },
    options={"memory": 0.5},
)

NP = "import sys\nimport numpy as np\n"
WARNING = Case(
    NP + "def entropy(p):\n    return -(p * np.log(p)).sum()\nprint('entropy', entropy(np.zeros(3)))",
    "import numpy as np\nnp.log(0.0)",
    {
        "a printed constant": "print('divide by zero')",
        "a printed constant in a longer one": NP + "print(f'divide by zero in {np.log}')",
        "a warning of its own": "import warnings\nwarnings.warn('divide by zero')",
        "another warning": NP + "np.log(-1.0)",
        "a failure afterwards": NP + "np.log(0.0)\nmissing",
        "an exit code": NP + "np.log(0.0)\nsys.exit(2)",
        "nothing": NP + "np.log(1.0)",
    },
    Needs(finish=True),
    {"match": "divide by zero"},
)
PRINTED = Case(
    JAX + "def loss(x):\n    return jnp.log(x).mean()\nprint('loss', loss(jnp.array([1.0, -1.0])))",
    JAX + "print(jnp.log(-1.0))",
    {
        "the name of a function": JAX + "print(jnp.isnan, jnp.nan_to_num)",
        "a warning with its line": JAX + "import warnings\nnan = jnp.isnan\nwarnings.warn('1', stacklevel=1) or nan",
        "a constant": "print('nan')",
        "a number by its name": "print(float('nan'))",
        "a number of a library": JAX + "print(jnp.nan)",
        "a number of an alias": "from numpy import nan as loss\nprint(loss)",
        "another number": JAX + "print(jnp.log(1.0))",
    },
    Needs(finish=True),
    {"match": "nan"},
)

SAID = Case(
    JAX + "print('looks for nan')\ndef loss(x):\n    return jnp.log(x).mean()\nx = jnp.array([1.0, -1.0])\n"
    "print('%d nan' % 0)\nprint('loss', loss(x))\nprint(f'nan: {loss(x)}')",
    JAX + "print(f'nan: {jnp.log(-1.0)}')",
    {
        "what it said itself": "print('looks for nan')",
        "what it said with another number": "print('%d nan' % 5)",
        "what it said before a number": "print(f'nan: {1}')",
    },
    Needs(finish=True),
    {"match": "nan"},
)

POWER = "def power(x, n):\n    return x ** n\n"
RECOMPILED = Case(
    JAX + POWER + "step = jax.jit(power, static_argnums=1)\nfor n in range(4):\n    x = step(1.0, n)\nprint(x)",
    JAX + POWER + "for n in range(3): jax.jit(power, static_argnums=1)(1.0, n)",
    {
        "too seldom": JAX + POWER + "for n in range(2): jax.jit(power, static_argnums=1)(1.0, n)",
        "another function": JAX + "def f(x, n): return x**n\nfor n in range(3): jax.jit(f, static_argnums=1)(1.0, n)",
        "other types": JAX + POWER + "for n in range(3): jax.jit(power)(jnp.ones(n), 2)",
        "new functions": JAX + f"for n in range(3):\n    {POWER.replace('    ', '        ')}    jax.jit(power)(1.0, n)",
        "a failure afterwards": JAX + POWER + "for n in range(3): jax.jit(power, static_argnums=1)(1.0, n)\nmissing",
        "printed": "for n in range(3): print('Compiling jit(power) with global shapes')",
    },
    Needs(cache=False, compiles=True),
    {"recompiles": "power:3"},
)

ASSERTED = Case(
    JAX + "def total(x):\n    return jnp.sum(x + 1) - jnp.sum(x)\n"
    "big = jnp.full(1, 16777216.0)\nassert total(big) == 1",
    JAX + "big = jnp.full(1, 16777216.0)\nassert jnp.sum(big + 1) - jnp.sum(big) == 1",
    {
        "a constant": "assert False",
        "constants": "assert 0 == 1",
        "a number that is plainly wrong": JAX + "assert jnp.ones(()) == 0",
        "a number of the program": JAX + "total = jnp.float32(0)\nassert total == 1",
        "half of it": JAX + "big = jnp.full(1, 16777216.0)\nassert jnp.sum(big) == 1",
        "an exception in the test": JAX + "assert jnp.sum('x') == 1",
        "a name that is missing": JAX + "assert total(16777216.0) == 1",
        "raised": "raise AssertionError",
    },
)
GRADIENT = Case(
    JAX + "def norm(x):\n    return jnp.sqrt(jnp.sum(x * x))\nslope = jax.grad(norm)(jnp.zeros(3))\n"
    "if jnp.isnan(slope).any():\n    raise ValueError('no number')",
    JAX + "if jnp.isnan(jax.grad(lambda x: jnp.sqrt(jnp.sum(x * x)))(jnp.zeros(3))).any():\n    raise ValueError('')",
    {
        "without a condition": "raise ValueError('no number')",
        "a constant condition": "if 1: raise ValueError('no number')",
        "a number by its name": JAX + "if jnp.isnan(float('nan')): raise ValueError('no number')",
        "a value and no gradient": JAX + "if jnp.isnan(jnp.sqrt(-1.0)): raise ValueError('no number')",
        "a gradient of nothing": JAX + "if not jax.grad(lambda x: x * 0)(1.0): raise ValueError('the gradient')",
        "another type": JAX + "if jnp.isnan(jax.grad(jnp.sqrt)(0.0) * 0): raise TypeError",
    },
    options={"match": ""},
)
TESTED = Case(
    "import numpy as np\n" + JAX + "def scaled(x):\n    return x * jnp.float32(1e-8) + 1\n"
    "np.testing.assert_allclose(scaled(jnp.ones(2)), 1.00000001, rtol=1e-9)",
    "import numpy as np\n" + JAX + "np.testing.assert_allclose(jnp.ones(2) * jnp.float32(1e-8) + 1, 1.00000001, 1e-9)",
    {
        "plain numbers": "import numpy as np\nnp.testing.assert_allclose(0, 1.00000001, rtol=1e-9)",
        "shapes": "import numpy as np\nnp.testing.assert_allclose([1, 1], [1, 1, 1], rtol=1e-9)",
        "an assertion": "assert False, 'Not equal to tolerance rtol=1e-09, atol=0'",
    },
)

CASES = {name.lower(): case for name, case in globals().items() if isinstance(case, Case)}


@pytest.mark.parametrize("name", CASES)
def test_slippage(name: str, runners: Runners) -> None:
    case = CASES[name]
    asked = Asked(runners, case.needs, case.original, **case.options)
    assert asked.accepted({"the original": case.original, "same": case.same, **case.other}) == {"the original", "same"}
