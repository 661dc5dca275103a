"""The `capture` command: run a program, write the calls of JAX that it made, see that they fail in the same way."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxshrink import inputs, kinds
from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.errors import Interrupted, NotFailing, OutputError, TargetError, Unreliable, UsageError
from jaxshrink.failure import Failure
from jaxshrink.inplace import exit_code
from jaxshrink.options import Options
from jaxshrink.oracle import Runner, Setting
from jaxshrink.outcome import End, Outcome, Tier
from jaxshrink.output import Output
from jaxshrink.result import brief
from jaxshrink.scratch import Scratch
from jaxshrink.tidy import tidy

FILLS = ("ones", "integers", "exact")
"""What stands for the data of large arrays, in the order in which it is tried."""

LONG = 60_000
"""Characters of a program that is not laid out: that would take longer than all else, and nobody reads it."""

_SCRIPT = Path(__file__).parent / "inside" / "capturerun.py"


@dataclasses.dataclass(frozen=True)
class Captured:
    """A program of JAX calls. `fill` tells its data, `notes` what it does not express.

    `failure` is the original's, None where it ended well. `holds`: whether it fails, or ends well, as the original
    did. `data` is an .npz file that must lie beside the program, under its name. `mistakes` are errors of capture
    itself, which may have kept it from a better program.
    """

    source: str
    fill: str
    notes: tuple[str, ...]
    failure: Failure | None
    holds: bool
    data: Path | None = None
    mistakes: tuple[str, ...] = ()


def capture(options: Options, *, on_success: bool = False, data: str | None = None) -> Captured:
    """Capture the program that the options name, and write what came out to their output.

    `data` is one of FILLS; if None, what of them keeps the failure. The program runs as it is, in the folder where
    the user is, with its own streams; what it writes to stdout goes to stderr. Raises JaxshrinkError.
    """
    if data is not None and data not in FILLS:
        raise UsageError(f"--data must be one of {', '.join(FILLS)}, not {data!r}")
    program = inputs.read(options.path, options.python, options.selector)
    output = Output(options.output, options.path, options.force, ours=is_ours)
    with Scratch() as scratch:
        told = _run(program, options, scratch, on_success, FILLS if data is None else (data,))
        made = [each for each in told["programs"] if "problem" not in each]
        if told["interrupted"]:
            raise _interrupted(options, output, made)
        outcome = _outcome(told)
        if outcome.end is End.EXIT and outcome.code == 0 and not on_success:
            raise NotFailing(f"{options.path} runs to its end without a failure: --on-success captures it all the same")
        if told["programs"] and not made:
            raise Unreliable(f"nothing could be captured of {options.path}: {told['programs'][0]['problem']}")
        if not made:
            failure = kinds.failure(outcome, options, program.original)
            how = brief(failure) if failure is not None else f"exit code {outcome.code}"
            raise NotFailing(f"{options.path} fails, but not in a call of JAX: {how}")
        found = _chosen(options, program.original, outcome, made)
        found = dataclasses.replace(found, mistakes=tuple(told["mistakes"]))
        _write(output, options.output, found)
        return found


def _run(
    program: inputs.Inputs, options: Options, scratch: Path, on_success: bool, fills: Sequence[str]
) -> dict[str, Any]:
    """Run the program; what was captured, and how it ended."""
    spec, out = scratch / "spec.json", scratch / "captured.json"
    given = {"program": str(options.path), "argv": options.args, "out": str(out), "on_success": on_success}
    text = program.entry.text if program.is_made else None
    spec.write_text(json.dumps({**given, "fills": fills, "text": text}))
    asked = os.environ.get("JAX_TRACEBACK_FILTERING")
    filtering = {} if asked is None else {"JAXSHRINK_TRACEBACK_FILTERING": asked}
    environment = {**os.environ, **filtering, "JAX_TRACEBACK_FILTERING": "off", **options.env}
    try:
        process = subprocess.Popen([options.python, _SCRIPT, spec], env=environment, stdout=sys.stderr.fileno())
    except OSError as error:
        raise TargetError(f"cannot run {options.python}: {error.strerror}") from None
    ended = _ended(process, options.hang)
    told: dict[str, Any] = {"outcome": None, "programs": [], "mistakes": []}
    if out.exists():
        told = json.loads(out.read_text(encoding="utf-8"))
    return {**told, "outcome": told["outcome"] or ended, "interrupted": ended is None}


def _interrupted(options: Options, output: Output, programs: Sequence[Mapping[str, Any]]) -> Interrupted:
    """The user may have waited for a call that never ends: it is written, but who interrupts waits for no run of it."""
    found = next(_made(programs, None), None)
    if found is None:
        return Interrupted("interrupted before anything was captured")
    _write(output, options.output, found)
    return Interrupted(f"interrupted, but captured {options.output}, the call that had not ended; it was not run again")


def _ended(process: subprocess.Popen[bytes], hang: float | None) -> dict[str, Any] | None:
    """How a process ended, at the latest after `hang` seconds; None where the user has interrupted it."""
    try:
        code = exit_code(process, hang)
    except subprocess.TimeoutExpired:
        return {"end": "timeout"}
    if code is None:
        return None
    return {"end": "signal", "signal": -code} if code < 0 else {"end": "exit", "code": code}


def _outcome(told: Mapping[str, Any]) -> Outcome:
    return Outcome.from_json(told["outcome"])


def _chosen(options: Options, original: str, outcome: Outcome, programs: Sequence[Mapping[str, Any]]) -> Captured:
    """The first program that ends as the original did; the first of all where none does."""
    failure = kinds.failure(outcome, options, original)
    with Scratch() as folder, Runner(Setting(str(options.python), options.env, folder=folder, jobs=1)) as runner:
        first = None
        for each in _made(programs, failure):
            first = first or each
            if each.data is not None:
                shutil.copyfile(each.data, folder / "repro.npz")
            (new,) = runner.run([each.source], Tier.COLD, options.hang, sample=options.hang is not None)
            if _same(failure, new, options, original, each.source):
                return dataclasses.replace(each, holds=True)
    assert first is not None
    return first


def _made(programs: Sequence[Mapping[str, Any]], failure: Failure | None) -> Iterator[Captured]:
    known = set()
    for each in programs:
        tree = parse_with_origin(each["source"], "")
        data = Path(each["data"]) if each["data"] is not None else None
        for made in (tree, _awaited(tree)) if failure is not None and _is_late(failure) else (tree,):
            source = tidy(made) if len(each["source"]) < LONG else trees.text(made) + "\n"
            if source not in known:
                known.add(source)
                yield Captured(source, each["fill"], tuple(each["notes"]), failure, False, data)


def _is_late(failure: Failure) -> bool:
    """Whether a failure may come when a result is read, so that it is none of the call's."""
    return failure.kind in ("crash", "memory") or failure.type.endswith(("JaxRuntimeError", "XlaRuntimeError"))


