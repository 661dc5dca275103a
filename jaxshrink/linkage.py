"""What names mean across the modules of a program: which variable of which module, told from the imports alone."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from jaxshrink import tree as trees
from jaxshrink.scopes import Binding, Scopes

ImportStatement: TypeAlias = ast.Import | ast.ImportFrom


@dataclasses.dataclass(frozen=True)
class ModuleSource:
    """A file of the program: its module name (`__main__` for the entry), its path in the folder, its text."""

    name: str
    file: str
    text: str
    package: bool = False


@dataclasses.dataclass(frozen=True)
class Module:
    """The meaning of a name that stands for a module, or a package without a file, of the program."""

    name: str


Meaning: TypeAlias = "Module | Binding"


class Linkage:
    """The modules of a program, each parsed with `parse`, and what their names mean to each other."""

    def __init__(self, sources: Sequence[ModuleSource], trees_: Sequence[ast.Module]):
        self.sources = {source.name: source for source in sources}
        self.trees = {source.name: tree for source, tree in zip(sources, trees_, strict=True)}
        self.scopes = {name: Scopes(tree) for name, tree in self.trees.items()}
        self.imports = {name: _imports(tree) for name, tree in self.trees.items()}
        self.statement_of = {alias: node for nodes in self.imports.values() for node in nodes for alias in node.names}

    def starts(self, module: str, statement: ImportStatement) -> Iterator[str]:
        """The modules of the program that an import statement runs, if they have not run yet, in order."""
        if isinstance(statement, ast.Import):
            targets = [alias.name for alias in statement.names]
        else:
            source = self.absolute(module, statement)
            targets = [source, *(f"{source}.{alias.name}".removeprefix(".") for alias in statement.names)]
        for target in targets:
            parts = target.split(".")
            for i in range(len(parts)):
                name = ".".join(parts[: i + 1])
                if name in self.sources and name != "__main__":
                    yield name

    def is_local(self, module: str, statement: ast.ImportFrom) -> bool:
        return self._exists(self.absolute(module, statement))

    def absolute(self, module: str, statement: ast.ImportFrom) -> str:
        """The full name of the module that `from … import` names; empty for the folder of the entry."""
        if not statement.level:
            return statement.module or ""
        parts = module.split(".") if module != "__main__" else []
        keep = len(parts) - statement.level + (1 if self.sources[module].package else 0)
        return ".".join([*parts[:keep], *filter(None, [statement.module])])

    def means(self, module: str, use: ast.Name) -> Meaning | None:
        """What a name means, if nothing but imports of the program's own modules binds it."""
        binding = self.scopes[module].of.get(use)
        return self.imported(module, binding) if binding is not None else self._starred(module, use.id)

    def imported(self, module: str, binding: Binding) -> Meaning | None:
        """What a variable that only imports of the program's own modules bind stands for."""
        found = {self.brought(module, node) if isinstance(node, ast.alias) else None for node in binding.definitions}
        return found.pop() if len(found) == 1 else None

    def brought(self, module: str, alias: ast.alias) -> Meaning | None:
        """What an import brings in, if it comes from a module of the program."""
        statement = self.statement_of[alias]
        if isinstance(statement, ast.Import):
            name = alias.name if alias.asname else alias.name.split(".")[0]
            return Module(name) if self._exists(name) else None
        return self.member(self.absolute(module, statement), alias.name) if self.is_local(module, statement) else None

    def member(self, module: str, name: str) -> Meaning | None:
        """What `module.name` means: a variable, perhaps of the module that it was imported from, or a submodule."""
        child = f"{module}.{name}".removeprefix(".")
        if module not in self.sources:
            return Module(child) if self._exists(child) else None
        binding = self.scopes[module].module.bindings.get(name)
        if binding is None:
            return self._starred(module, name) or (Module(child) if self._exists(child) else None)
        if any(isinstance(node, ast.alias) and self._is_self(module, node) for node in binding.definitions):
            return Module(child)  # `from . import name` in a package's own __init__
        return self.imported(module, binding) or binding

    def exported(self, module: str, name: str) -> bool:
        """Does `from module import *` bring the name in, if the module has it?"""
        for statement in self.trees[module].body if module in self.trees else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names) | ast.Tuple(elts=names)):
                    return any(isinstance(each, ast.Constant) and each.value == name for each in names)
        return not name.startswith("_")

    def _exists(self, name: str) -> bool:
        return name in self.sources or any(each.startswith(name + ".") for each in self.sources)

    def _is_self(self, module: str, alias: ast.alias) -> bool:
        statement = self.statement_of[alias]
        return isinstance(statement, ast.ImportFrom) and self.absolute(module, statement) == module

    def _starred(self, module: str, name: str) -> Meaning | None:
        """What the last `from module import *` of the program's own that has the name brings in under it."""
        for statement in reversed(self.imports[module]):
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                source = self.absolute(module, statement)
                meaning = self.member(source, name) if self._exists(source) and self.exported(source, name) else None
                if meaning is not None:
                    return meaning
        return None


def _imports(tree: ast.Module) -> list[ImportStatement]:
    return [node for node in trees.walk_statements(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
