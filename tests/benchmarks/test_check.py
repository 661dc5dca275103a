"""Whether a result fails as its input does. The programs need no JAX."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.check import Reference
from benchmarks.inputs import Input

TEXT = "import json, sys\njson.loads(sys.argv[1])"
GIVEN = Input("given", "json.decoder.JSONDecodeError", "Expecting value", args=("x",), text=TEXT)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference.of(GIVEN, sys.executable)


def test_the_site_is_the_innermost_frame_in_a_library(reference: Reference) -> None:
    assert reference.site == "json/decoder.py:raw_decode"


def test_the_same_failure(reference: Reference) -> None:
    assert reference.holds("import json\njson.loads('')", alone=True) == (3, "")


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        ("1", "raises nothing, exit code 0"),
        ("import os; os._exit(3)", "raises nothing, exit code 3"),
        ("raise SystemExit(1)", "raises nothing, exit code 1"),
        ("1 / 0", "ZeroDivisionError instead of json.decoder.JSONDecodeError"),
        ("(", "SyntaxError instead of json.decoder.JSONDecodeError"),
        ("import json\njson.loads('{1')", "another message: Expecting property name"),
        ("from json import JSONDecodeError\nraise JSONDecodeError('Expecting value', '', 0)",
         "raised in user, not in json/decoder.py:raw_decode"),
    ],
)  # fmt: skip
def test_other_failures(reference: Reference, text: str, difference: str) -> None:
    held, why = reference.holds(text, alone=True)
    assert held == 0
    assert why.startswith(difference)


def test_a_result_that_has_to_stand_alone_gets_no_arguments(reference: Reference) -> None:
    assert reference.holds(TEXT, alone=False) == (3, "")
    assert reference.holds(TEXT, alone=True)[1].startswith("IndexError")


def test_where_it_must_end_well() -> None:
    text = "import os\nassert os.environ.get('WIDE') == '1'"
    given = Input("given", "AssertionError", "", text=text, control={"WIDE": "1"})
    reference = Reference.of(given, sys.executable)
    assert reference.holds(text, alone=True) == (3, "")
    assert reference.holds("assert False", alone=True) == (0, "fails where it must not: with WIDE=1")


def test_what_it_must_keep() -> None:
    text = "import math\nif math.sqrt(2) ** 2 != 2: raise ValueError"
    reference = Reference.of(Input("given", "ValueError", "", text=text, keeps=("sqrt|cbrt",)), sys.executable)
    assert reference.holds(text, alone=True) == (3, "")
    assert reference.holds("raise ValueError", alone=True) == (0, "has lost sqrt|cbrt")


def test_an_input_that_does_not_fail() -> None:
    with pytest.raises(ValueError, match="given does not fail as it should: raises nothing"):
        Reference.of(Input("given", "ValueError", "", text="1"), sys.executable)


def test_the_program_is_run_as_a_script(tmp_path: Path) -> None:
    text = "import json, sys\nimport beside\nassert __name__ == '__main__' and sys.modules['__main__'].json is json\n"
    text += "raise ValueError(json.dumps([__file__, sys.argv, beside.x]))"
    (tmp_path / "repro.py").write_text(text)
    (tmp_path / "beside.py").write_text("x = 1")
    expected = json.dumps(["repro.py", ["repro.py", "a"], 1])
    given = Input("given", "ValueError", "^" + expected.replace("[", r"\[") + "$", args=("a",), folder=tmp_path)
    assert Reference.of(given, sys.executable).site == "user"
