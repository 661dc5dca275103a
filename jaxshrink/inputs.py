"""The user's program as it lies on disk: its files."""

from __future__ import annotations

import ast
import dataclasses
import errno
import functools
import io
import os
import subprocess
import sys
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from jaxshrink import jaxprfile
from jaxshrink import tree as trees
from jaxshrink.errors import InputError
from jaxshrink.result import Size

NOTEBOOK = ".ipynb"


@dataclasses.dataclass(frozen=True)
class Source:
    """One file of the program. `path` is relative to the folder, `text` is decoded, with `\\n` at its line ends."""

    path: PurePosixPath
    text: str

    @property
    def module(self) -> str:
        """The dotted name under which the program imports it."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def package(self) -> bool:
        """Whether it is the `__init__.py` of a package."""
        return self.path.name == "__init__.py"


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The program: the entry file first, then the modules beside it that it imports, in the order of their finding."""

    folder: Path
    sources: tuple[Source, ...]
    is_made: bool = False  # the entry's text is not that of a file, but was made of a notebook or a test

    @property
    def entry(self) -> Source:
        """The file that is run."""
        return self.sources[0]

    @property
    def original(self) -> str:
        """All that its files hold."""
        return "\n".join(source.text for source in self.sources)

    def text(self, file: str) -> str | None:
        """What one of its files holds; None for other files."""
        return next((source.text for source in self.sources if str(source.path) == file), None)

    @functools.cached_property
    def libraries(self) -> tuple[str, ...]:
        """The modules that it imports and that are not its own; what it imports from one may be another, or not."""
        own = {source.module.split(".")[0] for source in self.sources}
        found: dict[str, None] = {}
        for source in self.sources:
            for node in ast.walk(trees.parsed(source.text)):
                match node:
                    case ast.Import(names=names):
                        found.update((alias.name, None) for alias in names)
                    case ast.ImportFrom(module=str(module), names=names, level=0):
                        found.update(dict.fromkeys([module, *(f"{module}.{alias.name}" for alias in names)]))
        return tuple(name for name in found if name.split(".")[0] not in own)

    @functools.cached_property
    def size(self) -> Size:
        """Summed over all files."""
        return Size.of(source.text for source in self.sources)


def read(path: Path, python: Path = Path(sys.executable), selector: Sequence[str] = ()) -> Inputs:
    """Read a program, of a file of tests the one that the selector names. Raises InputError where there is none.

    `python` is asked about syntax unknown to this one.
    """
    entry, tree = _entry(path, python, selector)
    if not tree.body:
        raise InputError(f"{path} is empty")
    folder = path.resolve().parent if path.is_symlink() else path.parent.resolve()
    if path.is_symlink():  # Python looks for modules beside the file itself, not beside the link
        entry = dataclasses.replace(entry, path=PurePosixPath(path.resolve().with_suffix(".py").name))
    made = bool(selector) or path.suffix in (NOTEBOOK, jaxprfile.SUFFIX)
    return Inputs(folder, (entry, *_local_modules(folder, entry, tree)), made)


def place(program: Inputs, folder: Path) -> None:
    """Put a program that was made of a file in the place of that file, in a copy of its folder."""
    if program.is_made:
        target = folder / program.entry.path
        target.unlink(missing_ok=True)  # it may be a link to the user's
        target.write_text(program.entry.text, encoding="utf-8")


def load(path: Path) -> bytes:
    """What the file holds. Raises InputError where it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: give the Python file that fails") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {os.strerror(error.errno or errno.EIO)}") from None


def decode(data: bytes) -> str:
    """Source text as Python decodes it: byte order mark, coding line, any line ends. Raises SyntaxError."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SyntaxError(f"line {line} holds the byte 0x{data[error.start]:02x}, which is no {encoding}") from None
    return io.IncrementalNewlineDecoder(None, translate=True).decode(text, final=True)


