"""The files of a program in one module that does the same.

Modules follow each other in the order in which their execution ended. Their top-level names stay
as they are where no two differ; what they import of each other is resolved here, and the import
statements vanish. Every node knows where it came from (`node.origin`).
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Hashable, Iterator, Sequence

from jaxshrink import tree as trees
from jaxshrink.scopes import Binding, Scopes
from jaxshrink.tree import DELETE, Edit, Replacement


@dataclasses.dataclass(frozen=True)
class ModuleSource:
    """A file of the program: its module name (`__main__` for the entry), its path in the folder, its text."""

    name: str
    file: str
    text: str
    package: bool = False


def parse_with_origin(text: str, file: str) -> ast.Module:
    """The tree of a file; each node has `origin`: (file, line, column, end line, end column). Raises SyntaxError."""
    tree = ast.parse(text, file)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.origin = (file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return tree


def bundle(sources: Sequence[ModuleSource]) -> ast.Module:
    """One module of several files, given in the order in which their execution ended, the entry last."""
    if len(sources) == 1:
        return parse_with_origin(sources[0].text, sources[0].file)
    return _Bundle(sources).tree()


@dataclasses.dataclass(frozen=True)
class _Local:
    """A name that means a module of the program."""

    module: str


class _Bundle:
    def __init__(self, sources: Sequence[ModuleSource]):
        self.sources = {source.name: source for source in sources}
        self.trees = {source.name: parse_with_origin(source.text, source.file) for source in sources}
        self.scopes = {name: Scopes(tree) for name, tree in self.trees.items()}
        self.names: dict[Binding, str] = {}
        self.taken: dict[str, Hashable] = {}
        for name in ["__main__", *(each for each in self.sources if each != "__main__")]:
            for binding in self.scopes[name].module.bindings.values():
                self._name(name, binding)

    def tree(self) -> ast.Module:
        body: list[ast.stmt] = []
        for name in self.sources:
            body.extend(self._module(name).body)
        future = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        rest = [node for node in body if node not in future]
        names = {alias.name: alias for node in future for alias in node.names}
        head: list[ast.stmt] = [ast.ImportFrom("__future__", list(names.values()), 0)] if names else []
        return ast.fix_missing_locations(ast.Module([*head, *rest], []))

    def _name(self, module: str, binding: Binding) -> None:
        """Gives a top-level variable its name in the bundle: its own, with a number where that means something else."""
        key: Hashable = binding
        alias = binding.definitions[0]
        if isinstance(alias, ast.alias) and len(binding.definitions) == 1:
            statement = _statement_of_node(self.trees[module], alias)
            if self._meaning(module, statement, alias):
                return
            key = (getattr(statement, "module", ""), alias.name, alias.asname)
        name, i = binding.name, 1
        while self.taken.setdefault(name, key) != key:
            name, i = f"{binding.name}{i}", i + 1
        self.names[binding] = name

    def _module(self, name: str) -> ast.Module:
        """A module's tree with the names of the bundle and without imports of other modules of the program."""
        tree, scopes = self.trees[name], self.scopes[name]
        above = trees.parents(tree)
        changes: dict[ast.AST, Replacement] = {}
        for statement in trees.walk_statements(tree):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                changes.update((alias, DELETE) for alias in statement.names if self._meaning(name, statement, alias))
                if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*" and self._is_local(name, statement):
                    changes[statement] = DELETE
            elif isinstance(statement, ast.Global):
                new = [self.names.get(scopes.module.bindings[each], each) for each in statement.names]
                changes[statement] = ast.Global(new)
        for binding, new_name in self.names.items():
            if binding.scope is scopes.module and new_name != binding.name:
                for node in [*binding.definitions, *binding.uses]:
                    changes.setdefault(node, _renamed(node, new_name))
        for use in [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]:
            meaning = self._of(name, use)
            if meaning is not None:
                node, new = self._followed(use, meaning, above)
                changes[node] = new
            elif use.id == "__name__" and name != "__main__":
                changes[use] = ast.Constant(name)
        return trees.apply(tree, [Edit(changes)])

    def _followed(self, node: ast.expr, meaning: _Local | Binding, above: dict[ast.AST, ast.AST]) -> tuple[ast.expr, ast.expr]:
        """The longest attribute chain from a name that imports of the program explain, and what stands for it."""
        while isinstance(meaning, _Local):
            parent = above[node]
            attribute = self._member(meaning.module, parent.attr) if isinstance(parent, ast.Attribute) else None
            if attribute is None or not isinstance(parent, ast.Attribute):
                return node, self._namespace(meaning.module)
            node, meaning = parent, attribute
        return node, ast.Name(self.names.get(meaning, meaning.name), ast.Load())

    def _namespace(self, module: str) -> ast.expr:
        """A module as a value: an object with its names."""
        bindings = self.scopes[module].module.bindings.values()
        fields = [ast.keyword(each.name, ast.Name(self.names[each], ast.Load())) for each in bindings]
        return ast.Call(trees.expression("__import__('types').SimpleNamespace"), [], fields)

    def _of(self, module: str, use: ast.Name) -> _Local | Binding | None:
        """What a name means, if an import of the program's own brought it in."""
        binding = self.scopes[module].of.get(use)
        if binding is None:
            return self._starred(module, use.id)
        for definition in binding.definitions:
            if isinstance(definition, ast.alias):
                statement = _statement_of_node(self.trees[module], definition)
                meaning = self._meaning(module, statement, definition)
                if meaning is not None:
                    return meaning
        return None

    def _meaning(self, module: str, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> _Local | Binding | None:
        if isinstance(statement, ast.Import):
            first = alias.name.split(".")[0]
            if first not in self.sources and alias.name not in self.sources:
                return None
            return _Local(alias.name if alias.asname else first)
        source = self._absolute(module, statement)
        return self._member(source, alias.name) if self._is_local(module, statement) else None

    def _is_local(self, module: str, statement: ast.ImportFrom) -> bool:
        source = self._absolute(module, statement)
        return source in self.sources or any(name.startswith(source + ".") for name in self.sources)

    def _member(self, module: str, name: str) -> _Local | Binding | None:
        """What a name of a module means: a variable, perhaps of the module that it was imported from, or a submodule."""
        binding = self.scopes[module].module.bindings.get(name) if module in self.sources else None
        alias = binding.definitions[0] if binding is not None else None
        statement = _statement_of_node(self.trees[module], alias) if isinstance(alias, ast.alias) else None
        itself = isinstance(statement, ast.ImportFrom) and self._absolute(module, statement) == module
        if binding is not None and not itself:
            if isinstance(alias, ast.alias) and statement is not None:
                return self._meaning(module, statement, alias) or binding
            return binding
        if module in self.sources and not itself:
            starred = self._starred(module, name)
            if starred is not None:
                return starred
        child = f"{module}.{name}" if module else name
        return _Local(child) if any(each == child or each.startswith(child + ".") for each in self.sources) else None

    def _starred(self, module: str, name: str) -> _Local | Binding | None:
        """What `from module import *` of the program's own brings in under a name."""
        for statement in trees.walk_statements(self.trees[module]):
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*" and self._is_local(module, statement):
                meaning = self._member(self._absolute(module, statement), name)
                if meaning is not None and not name.startswith("_"):
                    return meaning
        return None

    def _absolute(self, module: str, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        parts = module.split(".") if module != "__main__" else []
        keep = len(parts) - statement.level + (1 if self.sources[module].package else 0)
        return ".".join([*parts[:keep], *filter(None, [statement.module])])


def _renamed(node: ast.AST, name: str) -> ast.AST:
    new = trees.shallow(node)
    match new:
        case ast.Name():
            new.id = name
        case ast.alias():
            new.asname = name
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.ExceptHandler() | ast.MatchAs():
            new.name = name
    return new


def _statement_of_node(tree: ast.Module, alias: ast.alias) -> ast.Import | ast.ImportFrom:
    return next(node for node in _imports(tree) if alias in node.names)


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in trees.walk_statements(tree) if isinstance(node, ast.Import | ast.ImportFrom))
