"""Test files, for pytest or unittest: one test of theirs as a plain script."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from pathlib import Path

from jaxshrink import tree as trees
from jaxshrink.bundle import ModuleSource, bundle
from jaxshrink.errors import InputError
from jaxshrink.testfile.driver import Test, drive
from jaxshrink.testfile.module import Module
from jaxshrink.testfile.reports import failed as failed

PROJECT = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", ".git")
"""What lies at the top of a project; a `conftest.py` above it is not meant."""


def split(argument: str) -> tuple[str, tuple[str, ...]]:
    """The path and the selector of `test_file.py::TestClass::test_name[id]`; the id may hold colons."""
    path, *rest = argument.split("::", 1)
    names, bracket, wanted = "".join(rest).partition("[")
    selector = names.split("::") if names else []
    return path, (*selector[:-1], *(name + bracket + wanted for name in selector[-1:]))


def tests_in(source: str) -> list[str]:
    """The selectors of all tests that a file defines. Raises SyntaxError."""
    return list(Module(source).tests())


def script(source: str, path: str, selector: Sequence[str]) -> str:
    """The file with lines that run one of its tests, as a script; what the test raises ends it.

    Decorators of pytest's are gone. What a `conftest.py` beside the file, or above it in its project, defines comes
    first. Where the selector has no id all parameters are run in turn. Raises InputError, SyntaxError.
    """
    module = Module(source)
    test = _find(module, path, selector)
    conftests = [Module(text, f"conftest{number or ''}") for number, text in enumerate(_conftests(Path(path)))]
    driver = drive(test, conftests)
    imports = [f"import {each.name}" for each in reversed(conftests)]
    entry = "\n".join([*_opening(module), *imports, trees.text(_rest(module)), driver])
    sources = [ModuleSource(each.name, f"{each.name}.py", trees.text(each.plain())) for each in conftests]
    return trees.text(bundle([*sources, ModuleSource("__main__", path, entry)])) + "\n"


def _find(module: Module, path: str, selector: Sequence[str]) -> Test:
    """The test that a selector names."""
    *classes, last = selector
    match = re.fullmatch(r"(.*?)(?:\[(.*)\])?", last, re.DOTALL)
    assert match is not None
    name, wanted = match[1], match[2]
    found = module.classes(classes)
    if found is None:
        raise _missing(module, path, selector)
    if not found:
        if name not in module.functions:
            raise _missing(module, path, selector)
        return Test(module, (), name, module.functions[name], wanted)
    methods = module.methods(found[-1])
    expanded = any(name.startswith(each) and module.expands(node) for each, node in methods.items())
    inherited = name.startswith("test") and module.has_unknown_base(found[-1]) and not methods.keys() & {name}
    if name in methods or expanded or inherited:
        return Test(module, found, name, methods.get(name), wanted)
    raise _missing(module, path, selector)


def _missing(module: Module, path: str, selector: Sequence[str]) -> InputError:
    wanted, tests = "::".join(selector), list(module.tests())
    if not tests:
        return InputError(f"{path} defines no tests")
    if module.classes(selector):
        tests = [each for each in tests if each.startswith(f"{wanted}::")]
        return InputError(f"{path}::{wanted} is a class: name one of its tests, {', '.join(tests[:10])}")
    name = selector[-1].partition("[")[0]
    near = [each for each in tests if each.split("::")[-1] == name]  # in another class
    near = near or difflib.get_close_matches("::".join([*selector[:-1], name]), tests)
    hint = f"did you mean {' or '.join(near)}?" if near else f"its tests are {', '.join(tests[:10])}"
    return InputError(f"{path} has no test {wanted}: {hint}")


def _conftests(path: Path) -> list[str]:
    """The text of those that count for a file, nearest first."""
    found = []
    for folder in path.absolute().parents:
        if (folder / "conftest.py").is_file():
            found.append((folder / "conftest.py").read_text(encoding="utf-8"))
        if any((folder / each).exists() for each in PROJECT):
            return found
    return found[:1]  # no project: only what lies beside it


def _opening(module: Module) -> list[str]:
    """The docstring and the imports from `__future__`, which must come first."""
    return [trees.text(node) for node in module.plain().body if _is_opening(node)]


def _rest(module: Module) -> ast.Module:
    return ast.Module([node for node in module.plain().body if not _is_opening(node)], [])


def _is_opening(node: ast.stmt) -> bool:
    match node:
        case ast.ImportFrom(module="__future__") | ast.Expr(value=ast.Constant(value=str())):
            return True
    return False
