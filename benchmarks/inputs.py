"""The failing programs that every tool gets: the corpus, given cases, and programs made by the generator."""

from __future__ import annotations

import dataclasses
import importlib
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "corpus"

GENERATED = (100, 1_000, 10_000)
"""Lines of the programs that the generator makes."""

SEED = 0
"""Of all of them: they hold the same failure, in programs of other lengths."""

_NOT_OF_THE_PROGRAM = ("meta.toml", "min.py", "__pycache__")


@dataclasses.dataclass(frozen=True)
class Input:
    """A program that fails with an uncaught exception.

    `entry` is its main file. The other files that it needs lie in `folder`, or there is no folder and `text` is all of
    it. `exception` is the type's qualified name (without `builtins`), `message` a regular expression that is found in
    the message, where dots match line ends too. `control` is an environment in which it must end well, if there is one;
    `keeps` are regular expressions of words without which it is another failure; `any_site` says that the place in the
    library where it is raised may be another.
    """

    name: str
    exception: str
    message: str
    entry: str = "repro.py"
    folder: Path | None = None
    text: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    control: Mapping[str, str] = dataclasses.field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    any_site: bool = False

    def copy_to(self, folder: Path) -> None:
        """Make `folder`, with all files of the program and nothing that tells of its failure."""
        if self.folder is not None:
            shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns(*_NOT_OF_THE_PROGRAM))
            for path in (folder, *folder.rglob("*")):
                path.chmod(path.stat().st_mode | 0o200)  # given cases may be read-only
        else:
            folder.mkdir()
            (folder / self.entry).write_text(self.text or "", encoding="utf-8")


def inputs(cases: Path | None, wanted: Sequence[str] = ()) -> list[Input]:
    """All inputs, in order, or those whose name contains one of `wanted`.

    Only uncaught exceptions that occur in every run, of programs in one Python file: the peers' scripts judge nothing
    else.
    """
    found = [*_folder(CORPUS, "corpus"), *(_folder(cases, "cases") if cases else ()), *_generated()]
    return [each for each in found if not wanted or any(part in each.name for part in wanted)]


def _folder(folder: Path, group: str) -> Iterator[Input]:
    for path in sorted(folder.glob("*/meta.toml")):
        meta = tomllib.loads(path.read_text(encoding="utf-8"))
        meta |= meta.get("repro", {})
        entry = meta.get("entry", "repro.py")
        if meta.get("kind", "exception") != "exception" or not entry.endswith(".py"):
            continue
        if "tries" in meta or "runner" in meta:  # by chance; a test, not a program
            continue
        yield Input(
            name=f"{group}/{path.parent.name}",
            exception=meta["exception"],
            message=meta["message"],
            entry=entry,
            folder=path.parent,
            args=tuple(meta.get("args", ())),
            env={name: str(value) for name, value in meta.get("env", {}).items()},
            control=meta.get("control", {}),
            keeps=tuple(meta.get("keeps", ())),
            any_site=meta.get("site") == "any",
        )


def _generated() -> Iterator[Input]:
    """Programs of `GENERATED` lines, where there is a generator."""
    try:
        generator = importlib.import_module("benchmarks.generate")
    except ModuleNotFoundError:
        return
    for lines in GENERATED:
        program = generator.generate(lines, SEED)
        yield Input(f"generated/{lines}_lines", program.exception, re.escape(program.message), text=program.text)


def slug(name: str) -> str:
    """The name of an input or tool as part of a file's name."""
    return re.sub(r"[^\w.]+", "-", name)
