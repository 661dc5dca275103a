"""The signature on real messages of two JAX versions (`data/failures.json`), and on programs that fail here and now."""

import dataclasses
import json
import traceback
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import pytest

from jaxshrink.failure import Failure
from jaxshrink.kinds.exception import Raised, names_of
from jaxshrink.messages import masked
from jaxshrink.outcome import End, Frame, Outcome
from jaxshrink.slips import slips

RECORDED = json.loads((Path(__file__).parent / "data" / "failures.json").read_text())
NAMES = frozenset({
    "<lambda>", "update", "local_grad", "kernel", "pair_energy", "f", "A", "Kalman", "carry", "bij,bjk->bik", "list",
    "bhqk,bkd->bqhd", "data", "d",
})  # fmt: skip


def recorded(told: dict[str, Any]) -> Outcome:
    file, function, line, user = told["frame"]
    frame = Frame(file, function, 1 if user else line, 1, 0, 3, user)
    return Outcome(End.EXCEPTION, told["type"], told["message"], (frame,))


def raised(message: str, type_: str = "ValueError", file: str = "jax/_src/lax/lax.py", line: int = 7) -> Outcome:
    """An outcome whose exception comes from a line of a library."""
    frames = (Frame("repro.py", "<module>", 1, user=True), Frame(file, "rule", line))
    return Outcome(End.EXCEPTION, type_, message, frames)


def run(text: str) -> Outcome:
    """How a program fails in this interpreter."""
    try:
        exec(compile(text, "repro.py", "exec"), {"__name__": "__main__"})
    except Exception as error:
        name = type(error).__qualname__
        module = type(error).__module__
        frames = []
        for frame, line in traceback.walk_tb(error.__traceback__):
            user = frame.f_code.co_filename == "repro.py"
            frames.append(Frame(frame.f_code.co_filename, frame.f_code.co_name, line, user=user))
        entry = error.__traceback__
        while entry is not None and entry.tb_next is not None:
            entry = entry.tb_next
        assert entry is not None
        first, last, column, end = next(islice(entry.tb_frame.f_code.co_positions(), entry.tb_lasti // 2, None))
        assert first is not None and last is not None and column is not None and end is not None
        frames[-1] = dataclasses.replace(frames[-1], end_line=last, column=column, end_column=end)
        frames = frames[1:]  # without this function
        return Outcome(End.EXCEPTION, name if module == "builtins" else f"{module}.{name}", str(error), tuple(frames))
    return Outcome(End.EXIT, code=0)


def same(original: str, candidate: str, level: str = "site") -> bool:
    """Do two programs fail in the same way?"""
    before, after = run(original), run(candidate)
    assert before.end is End.EXCEPTION
    signature = Raised(Failure.of(before, original), level, names=names_of(original))
    return signature.matches(after, candidate)


def alike(old: str, new: str, level: str = "site", names: frozenset[str] = NAMES) -> bool:
    """Do two messages from one place in a library tell the same failure?"""
    return Raised(Failure.of(raised(old)), level, names=names).matches(raised(new), "x")


# -- recorded failures


@pytest.mark.parametrize("pair", RECORDED, ids=lambda pair: f"{pair['failure']} {pair['jax']}")
def test_a_small_program_fails_as_the_large_one(pair: dict[str, Any]) -> None:
    large, small = recorded(pair["large"]), recorded(pair["small"])
    signature = Raised(Failure.of(large), names=NAMES)
    assert signature.matches(large, "f()")
    assert signature.matches(small, "f()")


@pytest.mark.parametrize("jax", ["0.10.2", "0.12.0.1"])
def test_different_failures_do_not_match(jax: str) -> None:
    pairs = [pair for pair in RECORDED if pair["jax"] == jax]
    confused = {
        frozenset({one["failure"], other["failure"]})
        for one, other in permutations(pairs, 2)
        for which in ("large", "small")
        if Raised(Failure.of(recorded(one["large"])), names=NAMES).matches(recorded(other[which]), "f()")
    }
    assert confused == {  # additions of arrays that do not fit, leaked tracers
        frozenset({"npz checkpoint", "diffusion selfcond last batch"}),
        frozenset({"tracer leak", "bandit leak"}),
    }


@pytest.mark.parametrize("pair", RECORDED, ids=lambda pair: f"{pair['failure']} {pair['jax']}")
def test_exact_is_exact(pair: dict[str, Any]) -> None:
    large, small = recorded(pair["large"]), recorded(pair["small"])
    exact = Raised(Failure.of(large), "exact")
    assert exact.matches(large, "f()")
    assert exact.matches(small, "f()") == (small.message == large.message)


# -- messages


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shapes=[(20, 1, 1), (32, 16, 1), ()]", "shapes=[(2,), (3,)]"),
        ("must be int32[8,3], not float32[8]", "must be int64[], not float64[1,1]"),
        ("<function Kalman.update at 0x7f87> failed", "<function A.f at 0x7fbe847f6c00> failed"),
        ("of type <class '__main__.Kalman'> given", "of type <class '__main__.A'> given"),
        ("rule attached to pair_energy at repro.py:223 must", "rule attached to f at repro.py:5 must"),
        ("axis 0 of argument args[1]['w'].b has 3", "axis 0 of argument x[0] has 3"),
        ("ratio 1.5 of 1e-06 is too small. Try 3.", "ratio 0.25 of 3 is too small. Or not."),
        ("differ at:\n  * one\n  * two", "differ at:\n  * three"),
        ("different components: 1, 2, 3", "different component: 7"),
        ("Size of label 'j' for operand 1 (4) does not match", "Size of label 'q' for operand 0 (2) does not match"),
        ("subscript 'bqhd,bkhd->bhqk' does not fit", "subscript 'i,j' does not fit"),
        ("Einstein sum subscript 'bjk' does not", "Einstein sum subscript 'i' does not"),
        ("block (= (Blocked(size=1), Blocked(size=64))) has", "block (= (Blocked(size=2),)) has"),
        ("structure PyTreeDef((*, {'a': (*, *)})) but", "structure PyTreeDef(*) but"),
        ("applied to the function 'local_grad' here", "applied to the function '<lambda>' here"),
        ("in /home/me/a/layers.py:17 (jit)", "in repro.py:3 (jit)"),
        ("mesh=Mesh('a': 2, 'b': 2, axis_types=(Auto, Auto))", "mesh=Mesh('m': 4, axis_types=(Auto,))"),
        ("spec=P(('a', 'b'), None), x", "spec=P('m'), x"),
        ("f is <function step at 0x7f30ca>, not it", "f is <function outer.<locals>.<lambda> at 0x1>, not it"),
        ("f is <function step at 0x7f30ca>, not it", "f is <bound method A.f of <__main__.A object at 0x1>>, not it"),
    ],
)  # fmt: skip
def test_masked(old: str, new: str) -> None:
    assert alike(old, new)
    assert alike(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add got incompatible shapes", "mul got incompatible shapes"),
        ("nan encountered in log", "nan encountered in div"),
        ("with shape bool[]", "with shape float32[]"),
        ("is not a jax.numpy type. Fix it.", "is not a jax.lax type. Fix it."),
        ("value of type <class 'str'> given", "value of type <class 'dict'> given"),
        ("unknown option 'fast'", "unknown option 'slow'"),
        ("argument to <function step at 0x7f30ca> as", "argument to <built-in function abs> as"),
        ("could not hash:\nTypeError: unhashable type: 'list'", "could not hash:\nTypeError: unhashable type: 'dict'"),
        ("callback failed\nKeyError: 'a'", "callback failed\nIndexError: 3"),
    ],
)
def test_not_masked(old: str, new: str) -> None:
    assert not alike(old, new)