def _awaited(tree: ast.Module) -> ast.Module:
    """The same, waiting for the result of its last call: what is still computed when a process ends never crashes."""
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        return tree
    waiting = ast.Call(trees.expression("jax.block_until_ready"), [last.value], [])
    imports = trees.statements("import jax")
    return ast.fix_missing_locations(ast.Module([*imports, *tree.body[:-1], ast.Expr(waiting)], []))


def _same(failure: Failure | None, new: Outcome, options: Options, original: str, text: str) -> bool:
    if failure is None:
        return new.end is End.EXIT and new.code == 0
    if failure.kind == "hang":
        return new.end is End.TIMEOUT  # where the original stood is not known
    if failure.kind == "crash":  # nor is it here
        seen = kinds.failure(new, options, text)
        return seen is not None and (seen.kind, seen.type) == (failure.kind, failure.type)
    return kinds.signature(failure, options, original).matches(new, text)


def _write(output: Output, path: Path, found: Captured) -> None:
    try:
        if found.data is not None:
            shutil.copyfile(found.data, path.with_suffix(".npz"))
    except OSError as error:
        raise OutputError(f"cannot write {path.with_suffix('.npz')}: {error.strerror}") from None
    output.write(header(found) + found.source)


MARK = "# captured by jaxshrink"


def header(found: Captured) -> str:
    """The comment on top of the program."""
    lines = [MARK + (f": {brief(found.failure)}" if found.failure is not None else "")]
    lines += [f"not expressed: {note}" for note in found.notes]
    return "".join(f"# {line}\n" if not line.startswith("#") else f"{line}\n" for line in lines)


def is_ours(path: Path) -> bool:
    """Whether the file is one that was captured."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().startswith(MARK)
