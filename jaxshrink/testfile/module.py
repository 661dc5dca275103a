"""A test file as its syntax tree: what of it is a test, a fixture, or there for pytest alone."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from jaxshrink import tree as trees
from jaxshrink.scopes import Scopes
from jaxshrink.tree import DELETE, Edit, Replacement

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = Function | ast.ClassDef


@dataclasses.dataclass(frozen=True)
class Mark:
    """A use of pytest as a decorator or as `pytestmark`: `mark.parametrize` with its arguments."""

    name: str
    args: Sequence[ast.expr]
    keywords: dict[str | None, ast.expr]


class Module:
    """A test file or a `conftest`. `name` is how others import it, empty for the test file itself."""

    def __init__(self, text: str, name: str = ""):
        self.tree = ast.parse(text)
        self.name = name
        self.bound = Scopes(self.tree).module.bindings
        self.pytest = dict(_pytest_names(self.tree))

    def marks(self, definition: Definition) -> list[Mark]:
        """Those of a function or class, closest first; a class's and the module's own `pytestmark` count too."""
        found = [self.mark(node) for node in reversed(definition.decorator_list)]
        return [mark for mark in found if mark] + (self.own_marks(definition) if _is_class(definition) else [])

    def own_marks(self, scope: ast.Module | Definition) -> list[Mark]:
        """What `pytestmark` of a module or class holds."""
        for node in scope.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="pytestmark")], value=ast.List(elts=values)):
                    return [mark for value in values if (mark := self.mark(value))]
                case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                    return [mark for mark in [self.mark(value)] if mark]
        return []

    def mark(self, node: ast.expr) -> Mark | None:
        """What an expression is to pytest, perhaps through a variable of the module; None if nothing."""
        node = self.resolved(node)
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        root, *rest = trees.text(call.func).split(".")
        if root not in self.pytest:
            return None
        name = ".".join([*filter(None, [self.pytest[root]]), *rest])
        return Mark(name, call.args, {keyword.arg: keyword.value for keyword in call.keywords})

    @functools.cached_property
    def uses_param(self) -> bool:
        """Does the file make cases by `pytest.param`?"""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        return any(mark.name == "param" for mark in map(self.mark, calls) if mark)

    def resolved(self, node: ast.expr) -> ast.expr:
        """The expression that a variable of the module stands for, where it is bound once."""
        while isinstance(node, ast.Name) and node.id in self._constants:
            node = self._constants[node.id]
        return node

    def classes(self, parts: Sequence[str]) -> list[ast.ClassDef] | None:
        """The classes that a path of names leads through; None if it leads nowhere."""
        found: list[ast.ClassDef] = []
        for part in parts:
            here = found[-1].body if found else self.tree.body
            inner = [node for node in here if isinstance(node, ast.ClassDef) and node.name == part]
            if not inner:
                return None
            found.append(inner[-1])
        return found

    def defines(self, name: str) -> bool:
        """Is it the name of a function or class at the top level?"""
        return name in self.functions or self.classes([name]) is not None

    def lineage(self, node: ast.ClassDef) -> Iterator[ast.ClassDef]:
        """The class and those of its bases that the file defines."""
        yield node
        for base in node.bases:
            if isinstance(base, ast.Name) and (known := self.classes([base.id])) and known[0] is not node:
                yield from self.lineage(known[0])

    def foreign_bases(self, node: ast.ClassDef) -> list[str]:
        """Base classes, of bases too, that the file does not define, as they are written."""
        every = [trees.text(base) for each in self.lineage(node) for base in each.bases]
        return [base for base in every if self.classes([base]) is None and base != "object"]

    def has_unknown_base(self, node: ast.ClassDef) -> bool:
        """May the class have methods that the file does not show, unittest's own aside?"""
        return bool({*self.foreign_bases(node)} - {"unittest.TestCase", "TestCase", "absltest.TestCase"})

    def members(self, node: ast.ClassDef) -> set[str]:
        """The names bound in the body of a class."""
        return set(Scopes(self.tree).scope_of[node].bindings)

    def expands(self, function: Function) -> bool:
        """Does a decorator put several tests in its place, as absl's `parameterized` does?"""
        foreign = [trees.text(node) for node in function.decorator_list if self.mark(node) is None]
        return any("param" in text or "product" in text for text in foreign)

    def is_test_case(self, node: ast.ClassDef) -> bool:
        """Is it a class of unittest's kind? Of classes from elsewhere the name must tell, or what the tests use."""
        if any(base.endswith("TestCase") for base in self.foreign_bases(node)):
            return True
        names = {part.attr for each in self.lineage(node) for part in ast.walk(each) if isinstance(part, ast.Attribute)}
        return bool(self.foreign_bases(node)) and bool(names & {"assertEqual", "assertTrue", "assertRaises", "subTest"})

    def methods(self, node: ast.ClassDef) -> dict[str, Function]:
        """Those of the class, inherited ones of the file included."""
        every = [part for each in self.lineage(node) for part in reversed(each.body) if isinstance(part, Function)]
        return {part.name: part for part in reversed(every)}

    @functools.cached_property
    def functions(self) -> dict[str, Function]:
        """The functions at the top level."""
        return {node.name: node for node in self.tree.body if isinstance(node, Function)}

    def tests(self) -> Iterator[str]:
        """Selectors of all tests of the file."""
        for node in self.tree.body:
            if isinstance(node, Function) and node.name.startswith("test"):
                yield node.name
            elif isinstance(node, ast.ClassDef):
                yield from self._tests_of(node, node.name)

    def _tests_of(self, node: ast.ClassDef, path: str) -> Iterator[str]:
        if node.name.startswith("Test") or self.is_test_case(node):
            yield from (f"{path}::{name}" for name in self.methods(node) if name.startswith("test"))
            for inner in node.body:
                if isinstance(inner, ast.ClassDef):
                    yield from self._tests_of(inner, f"{path}::{inner.name}")

    @functools.cached_property
    def _constants(self) -> dict[str, ast.expr]:
        found = {}
        for node in self.tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if len(self.bound[name].definitions) == 1:
                    found[name] = value
        return found

    # -- without pytest

    def plain(self) -> ast.Module:
        """The tree without what only pytest or a test runner reads."""
        tree = trees.apply(self.tree, [Edit(dict(self._pytest_only()))])
        while unused := _unused(tree, self):
            tree = trees.apply(tree, [Edit.delete(*unused)])
        return tree

    def _pytest_only(self) -> Iterator[tuple[ast.AST, Replacement]]:
        for node in ast.walk(self.tree):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    yield from ((each, DELETE) for each in node.decorator_list if self.mark(each))
                    if node.name.startswith("pytest_"):  # a hook
                        yield node, DELETE
                case ast.Expr(value=ast.Constant(value=str())) if self.name and node is self.tree.body[0]:
                    yield node, DELETE
                case ast.Assign(targets=[ast.Name(id="pytestmark" | "pytest_plugins")]):
                    yield node, DELETE
                case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))) if node in self.tree.body:
                    yield node, DELETE
                case ast.ImportFrom(level=1, module=None):  # a script is in no package
                    yield node, ast.Import(node.names)
                case ast.ImportFrom(level=1):
                    yield node, ast.ImportFrom(node.module, node.names, 0)


def _is_class(node: Definition) -> bool:
    return isinstance(node, ast.ClassDef)


def _pytest_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names of the module, and what in pytest they mean."""
    for node in trees.walk_statements(tree):
        match node:
            case ast.Import(names=names):
                known = [alias for alias in names if alias.name in ("pytest", "pytest_asyncio")]
                yield from ((alias.asname or alias.name, "") for alias in known)
            case ast.ImportFrom(module="pytest" | "pytest_asyncio", names=names):
                yield from ((alias.asname or alias.name, alias.name) for alias in names)


def _unused(tree: ast.Module, module: Module) -> list[ast.AST]:
    """Imports of pytest and marks in variables that nothing reads."""
    bindings = Scopes(tree).module.bindings
    unread = {name for name, binding in bindings.items() if not binding.uses}
    found: list[ast.AST] = [node for name in unread & module.pytest.keys() for node in bindings[name].definitions]
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in unread and module.mark(value):
                found.append(node)
    return found