def _entry(path: Path, python: Path, selector: Sequence[str]) -> tuple[Source, ast.Module]:
    if path.suffix == NOTEBOOK:
        from jaxshrink import notebook

        text = notebook.script(load(path), str(path))
        return Source(PurePosixPath(path.with_suffix(".py").name), text), ast.parse(text)
    if path.suffix == jaxprfile.SUFFIX:
        load(path)  # says so if it is not there
        text = jaxprfile.script(path)
        return Source(PurePosixPath(path.with_suffix(".py").name), text), ast.parse(text)
    text = _text(path)
    tree = _parsed(text, path, python)
    if selector:
        from jaxshrink import testfile

        text = testfile.script(text, str(path), selector)
        tree = ast.parse(text)
    return Source(PurePosixPath(path.name), text), tree


def _text(path: Path) -> str:
    data = load(path)
    if b"\0" in data:
        raise InputError(f"{path} is a binary file, not a Python program")
    try:
        return decode(data)
    except SyntaxError as error:
        raise InputError(f"{path} is not a Python program: {error.msg}") from None


def _parsed(text: str, path: Path, python: Path) -> ast.Module:
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text, str(path))
            compile(text, str(path), "exec", dont_inherit=True)  # finds what the grammar lets through
    except SyntaxError as error:
        if _accepts(python, path):
            ours = ".".join(map(str, sys.version_info[:2]))
            raise InputError(
                f"{path} uses syntax that {python} knows and the Python {ours} that runs jaxshrink does not: "
                "install jaxshrink under a newer Python"
            ) from None
        raise InputError(f"{path} has a syntax error: {_shown(error)}") from None
    except (RecursionError, MemoryError):
        raise InputError(f"{path} is nested too deeply to be parsed") from None
    return tree


def _accepts(python: Path, path: Path) -> bool:
    """Can another interpreter compile the file?"""
    if python.absolute() == Path(sys.executable).absolute():
        return False
    check = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"
    try:
        return subprocess.run([python, "-c", check, path], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _shown(error: SyntaxError) -> str:
    """The message, and the line with a caret below the place."""
    message = f"line {error.lineno}: {error.msg}"
    if not error.text:
        return message
    line = error.text.rstrip().expandtabs(1)
    code = line.lstrip()
    column = max(0, (error.offset or 1) - 1 - (len(line) - len(code)))
    return f"{message}\n    {code}\n    {' ' * column}^"


# -- modules beside the entry


def _local_modules(folder: Path, entry: Source, tree: ast.Module) -> list[Source]:
    """All files below the folder that imports lead to. One that cannot be read or parsed may never be imported."""
    found: dict[PurePosixPath, Source] = {}
    waiting = [(entry, tree)]
    while waiting:
        source, tree = waiting.pop(0)
        for path in _imported(folder, source, tree):
            if path != entry.path and path not in found:
                try:
                    text = decode((folder / path).read_bytes())
                    with warnings.catch_warnings(action="ignore"):
                        module = ast.parse(text)
                except (OSError, SyntaxError, ValueError, RecursionError):
                    continue
                found[path] = Source(path, text)
                waiting.append((found[path], module))
    return list(found.values())


def _imported(folder: Path, source: Source, tree: ast.Module) -> Iterator[PurePosixPath]:
    """The files that the import statements of a module may run, packages before what lies in them."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                dotted = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                base = _absolute(source, module, level)
                dotted = [base, *(f"{base}.{alias.name}".strip(".") for alias in names)]
            case _:
                continue
        for name in dotted:
            yield from _files(folder, name.split(".") if name else [])


def _absolute(source: Source, module: str | None, level: int) -> str:
    """The dotted name that a `from` import means."""
    if not level:
        return module or ""
    package = source.path.parent.parts
    above = package[: len(package) - level + 1]
    return ".".join([*above, *([module] if module else [])])


def _files(folder: Path, parts: list[str]) -> Iterator[PurePosixPath]:
    if parts and parts[0] in sys.builtin_module_names:
        return
    for end in range(1, len(parts) + 1):
        path = PurePosixPath(*parts[:end])
        package, module = path / "__init__.py", path.with_name(path.name + ".py")
        yield from [each for each in (package, module) if (folder / each).is_file()][:1]
