"""The end of a job: what is verified, and what Ctrl-C leaves of it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from jaxshrink import Interrupted, shrink
from jaxshrink.final import Final
from jaxshrink.interest import Interest
from jaxshrink.outcome import Tier


def interrupt(self: Final) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Fails without JAX, by a variable that it sets itself."""
    path = tmp_path / "repro.py"
    path.write_text("import os\n\nos.environ['WIDTH'] = 'abc'\nwidth = os.environ['WIDTH']\n{}[len(width)]\n")
    return path


def test_interrupted_verification_gives_the_best(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Final, "text", interrupt)
    result = shrink(program, tier="warm")
    assert result.status == "interrupted"
    assert result.path is not None
    assert result.output_size is not None
    assert result.output_size.tokens < 30
    alone = subprocess.run([sys.executable, result.path], capture_output=True, text=True, check=False)
    assert "\nKeyError: " in alone.stderr


def test_a_second_interrupt_tells_where_the_best_is(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Final, "text", interrupt)
    monkeypatch.setattr(Final, "hasty", interrupt)
    with pytest.raises(Interrupted, match=r"the best program so far is (\S+best\.py)") as raised:
        shrink(program, tier="warm")
    kept = Path(raised.value.message.rpartition(" ")[2])
    assert "{}[" in kept.read_text()
    assert not program.with_name("repro.min.py").exists()


class Scripted:
    """Stands for an interest: says what each of its rounds says."""

    repeat, witness = 1, None

    def __init__(self, rounds: list[bool]):
        self.rounds = rounds

    def hold(self, texts: list[str], tier: Tier, repeat: int) -> list[bool]:
        return [self.rounds.pop(0)] * len(texts)


@pytest.mark.parametrize(("afterwards", "files"), [(True, False), (False, True)])
def test_data_files_are_needed_only_if_it_does_not_hold_without(afterwards: bool, files: bool) -> None:
    rounds = {False: [False, False, afterwards], True: [True]}  # tidy and plain text, then again
    final = Final([ast.parse("f(1)")], {}, lambda files: cast(Interest, Scripted(rounds[files])))
    assert final.text() == "f(1)\n"
    assert final.files == files


def test_flags_that_do_not_matter_go() -> None:
    class Flagged(Scripted):
        def hold(self, texts: list[str], tier: Tier, repeat: int) -> list[bool]:
            return ["--xla_b=2" in text for text in texts]

    env = {"XLA_FLAGS": " --xla_a=1 --xla_b=2  --xla_c=3"}
    final = Final([ast.parse("import jax\njax.f()")], env, lambda files: cast(Interest, Flagged([])))
    text = final.text()
    assert text is not None and 'os.environ["XLA_FLAGS"] = "--xla_b=2"' in text


def test_no_run_of_the_result_is_for_nothing() -> None:
    """It is run three times in all, the time included that told that it needs the variable."""

    asked: list[str] = []

    class Counted(Scripted):
        def hold(self, texts: list[str], tier: Tier, repeat: int) -> list[bool]:
            asked.extend(texts)
            return ["WIDTH" in text for text in texts]

    tree = ast.parse("import jax\njax.f()")
    text = Final([tree], {"WIDTH": "3"}, lambda files: cast(Interest, Counted([]))).text()
    assert text is not None and asked.count(text) == Final.TIMES
    assert len(asked) == Final.TIMES + 1
