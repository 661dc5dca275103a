"""A bundle does what the files did: both are run, and what they print is compared."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from jaxshrink.bundle import ModuleSource, bundle
from tests.bundles import ENTRY, PROGRAMS


def write(folder: Path, files: dict[str, str]) -> list[ModuleSource]:
    """Puts the files into a folder; the entry comes last."""
    for file, text in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(inspect.cleandoc("\n" + text) + "\n")
    return [source(folder, file) for file in sorted(files, key=lambda file: file == ENTRY)]


def source(folder: Path, file: str) -> ModuleSource:
    parts = Path(file).with_suffix("").parts
    package = parts[-1] == "__init__"
    name = "__main__" if file == ENTRY else ".".join(parts[:-1] if package else parts)
    return ModuleSource(name, file, (folder / file).read_text(), package)


def printed(folder: Path, file: str) -> str:
    ran = subprocess.run([sys.executable, "-B", file], cwd=folder, capture_output=True, text=True)
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_bundle_does_the_same(name: str, tmp_path: Path) -> None:
    sources = write(tmp_path, PROGRAMS[name])
    lone = tmp_path / "lone"
    lone.mkdir()
    (lone / "bundle.py").write_text(ast.unparse(bundle(sources)))
    expected = printed(tmp_path, ENTRY)
    assert "Error" not in expected
    assert printed(lone, "bundle.py") == expected


def test_nodes_know_where_they_came_from() -> None:
    helper = ModuleSource("helper", "helper.py", "\ndef f(x): return x\nsize = 3")
    entry = ModuleSource("__main__", ENTRY, "import helper\nf = 1\nprint(helper.f(f))")
    tree = bundle([helper, entry])
    assert ast.unparse(tree) == "def f1(x):\n    return x\nsize = 3\nf = 1\nprint(f1(f))"
    origins = [getattr(node, "origin", None) for node in tree.body]
    assert origins == [("helper.py", 2, 0, 2, 18), ("helper.py", 3, 0, 3, 8), (ENTRY, 2, 0, 2, 5), (ENTRY, 3, 0, 3, 18)]
    call = tree.body[-1].value.args[0]  # type: ignore[attr-defined]
    assert call.func.origin == (ENTRY, 3, 6, 3, 14)


def test_one_file_is_only_parsed() -> None:
    text = "x = 1\nprint(x)"
    assert ast.dump(bundle([ModuleSource("__main__", ENTRY, text)])) == ast.dump(ast.parse(text))
