"""What a failing program gives to the compiler: modules in StableHLO, as reports to XLA have them.

JAX writes a module to a folder before it compiles it, where a variable asks for that. So those of a program that
crashes or hangs in the compiler are there, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from jaxshrink.interest import Interest, Question
from jaxshrink.kinds.hang import TRACING
from jaxshrink.oracles import VERIFIED, Oracles
from jaxshrink.outcome import Outcome, Tier
from jaxshrink.output import header
from jaxshrink.result import Result
from jaxshrink.scratch import Scratch

SUFFIX = ".mlir"
MARK = "lowered by jaxshrink"

BETWEEN = "\n// -----\n\n"
"""What stands between modules in one file: `mlir-opt --split-input-file` and its like take it for the end of one."""

_TRACED = """\
import jax

jax.eval_shape(lambda: exec(compile({!r}, __file__, "exec", dont_inherit=True), {{"__name__": "__main__"}}))
"""
"""A program that only traces what another does. Abstract runs can do more, but not with each version of JAX."""

_OF_ONE = frozenset({"exception", "crash", "hang", "memory"})
"""Kinds of failures that come of one module, unless it is a value that is wrong."""


def lowered(
    text: str, question: Question, oracles: Oracles, *, files: bool = False, repeat: int = 1
) -> tuple[str, ...] | None:
    """The modules that matter of a program that answers the question, in the order in which they were lowered.

    None of them where it fails while JAX traces or lowers. The last one where compiling or running it fails; all where
    values are wrong, or something else that may come of any. `files`: it needs those of the program's folder. It is run
    as often as a verification, or `repeat` times; where it does not fail at all, None is returned.
    """
    if _is_traced_only(text, question, oracles):
        return ()
    with Scratch() as folder:
        env = {"JAX_DUMP_IR_TO": str(folder), "JAX_DUMP_IR_MODES": "stablehlo"}
        env["JAX_INCLUDE_DEBUG_INFO_IN_DUMPS"] = "false"  # places in a temporary folder that is gone
        interest = Interest(oracles.alone(files=files, out=folder, env=env), question, Tier.COLD)
        for _ in range(max(repeat, VERIFIED)):
            outcome = interest.patient([text], Tier.COLD)[0]
            modules = _taken(folder)
            if question.answer(outcome, text):
                return _that_matter(modules, outcome, question)
    return None


def document(result: Result) -> str:
    """The file: all modules below a comment that tells what they are of."""
    modules = result.lowered or ()
    name = result.path.name if result.path is not None else "a program"
    what = f" ({len(modules)} modules, in the order of lowering)" if len(modules) > 1 else ""
    told = "".join(f"//{line.removeprefix('#')}" for line in header(result).splitlines(keepends=True))
    return f"// {MARK} from {name}{what}\n{told}" + BETWEEN.join(f"{module.strip()}\n" for module in modules)


def is_ours(path: Path) -> bool:
    """Whether the file is one of these."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.readline().startswith(f"// {MARK}")


def _is_traced_only(text: str, question: Question, oracles: Oracles) -> bool:
    """Whether the failure comes while JAX traces."""
    failure = question.signature.failure
    if question.predicate is not None or failure.kind != "exception":
        return failure.kind == "hang" and failure.site.startswith(TRACING)
    outcome = oracles.main.run([_TRACED.format(text)], Tier.WARM)[0]
    return question.signature.matches(outcome, text)


def _taken(folder: Path) -> list[str]:
    """The modules of a run, which leave the folder; equal ones once. More than one process may have written them."""
    files = sorted(folder.glob(f"jax_ir*{SUFFIX}"), key=lambda file: (file.stat().st_mtime_ns, _number(file)))
    modules = [file.read_text(encoding="utf-8") for file in files]
    for file in files:
        file.unlink()
    return list(dict.fromkeys(modules))


def _number(file: Path) -> int:
    """A process counts its modules, and the clock of the file system may be slow."""
    found = re.search(r"\d+", file.name)
    return int(found[0]) if found else 0


def _that_matter(modules: Sequence[str], outcome: Outcome, question: Question) -> tuple[str, ...]:
    if any(frame.function == "lower_jaxpr_to_module" for frame in outcome.frames):
        return ()  # the one that matters could not be lowered
    signature = question.signature
    of_one = signature.failure.kind in _OF_ONE and not signature.is_about_values and question.predicate is None
    return tuple(modules[-1:] if of_one else modules)