CARRY = "carries must have equal types, but differ:\n\nc has type {} but should have type {}, so the {} do not match."


@pytest.mark.parametrize(
    ("new", "same"),
    [
        (("float32[2]", "bfloat16[2]", "dtypes"), True),
        (("bfloat16[]", "float64[]", "dtypes"), True),
        (("bool[]", "int32[]", "dtypes"), False),
        (("float32[2]", "float32[3]", "shapes"), False),
    ],
)
def test_what_differs_of_arrays(new: tuple[str, str, str], same: bool) -> None:
    assert alike(CARRY.format("float32[6,20]", "bfloat16[6,20]", "dtypes"), CARRY.format(*new)) is same


def test_exception_of_a_traceback_in_the_message() -> None:
    message = "INTERNAL: Traceback (most recent call last):\n  File 'a.py', line 4, in read\n{}: sample 17 is bad"
    assert alike(message.format("CorruptSample"), message.format("CorruptSample").replace("17", "2"))
    assert not alike(message.format("CorruptSample"), message.format("Missing"))


def test_levels() -> None:
    old, new = "dims differ: 3. Pad the first.", "dims differ: 4. Cut the second."
    assert alike(old, new, "type")
    assert alike(old, new, "site")
    assert not alike(old, new, "message")
    assert alike(old, old.replace("3", "4"), "message")
    assert not alike(old, old.replace("3", "4"), "exact")


