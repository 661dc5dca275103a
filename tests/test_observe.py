"""What an observation tells of a run."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from jaxshrink.observation import Array, Function, Literal, Observation, Public, Recipe, Span, UserModule
from jaxshrink.outcome import End
from tests.observing import INSIDE, local, observe

TRAINING = """
import functools
import jax
import jax.numpy as jnp
from jax import lax

def cell(w, carry, x):
    h = jnp.tanh(carry @ w)
    return h, jnp.dot(h, x)

def loss(w, xs):
    body = functools.partial(cell, w)
    return jax.vmap(lambda row: lax.scan(body, jnp.zeros(3), row)[1].sum())(xs).mean()

@jax.jit
def step(w, xs):
    value, gradient = jax.value_and_grad(loss)(w, xs)
    return w - 0.1 * gradient

w = jnp.ones((3, 3))
w = step(w, jnp.ones((4, 5, 3)))
step(w, jnp.ones((4, 5, 2)))
"""


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    return observe(tmp_path_factory.mktemp("training"), TRAINING)


def test_the_failing_stack(training: Observation) -> None:
    assert (training.outcome.end, training.outcome.type) == (End.EXCEPTION, "TypeError")
    assert (training.outcome.message or "").startswith("dot_general requires contracting dimensions")
    assert [frame.function for frame in training.frames] == ["cell", "<lambda>", "loss", "step", "<module>"]
    for frame in training.frames:
        told = training.outcome.frames[frame.position]
        assert told.user and told.file == "repro.py" and told.line == frame.span.line
    assert training.outcome.frames[-1].file.startswith("jax/_src/")
    assert training.outcome.frames[0].function == "<module>"


def test_variables_at_the_failure(training: Observation) -> None:
    assert local(training, "carry") == Array("jax", (3,), "float32", tracer=True)
    assert local(training, "x") == Array("jax", (2,), "float32", tracer=True)
    assert isinstance(local(training, "cell", frame=4), Function)
    assert local(training, "jnp", frame=4) == Public("jax.numpy")


def test_transformations_between_frames(training: Observation) -> None:
    position = {frame.function: frame.position for frame in training.frames}
    between = {(gap.outer, gap.inner): gap.names for gap in training.transforms}
    assert between[position["<module>"], position["step"]] == ("jit",)
    assert between[position["step"], position["loss"]] == ("value_and_grad",)
    assert between[position["loss"], position["<lambda>"]] == ("vmap",)
    assert between[position["<lambda>"], position["cell"]] == ("scan",)


def test_calls_of_public_functions(training: Observation) -> None:
    calls = {call.name: call for call in training.library_calls}
    assert [name for name in calls if "dot" in name][-2:] == ["jax.lax.dot_general", "jax.numpy.dot"]
    shapes = [_shape(training.objects[ref]) for ref in calls["jax.numpy.dot"].args]
    assert shapes == [(3,), (2,)]
    assert "jax.lax.scan" in calls


def test_values_of_expressions(training: Observation) -> None:
    assert _value(training, TRAINING, "carry @ w") == Array("jax", (3,), "float32", tracer=True)
    assert _shape(_value(training, TRAINING, "jnp.ones((4, 5, 2))")) == (4, 5, 2)
    assert _value(training, TRAINING, "value, gradient") is None, "a target is no value"


def test_statements_that_ran(tmp_path: Path) -> None:
    program = '''\
    """Text."""
    from __future__ import annotations

    total = 0
    for i in range(3):
        total += len([i] * i)
        shape = (i - i, 2)
    if total > 100:
        never = 1

    class C:
        "doc"
        k = 1
        def unused(self):
            return self

    [][total]
    '''
    program = textwrap.dedent(program)
    observation = observe(tmp_path, program)
    assert observation.lines == {"repro.py": frozenset({1, 2, 4, 5, 6, 7, 8, 11, 12, 13, 14, 17})}
    assert _value(observation, program, "len([i] * i)") == Literal("2")
    assert (observation.outcome.frames[-1].column == 0 and observation.outcome.frames[-1].end_column == 9) or (
        sys.version_info < (3, 11)
    )


def test_hot_loops_run_unwatched_in_the_end(tmp_path: Path) -> None:
    program = "total = 0\nfor i in range(50_000):\n    total = total + (i < 20_000)\n[][total]\n"
    observation = observe(tmp_path, program)
    assert _value(observation, program, "total + (i < 20_000)") == Literal("10000")
    assert local(observation, "total") == Literal("20000")


def test_endless_recursion(tmp_path: Path) -> None:
    observation = observe(tmp_path, "import sys\nsys.setrecursionlimit(5000)\ndef f(n):\n    return f(n + 1)\nf(0)\n")
    assert observation.outcome.type == "RecursionError"
    assert len(observation.outcome.frames) == len(observation.frames) == 1000
    assert observation.outcome.frames[0].function == "<module>"
    assert local(observation, "n", frame=998) == Literal("0")
    assert isinstance(local(observation, "n"), Literal)


def test_a_forked_child_tells_nothing(tmp_path: Path) -> None:
    program = "import os\npid = os.fork()\nif not pid: raise KeyError('child')\nos.wait()\nraise KeyError('parent')"
    assert observe(tmp_path, program).outcome.message == "'parent'"


def test_modules_of_the_program(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "repro.py": "import sys\nfrom pkg import tool as t\nfrom render import *\nt.run(sys.argv, text())\n",
        "render.py": "import recorder\ndef text(): return open('data.txt').read()\n",
        "recorder.py": "",
        "pkg/__init__.py": "from . import tool\n",
        "pkg/tool.py": (
            b"# -*- coding: latin-1 -*-\r\nfrom .parts import fail\r\ndef run(*a):\r\n\tfail('\xe9', *a)\r\n"
        ),
        "pkg/parts.py": "\ufeffdef fail(*a): raise LookupError(a)\n",
        "data.txt": "data",
    }  # fmt: skip
    observation = observe(tmp_path, files, argv=("--x", "1"))
    assert observation.outcome.type == "LookupError"
    assert observation.outcome.message == f"('é', ['{tmp_path}/program/repro.py', '--x', '1'], 'data')"
    assert observation.modules == (
        UserModule("__main__", "repro.py", False),
        UserModule("pkg", "pkg/__init__.py", True),
        UserModule("pkg.tool", "pkg/tool.py", False),
        UserModule("pkg.parts", "pkg/parts.py", False),
        UserModule("render", "render.py", False),
        UserModule("recorder", "recorder.py", False),
    )
    assert observation.finished == ("pkg.parts", "pkg.tool", "pkg", "recorder", "render")
    assert [(frame.module, frame.span.file) for frame in observation.frames] == [
        ("pkg.parts", "pkg/parts.py"), ("pkg.tool", "pkg/tool.py"), ("__main__", "repro.py")
    ]  # fmt: skip
    assert set(observation.lines) == {"repro.py", "render.py", "pkg/__init__.py", "pkg/tool.py", "pkg/parts.py"}


def test_failures_of_an_import(tmp_path: Path) -> None:
    for text, kind, frames in [("def f(:", "SyntaxError", 1), ("1 / 0", "ZeroDivisionError", 2)]:
        observation = observe(tmp_path, {"repro.py": "import part\n", "part.py": text})
        assert observation.outcome.end is End.EXCEPTION and observation.outcome.type == kind
        assert [frame.file for frame in observation.outcome.frames] == ["repro.py", "part.py"][:frames]
        assert observation.finished == ()


def test_shardings_are_written_out(tmp_path: Path) -> None:
    program = """
        import jax
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(jax.devices(), ("data",))
        shardings = [NamedSharding(mesh, spec) for spec in (PartitionSpec("data", None), PartitionSpec())]
        first, other = shardings
        kind, parts = NamedSharding, PartitionSpec
        raise LookupError
        """
    observation = observe(tmp_path, textwrap.dedent(program))
    mesh = "jax.sharding.Mesh(np.reshape(jax.devices(), (1,)), ('data',))"
    assert local(observation, "mesh") == Literal(mesh)
    assert local(observation, "first") == Literal(f"jax.sharding.NamedSharding({mesh}, P('data', None))")
    assert local(observation, "other") == Literal(f"jax.sharding.NamedSharding({mesh}, P())")
    assert local(observation, "kind") == Public("jax.sharding.NamedSharding"), "jax.NamedSharding is new"
    assert local(observation, "parts") == Public("jax.sharding.PartitionSpec"), "and so is jax.P"


@pytest.mark.parametrize(
    ("program", "end", "code", "kind"),
    [
        ("x = 1", End.EXIT, 0, None),
        ("import sys\nsys.exit(3)", End.EXIT, 3, None),
        ("raise SystemExit('text')", End.EXIT, 1, None),
        ("def f(:", End.SYNTAX, 1, "SyntaxError"),
        ("import no_such_module", End.EXCEPTION, 1, "ModuleNotFoundError"),
        ("raise KeyboardInterrupt", End.EXCEPTION, 1, "KeyboardInterrupt"),
        ("class E(Exception):\n def __str__(self): raise ValueError\nraise E", End.EXCEPTION, 1, "__main__.E"),
    ],
)
def test_ends(tmp_path: Path, program: str, end: End, code: int, kind: str | None) -> None:
    outcome = observe(tmp_path, program).outcome
    assert (outcome.end, outcome.code, outcome.type) == (end, code, kind)


def test_standard_error_is_that_of_a_plain_run(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import json
        def f(text):
            try:
                json.loads(text)
            except ValueError as error:
                raise RuntimeError(f"not {'JSON'}") from error
        print(f("[1]"))
        print([f(x) for x in ["[2]", "{"]])
    """)
    observe(tmp_path, program)
    folder = tmp_path / "program"
    spec = tmp_path / "spec.json"
    watched = subprocess.run(
        [sys.executable, str(INSIDE / "observe.py"), str(spec)], cwd=folder, capture_output=True, text=True, check=False
    )
    plain = subprocess.run(
        [sys.executable, str(folder / "repro.py")], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (watched.stdout, _without_carets(watched.stderr)) == (plain.stdout, _without_carets(plain.stderr))
    assert watched.returncode == plain.returncode == 1


def test_leak_checks_see_no_leak_of_ours(tmp_path: Path) -> None:
    program = """
        import jax
        jax.config.update("jax_check_tracer_leaks", True)
        @jax.jit
        def f(x):
            pair = {"a": [x, x + 1]}
            return sum(pair["a"])
        f(1.0)
        raise LookupError("end")
    """
    assert observe(tmp_path, textwrap.dedent(program)).outcome.type == "LookupError"


def _span(source: str, text: str, occurrence: int = 0) -> Span:
    """The span of the expression with that text."""
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.expr) and ast.get_source_segment(source, node) == text
    ]
    node = sorted(found, key=lambda node: (node.lineno, node.col_offset))[occurrence]
    assert node.end_lineno is not None and node.end_col_offset is not None
    return Span("repro.py", node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _value(observation: Observation, source: str, text: str) -> Recipe | None:
    value = observation.values.get(_span(source, text))
    return None if value is None else observation.objects[value]


def _shape(recipe: Recipe | None) -> tuple[int, ...]:
    assert isinstance(recipe, Array)
    return recipe.shape


def _without_carets(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip(" ~^"))


def test_arrays_that_could_not_be_computed_are_not_read(tmp_path: Path) -> None:
    """Reading one whose memory was never there ends the process in some versions of JAX."""
    program = """import jax.numpy as jnp
n = 1 << 24
small = jnp.ones(2)
huge = jnp.ones((n, 1)) + jnp.ones((1, n))
float(huge.sum())
"""
    observation = observe(tmp_path, program)
    assert observation.outcome.end is End.EXCEPTION and "Out of memory" in (observation.outcome.message or "")
    huge, small = local(observation, "huge"), local(observation, "small")
    assert isinstance(huge, Array) and huge.shape == (1 << 24, 1 << 24) and not huge.data
    assert isinstance(small, Array) and small.data
