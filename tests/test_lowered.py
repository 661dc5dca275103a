"""`--also stablehlo`: what the result gives to the compiler, in a file beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest

from jaxshrink import Result, shrink
from jaxshrink.errors import OutputError, UsageError
from jaxshrink.failure import Failure
from jaxshrink.lowered import document, is_ours
from jaxshrink.result import Size

FAILURE = Failure("crash", "SIGSEGV", "", "user")
MODULES = ("module @jit_f {\n}\n", "module @jit_g {\n}")
RESULT = Result(
    "reduced", "", source="f()\n", path=Path("a/repro.min.py"), input_size=Size(9, 1, 9), failure=FAILURE, jax="0.10.2"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "repro.py"


def written(program: Path, text: str, env: Mapping[str, str] | None = None) -> tuple[Result, str | None]:
    """The result, and the file beside it."""
    program.write_text(text)
    result = shrink("repro.py", also="stablehlo", env=env or {})
    file = program.with_name("repro.min.mlir")
    assert result.also == {"stablehlo": Path(file.name) if file.exists() else None}
    return result, file.read_text() if file.exists() else None


def test_a_computation_that_fails(program: Path) -> None:
    """The module is that of the failing call, not those of what made its arguments."""
    failing = "import jax.numpy as jnp\n\nx = jnp.arange(3.0) - 1\nprint(x)\njnp.log(x)\n"
    result, text = written(program, failing, env={"JAX_DEBUG_NANS": "1"})
    assert result.failure is not None and result.failure.type == "FloatingPointError"
    assert text is not None and text.startswith("// lowered by jaxshrink from repro.min.py\n// FloatingPointError: ")
    assert text.count("module @") == 1 and "stablehlo.log" in text and "loc(" not in text


def test_a_crash_at_run_time(program: Path) -> None:
    """What was lowered is there although the process died."""
    _, text = written(
        program,
        "import os\nimport jax, jax.numpy as jnp\n\n\ndef dies(x):\n    os.abort()\n\n\n"
        "y = jax.pure_callback(dies, jax.ShapeDtypeStruct((), bool), jnp.ones(3))\nprint(y)\n",
    )
    assert text is not None and "callback" in text and "SIGABRT" in text


def test_nothing_is_compiled_for_what_fails_while_it_is_traced(program: Path) -> None:
    """An earlier job's file, which tells of another result, does not stay."""
    program.with_name("repro.min.mlir").write_text(document(dataclasses.replace(RESULT, lowered=MODULES)))
    result, text = written(program, "import jax.numpy as jnp\n\njnp.dot(jnp.arange(3) + 1, jnp.ones(4))\n")
    assert text is None and result.to_json()["also"] == {"stablehlo": None}


def test_nothing_is_written_for_what_cannot_be_lowered(program: Path) -> None:
    _, text = written(
        program,
        "import jax\nimport jax.numpy as jnp\nfrom jax.extend.core import Primitive\n\np = Primitive('p')\n"
        "p.def_abstract_eval(lambda x: x)\njax.jit(p.bind)(jnp.ones(3) + 1)\n",
    )
    assert text is None


def test_several_modules_in_one_file() -> None:
    """Tools that read more than one of a file know the line between them."""
    assert document(dataclasses.replace(RESULT, lowered=MODULES)) == (
        "// lowered by jaxshrink from repro.min.py (2 modules, in the order of lowering)\n"
        "// SIGSEGV\n// reduced by jaxshrink from 9 to 3 tokens (jax 0.10.2)\n"
        "module @jit_f {\n}\n\n// -----\n\nmodule @jit_g {\n}\n"
    )


def test_files_of_others_are_not_replaced(program: Path) -> None:
    program.write_text("{}['x']\n")
    other = program.with_name("repro.min.mlir")
    other.write_text("module {}\n")
    assert not is_ours(other)
    with pytest.raises(OutputError, match=r"repro.min.mlir exists and was not written by jaxshrink"):
        shrink("repro.py", also=["stablehlo"])
    assert other.read_text() == "module {}\n" and not program.with_name("repro.min.py").exists()


@pytest.mark.parametrize(
    ("also", "output", "complaint"),
    [("hlo", None, "also must be one of stablehlo, not 'hlo'"), ("stablehlo", "a.mlir", "cannot be the result and")],
)
def test_options_that_make_no_sense(also: str, output: str | None, complaint: str, program: Path) -> None:
    program.write_text("{}['x']\n")
    with pytest.raises(UsageError, match=complaint):
        shrink("repro.py", also=also, output=output)