def test_site() -> None:
    signature = Raised(Failure.of(raised("m")))
    assert signature.matches(raised("m"), "x")
    assert not signature.matches(raised("m", line=8), "x")
    assert not signature.matches(raised("m", file="jax/_src/lax/slicing.py"), "x")
    assert not signature.matches(raised("m", type_="TypeError"), "x")
    assert Raised(Failure.of(raised("m")), "type").matches(raised("n", line=8), "x")


def test_match_stands_for_the_message() -> None:
    signature = Raised(Failure.of(raised("got 3 shapes")), match="shapes|sizes")
    assert signature.matches(raised("no sizes"), "x")
    assert not signature.matches(raised("got 3 numbers"), "x")
    assert not signature.matches(raised("no sizes", line=8), "x")


def test_other_ends() -> None:
    signature = Raised(Failure.of(raised("m")), "type")
    assert not signature.matches(Outcome(End.EXIT, code=1), "x")
    assert not signature.matches(dataclasses.replace(raised("m"), end=End.TIMEOUT), "x")


def test_generated_code_belongs_to_its_caller() -> None:
    frames = (Frame("jax/_src/core.py", "f", 3), Frame("<string>", "__init__", 1))
    assert Failure.of(Outcome(End.EXCEPTION, "TypeError", "m", frames)).site == "jax._src.core:f:3"


def test_one_api_that_raises_from_python_and_from_c() -> None:
    text = "f([])"
    told = "Non-hashable static arguments are not supported. An error occurred while hashing <class 'list'>, {}."
    python = raised(told.format("[8, 32]"))
    c = Outcome(End.EXCEPTION, "ValueError", told.format("[]"), (Frame("repro.py", "<module>", 1, 1, 0, 5, True),))
    assert Raised(Failure.of(python)).matches(c, text)
    assert Raised(Failure.of(c, text)).matches(python, text)
    other = dataclasses.replace(c, message=told.format("[]") + " Another end.")
    assert not Raised(Failure.of(python)).matches(other, text)


# -- the program's own failures

DECAY = """
def penalty(params):
    return [params[name]["decay"] for name in params]


penalty({"w": {}})
"""


@pytest.mark.parametrize(
    ("original", "candidate"),
    [
        (DECAY, '{}["decay"]'),
        ("[0, 1, 2][7]", "[][0]"),
        ("a, b = range(5)", "x, y = 1, 2, 3"),
        ("def f(n):\n    for i in n: print(i)\nf(3)", "for x in 0: pass"),
        ("def f(n):\n    return [i for i in n]\nf(3)", "[0 for x in 5]"),
        ("x = {}\nprint(x + 1)", "{} + 1"),
        ("class A: pass\nA().weights", "class A: pass\nA().weights"),
        ("def step(x, y): pass\nstep(1)", "def step(y): pass\nstep()"),
        ("def f(x):\n    if x > 3:\n        raise ValueError(x)\nf(5)", "if int(1): raise ValueError(0)"),
        ("def check(x, y):\n    assert x == y\ncheck(1, 2)", "x = 1\nassert x == 2"),
        ("with open as f: pass", "with print: pass"),
        ("import math\nprint(math.sqrt(-4))", "from math import sqrt\nsqrt(-1)"),
    ],
)  # fmt: skip
def test_same(original: str, candidate: str) -> None:
    assert same(original, candidate)


@pytest.mark.parametrize(
    ("original", "candidate"),
    [
        (DECAY, '{}["rate"]'),
        (DECAY, 'raise KeyError("decay")'),
        (DECAY, '{}.pop("decay")'),
        ("class A: pass\nA().weights", "class A: pass\nA().bias"),
        ("x = {}\nx + 1", "[] + 1"),
        ("def f(x):\n    if x > 3:\n        raise ValueError('bad')\nf(5)", "raise ValueError('bad')"),
        ("def f(x):\n    if x > 3:\n        raise ValueError('bad')\nf(5)", "if 1 < 3:\n    raise ValueError('bad')"),
        ("def check(x, y):\n    assert x == y\ncheck(1, 2)", "assert False"),
        ("def check(x, y):\n    assert x == y\ncheck(1, 2)", "assert 1 == 2"),
        ("def check(x, y):\n    assert x == y\ncheck(1, 2)", "raise AssertionError"),
        ("int('x')", "int('1')"),
    ],
)
def test_another_failure(original: str, candidate: str) -> None:
    assert not same(original, candidate)


def test_a_class_of_a_module_of_the_program() -> None:
    original = Failure("exception", "flow.errors.Unstable", "dt 3", "user", frozenset({"raise"}))
    text = "raise Unstable"
    frames = (Frame("repro.py", "<module>", 1, 1, 0, len(text), True),)
    assert Raised(original).matches(Outcome(End.EXCEPTION, "__main__.Unstable", "dt 1", frames), text)
    assert not Raised(original).matches(Outcome(End.EXCEPTION, "other.Unstable", "dt 1", frames), text)


