"""The programs of `programs/`, and what becomes of them: as they are, under capture, and as captured."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SIZE = 12
"""Programs that share a process."""

Answer = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """A program that passes or fails. Those of one `setting` may share a process."""

    name: str
    passes: bool
    source: str

    @property
    def setting(self) -> str:
        if "jax.config.update" in self.source or "enable_x64" in self.source:
            return self.name
        return "devices" if "XLA_FLAGS" in self.source else ""


@dataclass(frozen=True)
class Result:
    """What became of a program: run plainly, under capture, the captured one run, and captured once more."""

    program: Program
    original: Answer
    captured: Answer
    again: Answer
    round: Answer


def programs(file: str) -> list[Program]:
    """The programs of a file, each below a line `# ---- passes NAME` or `# ---- fails NAME`."""
    found = []
    for section in re.split(r"^# ---- ", (HERE / "programs" / f"{file}.py").read_text(), flags=re.MULTILINE)[1:]:
        head, _, source = section.partition("\n")
        kind, _, name = head.partition(" ")
        found.append(Program(f"{kind} {name}", kind == "passes", source))
    return found


def batches(file: str) -> Iterator[list[Program]]:
    """The programs of a file, some at a time."""
    by_setting: dict[str, list[Program]] = {}
    for program in programs(file):
        by_setting.setdefault(program.setting, []).append(program)
    for group in by_setting.values():
        for start in range(0, len(group), SIZE):
            yield group[start : start + SIZE]


class Runner:
    """A process that runs programs, each batch in a fork. The options are those of `runs.py`."""

    def __init__(self, *options: str):
        command = [sys.executable, str(HERE / "runs.py"), *options]
        # Most of the time goes to the compiler; sets in messages have one order.
        environment = {**os.environ, "JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def run(self, jobs: list[dict[str, Any]]) -> list[Answer]:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps({"programs": jobs}), file=self.process.stdin, flush=True)
        answers: list[Answer] = json.loads(self.process.stdout.readline())
        return answers

    def results(self, batch: list[Program], rounds: bool = False) -> list[Result]:
        """What becomes of programs; with `rounds` the captured ones are captured too."""
        plain = self.run([{"source": one.source, "mode": "plain"} for one in batch])
        captured = self.run([{"source": one.source, "mode": _mode(one)} for one in batch])
        texts = [{"source": (one["texts"] or [""])[-1] or "pass", "data": one.get("data") or None} for one in captured]
        again = self.run([{**one, "mode": "plain"} for one in texts])
        twice = [{**text, "mode": _mode(one)} for text, one in zip(texts, batch, strict=True)]
        round_ = self.run(twice) if rounds else again
        return [Result(*four) for four in zip(batch, plain, captured, again, round_, strict=True)]


def _mode(program: Program) -> str:
    return "everything" if program.passes else "failing"


def problems(result: Result) -> Iterator[str]:
    """What is wrong with what became of a program."""
    program, original, captured, again = result.program, result.original, result.captured, result.again
    if (original["error"] is None) != program.passes:
        yield f"the program itself gives {original['error']}"
        return
    yield from _differences(original, captured, ("error", "last", "warnings", "printed"), "under capture")
    yield from (f"a mistake of capture's: {one}" for one in captured["mistakes"])
    if not captured["texts"]:
        yield "nothing was captured"
        return
    yield from (f"the captured program imports {name}" for name in foreign(captured["texts"][-1]))
    what = ("error", "last", "printed") if program.passes else ("error",)
    for difference in _differences(original, again, what, "of the captured program"):
        yield f"{difference}\n{captured['texts'][-1]}"


def _differences(first: Answer, second: Answer, what: tuple[str, ...], where: str) -> Iterator[str]:
    for one in what:
        if plain(first[one]) != plain(second[one]):
            yield f"{one} {where}: {second[one]!r}, not {first[one]!r}"


def plain(value: object) -> object:
    """Without addresses and places in the program."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, str):
        return value
    value = re.sub(r"program_[\d_]+\.py|PROGRAM", "PROGRAM", re.sub(r"/\S*(?=program_\d)", "", value))
    value = re.sub(r"0x[0-9a-f]+|object id \d+|\b\d{12,}\b|PROGRAM:\d+(:\d+)?", "", value)
    return re.sub(r"created on line .*|Leaked tracer\(s\):\n.*", "", value, flags=re.DOTALL)  # places all the way


def foreign(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (name for name in names if name.partition(".")[0] not in ("jax", "numpy", "os", "operator"))
