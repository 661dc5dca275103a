"""The lines that run one test as plain Python: what pytest or unittest would call, in their order, straight on.

Nothing catches what the test raises, and nothing runs after it.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

from jaxshrink import tree as trees
from jaxshrink.errors import InputError
from jaxshrink.testfile.fixtures import Fixtures, fixtures, requested
from jaxshrink.testfile.loops import Loop, heads, known_ids, loops
from jaxshrink.testfile.module import Function, Mark, Module
from jaxshrink.testfile.parameters import parametrized
from jaxshrink.testfile.supply import Supply
from jaxshrink.testfile.writer import Writer


@dataclasses.dataclass(frozen=True)
class Test:
    """A test of a file: the classes that lead to it, its name and id, its function where the file has it."""

    module: Module
    classes: Sequence[ast.ClassDef]
    name: str
    function: Function | None
    id: str | None = None

    @property
    def path(self) -> str:
        """Its class as Python names it."""
        return ".".join(node.name for node in self.classes)

    @property
    def of_test_case(self) -> bool:
        """Is it a method of a `unittest.TestCase`?"""
        return bool(self.classes) and self.module.is_test_case(self.classes[-1])

    def marks(self) -> Iterator[Mark]:
        """Its own, its classes', its module's."""
        if self.function:
            yield from self.module.marks(self.function)
        for node in reversed(self.classes):
            for each in self.module.lineage(node):
                yield from self.module.marks(each)
        yield from self.module.own_marks(self.module.tree)


def drive(test: Test, conftests: Sequence[Module]) -> str:
    """The lines. The modules of `conftests`, nearest first, are at hand under their names. Raises InputError."""
    writer = Writer({name for module in (test.module, *conftests) for name in (*module.bound, module.name)})
    driver = _CaseDriver if test.of_test_case else _PytestDriver
    driver(test, conftests, writer).run()
    return writer.text


class _PytestDriver:
    """Of a function, or of a method of a class without a base of unittest's."""

    def __init__(self, test: Test, conftests: Sequence[Module], writer: Writer):
        self.test = test
        self.write = writer
        self.case = writer.fresh("case") if test.classes else ""
        self.methods = test.module.methods(test.classes[-1]) if test.classes else {}
        self.marks = list(test.marks())
        every = list(fixtures(test.module, self.methods.values(), self.case)) if test.classes else []
        for module in (test.module, *conftests):
            every.extend(fixtures(module, module.functions.values()))
        self.fixtures = Fixtures(every)
        nodes = [node for module in (test.module, *conftests) for node in ast.walk(module.tree)]
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self.supply = Supply(self.fixtures, writer, attributes, self._about())

    def run(self) -> None:
        """Write all lines."""
        asked = self._asked()
        axes = [parametrized(mark, self.test.module) for mark in self.marks if mark.name == "mark.parametrize"]
        direct = {name for each in axes for name in each.names if name not in each.indirect}
        given = {name for each in axes for name in each.names}
        needed = self.fixtures.needed(asked, direct)
        axes = [each.axis for each in needed if each.axis and each.name not in given] + axes
        plan = loops(axes, self.test.id)
        if plan is None:
            known = ", ".join(f"{self.test.name}[{each}]" for each in (known_ids(axes)[:10] if axes else ()))
            hint = f"there are {known}" if known else "it has none"
            raise InputError(f"{self.test.name} has no parameters [{self.test.id}]: {hint}")
        self.before()
        with contextlib.ExitStack() as blocks:
            for loop in plan:
                self._loop(loop, blocks)
            self.instance(blocks)
            self._filters()
            for fixture in needed:
                if fixture.autouse or fixture.name in asked:
                    self.supply.make(fixture)
            self.setup()
            self.call()

    # -- what unittest does otherwise

    def before(self) -> None:
        """Write what is called once."""
        functions = self.test.module.functions
        if "setUpModule" in functions:
            self.write("setUpModule()")
        elif "setup_module" in functions:
            self._optional(functions["setup_module"], "setup_module", "__import__('sys').modules[__name__]")
        if "setup_class" in self.methods:
            bound = any(trees.text(node) == "classmethod" for node in self.methods["setup_class"].decorator_list)
            self.write(f"{self.test.path}.setup_class({'' if bound else self.test.path})")

    def instance(self, blocks: contextlib.ExitStack) -> None:
        """Write the making of the object that has the test."""
        if self.test.classes:
            self.write(f"{self.case} = {self.test.path}()")

    def setup(self) -> None:
        """Write what is called before each test."""
        functions = self.test.module.functions
        if not self.test.classes and "setup_function" in functions:
            self._optional(functions["setup_function"], "setup_function", self.test.name)
        if "setup_method" in self.methods:
            self._optional(self.methods["setup_method"], f"{self.case}.setup_method", f"{self.case}.{self.test.name}")

    def call(self) -> None:
        """Write the call of the test."""
        function = self.test.function
        name = f"{self.case}.{self.test.name}" if self.case else self.test.name
        arguments = self.supply.arguments(function, bool(self.case)) if function else ""
        self.write.call(f"{name}({arguments})", isinstance(function, ast.AsyncFunctionDef))

    # -- parts

    def _asked(self) -> list[str]:
        """The fixtures that the test itself asks for."""
        if self.test.function is None or self.test.of_test_case:
            return self._texts("mark.usefixtures")
        return self._texts("mark.usefixtures") + requested(self.test.function, bool(self.case))

    def _texts(self, name: str) -> list[str]:
        """What all marks of a name say, closest first."""
        args = [arg for mark in self.marks if mark.name == name for arg in mark.args]
        return [str(arg.value) for arg in args if isinstance(arg, ast.Constant)]

    def _about(self) -> dict[str, str]:
        """What `request` tells of the test."""
        return {
            "node": f"types.SimpleNamespace(name={self.test.name!r})",
            "cls": self.test.path or "None",
            "instance": self.case or "None",
            "function": f"{self.case}.{self.test.name}" if self.case else self.test.name,
        }

    def _optional(self, function: Function, called: str, argument: str) -> None:
        """Write the call of a function that may take what it is called for."""
        takes = len(function.args.args) > ("." in called)  # a method takes itself
        self.write(f"{called}({argument if takes else ''})")

    def _filters(self) -> None:
        """Write the filters of warnings that marks set; the closest counts most."""
        for text in reversed(self._texts("mark.filterwarnings")):
            action, message, category = [*text.split(":"), "", ""][:3]
            if "." in category:
                self.write.need("import pkgutil")
                category = f"pkgutil.resolve_name({category!r})"
            self.write.need("import warnings")
            self.write(f"warnings.filterwarnings({action!r}, {message!r}, {category or 'Warning'})")

    def _loop(self, loop: Loop, blocks: contextlib.ExitStack) -> None:
        """Write the head of a loop, if it takes one, and know what its parameters are."""
        pairs = [(axis, name) for axis in loop.axes for name in axis.names]
        if loop.rows is not None and len(loop.rows) == 1:
            texts = list(map(self._text, loop.rows[0], loop.modules))
        else:
            texts = [self.write.fresh(name) for _, name in pairs]
            for head in heads(loop, texts, self.write, self._text):
                blocks.enter_context(self.write.block(head))
        for (axis, name), text in zip(pairs, texts, strict=True):
            (self.supply.params if name in axis.indirect else self.supply.values)[name] = text

    def _text(self, node: ast.expr, module: Module) -> str:
        """What a decorator says, where the driver stands: names of the class or of a conftest by their paths."""
        owner = self.test.classes[-1:] if module is self.test.module else ()
        members = {name: self.test.path for each in owner for name in module.members(each)}
        paths = members if not module.name else dict.fromkeys(module.bound, module.name)
        node = trees.clone(node)
        changes: dict[ast.AST, trees.Replacement] = {
            part: trees.expression(f"{paths[part.id]}.{part.id}")
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and part.id in paths
        }
        return trees.text(trees.rewrite(node, trees.Edit(changes)))