def test_long_lists_of_numbers_are_masked_in_no_time() -> None:
    numbers = ", ".join(f"0.{i:09}" for i in range(200))
    assert "0.0" not in masked(f"off by ({numbers}, 1e-05)")


# -- slips


@pytest.mark.parametrize(
    "candidate",
    [
        "raise ValueError",
        "assert False",
        "import sys\nsys.exit(1)",
        "exit(1)",
        "from os import abort",
        "import os\nos.kill(0, 9)",
        "while True: pass",
        "while 1: pass",
        "jax.lax.while_loop(lambda x: True, f, 0)",
        "while_loop(lambda x: 0 < 1, f, 0)",
        "import jax.numpy as jnp\njnp.broadcast_shapes((2,), (3,))",
        "from jax.numpy import result_type as r",
        "float('nan')",
        "np.nan",
        "import numpy as np\nf(np.random.normal(size=3))",
    ],
)
def test_slips(candidate: str) -> None:
    assert slips("import jax\njax.jit(f)(x)", candidate) is not None
    assert slips(candidate, candidate) is None


def test_loops_that_end() -> None:
    for condition in ("x < 3", "False", "0", "1 < 1"):
        assert slips("", f"jax.lax.while_loop(lambda x: {condition}, f, 0)") is None
    assert slips("", "f(lambda x: True)") is None
    assert slips("", "while x: pass") is None


@pytest.mark.parametrize(
    ("body", "still"),
    [
        ("lambda x: 1", True),
        ("body_fun=lambda x: jnp.ones(3)", True),
        ("g", True),
        ("lambda x: x", False),
        ("h", False),
    ],
)
def test_loops_that_stand_still(body: str, still: bool) -> None:
    constant = "def g(x):\n    y = x\n    y = 1\n    return y\n"
    last = "def h(x):\n    for y in z(x):\n        u = y\n    return u\n"
    text = f"{constant}{last}jax.lax.while_loop(lambda x: x > 0, {body}, init_val=1)"
    assert (slips("", text, hangs=True) is not None) == still
    assert slips("", text) is None  # tracing it may fail all the same


@pytest.mark.parametrize(
    ("condition", "still", "moving"),
    [
        ("lambda s: s[0] > 0", "lambda s: (1, s[0])", "lambda s: (s[1], 1)"),
        ("lambda s: s['x'] > 0", "lambda s: {'x': 1, 'y': s['y']}", "lambda s: {'x': s['x'] * 2, 'y': 1}"),
        ("lambda s: s.x > 0", "lambda s: s._replace(x=1)", "lambda s: s._replace(x=s.y)"),
        ("unpacks", "lambda s: (s[0], 1)", "lambda s: (1, s[0])"),
    ],
)
def test_what_is_looked_at_stands_still(condition: str, still: str, moving: str) -> None:
    unpacks = "def unpacks(s):\n    x, y = s\n    return y > 0\n"
    for body, slip in ((still, True), (moving, False)):
        loop = f"{unpacks}jax.lax.while_loop({condition}, {body}, init)"
        assert (slips("", loop, hangs=True) is not None) == slip


@pytest.mark.parametrize(
    ("test", "exact"),
    [
        ("assert_allclose(a, b)", True),
        ("assert_allclose(a, b, 1e-5)", False),
        ("assert_allclose(a, b, rtol=1e-5)", False),
        ("assert jnp.allclose(a, b)", False),
        ("assert jnp.allclose(a, b, atol=0)", True),
        ("assert abs(a - b) <= 0", True),
        ("assert not abs(a - b) > 0.0", True),
        ("assert abs(a - b) <= 1e-6", False),
    ],
)
def test_comparisons_that_find_rounding(test: str, exact: bool) -> None:
    assert (slips("assert a", test, values=True) is not None) == exact
    assert slips(test, test, values=True) is None


def test_what_the_input_had_is_no_slip() -> None:
    original = "def f(x):\n    if x:\n        raise ValueError\n    assert x\nf(1)"
    assert slips(original, "raise ValueError") is None
    assert slips(original, "raise ValueError\nraise ValueError") == "raise"


def test_names() -> None:
    text = "class A:\n    def f(self, x=3):\n        self.w = jnp.ones(x, dtype=k)\nd = {'key': 1}"
    assert names_of(text) == {"A", "f", "self", "x", "w", "dtype", "d", "key", "<lambda>"}
