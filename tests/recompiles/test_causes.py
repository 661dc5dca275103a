"""Each classic cause of recompilation is counted, named, and comes with what to do about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxshrink import recompiles
from tests.recompiles import of_arguments, of_functions, of_static_arguments, of_structures
from tests.recompiles.case import Case

CASES = {**of_arguments.CASES, **of_structures.CASES, **of_functions.CASES, **of_static_arguments.CASES}
MAIN = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n"


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.devices == 1])
def test_cause(name: str) -> None:
    case = CASES[name]
    with recompiles.watch() as watched:
        exec(compile(case.program, "program.py", "exec"), {"jax": jax, "jnp": jnp, "np": np})
    told = watched.to_json()
    check(case, told["functions"])
    json.dumps(told)


@pytest.fixture(scope="module")
def on_two_devices(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is told of all programs that need two devices, run as one."""
    folder = tmp_path_factory.mktemp("devices")
    programs = {name: case.program for name, case in CASES.items() if case.devices == 2}
    for number, program in enumerate(programs.values()):
        (folder / f"part_{number}.py").write_text(MAIN + program)
    (folder / "main.py").write_text("".join(f"import part_{number}\n" for number in range(len(programs))))
    command = [sys.executable, "-m", "jaxshrink", "recompiles", "--json", folder / "main.py"]
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run(command, cwd=Path(__file__).parents[2], env=environment, capture_output=True, check=True)
    functions = json.loads(done.stdout)["functions"]
    return {
        name: [each for each in functions if f"part_{number}.py" in each["defined"]]
        for number, name in enumerate(programs)
    }


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.devices == 2])
def test_cause_with_devices(name: str, on_two_devices: dict[str, Any]) -> None:
    check(CASES[name], on_two_devices[name])


def check(case: Case, functions: list[dict[str, Any]]) -> None:
    (function,) = (each for each in functions if each["name"] == case.function)
    last = function["misses"][-1]
    differences = [f"{each['path']}: {each['before']} → {each['after']}" for each in last["differences"]]
    assert (function["compiles"], function["traces"]) == (case.compiles, case.traces or case.compiles)
    assert (last["reason"], bool(differences)) == (case.reason, bool(case.difference))
    assert case.difference in (differences or [""])[0]
    assert any(case.advice in each for each in last["advice"])