class _CaseDriver(_PytestDriver):
    """Of a method of a `unittest.TestCase`, called without a runner."""

    def before(self) -> None:
        super().before()
        if "setUpClass" in self.methods or self._inherits():
            self.write(f"{self.test.path}.setUpClass()")

    def instance(self, blocks: contextlib.ExitStack) -> None:
        name = repr(self.test.name)
        if self._expands():
            blocks.enter_context(self.write.block(f"for name in dir({self.test.path}):"))
            blocks.enter_context(self.write.block(f"if name.startswith({name}):"))
            name = "name"
        self.write(f"{self.case} = {self.test.path}({name})")

    def setup(self) -> None:
        if "setUp" in self.methods or self._inherits():
            self.write(f"{self.case}.setUp()")
        if "asyncSetUp" in self.methods:
            self.write.call(f"{self.case}.asyncSetUp()", True)

    def call(self) -> None:
        if self._expands():
            self.write(f"getattr({self.case}, name)()")
        else:
            self.write.call(f"{self.case}.{self.test.name}()", isinstance(self.test.function, ast.AsyncFunctionDef))

    def _expands(self) -> bool:
        """Are there several tests in place of the one of this name?"""
        return self.test.function is not None and self.test.module.expands(self.test.function)

    def _inherits(self) -> bool:
        """May there be a `setUp` that the file does not show?"""
        return self.test.module.has_unknown_base(self.test.classes[-1])
