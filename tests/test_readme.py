"""The README says what is there; so does the API of the command line."""

from __future__ import annotations

import re
from pathlib import Path

from jaxshrink.capturecli import command as capture
from jaxshrink.cli import command
from jaxshrink.inside.recompiles.differences import KINDS
from jaxshrink.options import Given
from jaxshrink.recompilescli import command as recompiles
from jaxshrink.result import STATUSES, Result

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUOTED = set(re.findall(r"`([^`\n]+)`", README))


def test_each_module_has_its_place() -> None:
    there = {path.name + "/" * path.is_dir() for path in (ROOT / "jaxshrink").iterdir()}
    modules = {name for name in there if name.endswith((".py", "/")) and not name.startswith(("__main__", "__py", "."))}
    assert modules - QUOTED == set()
    mentioned = {name for name in QUOTED if re.fullmatch(r"\w+(\.py|/)", name)} - {"repro.py"}
    assert {name for name in mentioned if not (ROOT / name).exists()} <= modules


def test_each_option_is_told_of() -> None:
    parameters = (*command.params, *capture.params, *recompiles.params)
    options = {name for each in parameters for name in each.opts if name.startswith("-")}
    quoted = {word for text in QUOTED for word in re.findall(r"--?[\w-]+", text)}
    assert options - quoted == {"--quiet", "--verbose", "--version"}
    assert {name for name in quoted if name.startswith("--")} <= options


def test_the_api_has_the_options_of_the_command() -> None:
    names = {each.name for each in command.params}
    of_the_command_alone = {"repro", "as_json", "quiet", "verbose", "version", "list_passes"}
    assert names - of_the_command_alone == Given.__optional_keys__ - {"args"}


def test_each_part_of_the_report_is_told_of() -> None:
    assert Result("error", "").to_json().keys() <= QUOTED
    assert set(STATUSES) <= QUOTED


def test_each_reason_of_a_recompilation_is_told_of() -> None:
    told = set(re.findall(r"^\| ((?:`[\w ]+`(?:, )?)+) \|", README, re.MULTILINE))
    reasons = {reason for cell in told for reason in re.findall(r"`([\w ]+)`", cell)}
    assert {*KINDS, "caches cleared", "evicted", "dropped", "not compiled before"} <= reasons
