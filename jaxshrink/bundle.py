"""The files of a program in one module that does the same.

A module's statements stand where the first import of it was, as they run. Top-level names stay as
they are where no two differ; what the modules import of each other is resolved, and those import
statements vanish. Every node knows where it came from (`node.origin`).
"""

from __future__ import annotations

import ast
import builtins
import itertools
import posixpath
from collections.abc import Hashable, Iterator, Sequence

from jaxshrink import tree as trees
from jaxshrink.linkage import ImportStatement, Linkage, Meaning, Module, ModuleSource
from jaxshrink.scopes import Binding
from jaxshrink.tree import DELETE, Edit, Replacement

__all__ = ["ModuleSource", "bundle", "parse_with_origin"]


def parse_with_origin(text: str, file: str) -> ast.Module:
    """The tree of a file; each node has `origin`: (file, line, column, end line, end column). Raises SyntaxError."""
    tree = ast.parse(text, file)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.origin = (file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return tree


def bundle(sources: Sequence[ModuleSource]) -> ast.Module:
    """One module of several files, the entry last. The others' order matters for those that no statement imports."""
    parsed = [parse_with_origin(source.text, source.file) for source in sources]
    return _Bundle(Linkage(sources, parsed)).tree() if len(sources) > 1 else parsed[0]


class _Bundle:
    def __init__(self, linkage: Linkage):
        self.linkage = linkage
        self.above = {name: trees.parents(tree) for name, tree in linkage.trees.items()}
        self.references = {name: list(self._references(name)) for name in linkage.sources}
        self.names = _Naming(self).names
        self.started: set[str] = set()

    def tree(self) -> ast.Module:
        body = list(self._run("__main__"))
        unreached = [name for name in self.linkage.sources if name not in self.started]
        body = [*itertools.chain.from_iterable(map(self._run, unreached)), *body]
        future = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        features = {alias.name: alias for node in future for alias in node.names}
        entry = self.linkage.trees["__main__"]
        head = entry.body[:1] if _docstring(entry) else []
        rest = [node for node in body if node not in [*future, *head]]
        if features:
            head.append(ast.ImportFrom("__future__", list(features.values()), 0))
        return ast.fix_missing_locations(ast.Module([*head, *rest], []))

    def _run(self, module: str) -> Iterator[ast.stmt]:
        """A module's statements, each after those of the modules that it is the first to import."""
        if module in self.started:
            return
        self.started.add(module)
        tree = self.linkage.trees[module]
        changes = self._changes(module)
        imports: dict[ast.AST, list[str]] = {}
        for statement in tree.body:
            parts = [node for node in ast.walk(statement) if isinstance(node, ImportStatement)]
            if started := [name for part in parts for name in self.linkage.starts(module, part)]:
                marker = ast.Pass()
                imports[marker] = started
                _put_before(statement, marker, changes)
        for statement in trees.apply(tree, [Edit(changes)]).body:
            if statement in imports:
                for name in imports[statement]:
                    yield from self._run(name)
            else:
                yield statement

    # -- what becomes of a module's nodes

    def _changes(self, module: str) -> dict[ast.AST, Replacement]:
        scopes = self.linkage.scopes[module]
        changes: dict[ast.AST, Replacement] = {}
        for statement in self.linkage.imports[module]:
            self._import(module, statement, changes)
        for node, meaning in self.references[module]:
            changes[node] = self._value(meaning, node)
            self._declare(module, node, meaning, changes)
        for binding in scopes.module.bindings.values():
            new = self.names.get(binding, binding.name)
            if new != binding.name:
                for place in [*binding.definitions, *binding.uses]:
                    changes.setdefault(place, _renamed(place, new))
        for part in ast.walk(self.linkage.trees[module]):
            if isinstance(part, ast.Global):
                bindings = [scopes.module.binding(name) for name in part.names]
                changes[part] = ast.Global([self.names.get(binding, binding.name) for binding in bindings])
            elif isinstance(part, ast.Name) and part not in scopes.of and (value := self._of_module(module, part.id)):
                changes[part] = value
        return changes

    def _import(self, module: str, statement: ImportStatement, changes: dict[ast.AST, Replacement]) -> None:
        """Import of the program's own modules: gone, or an assignment where the variable is bound elsewhere too."""
        linkage, scopes = self.linkage, self.linkage.scopes[module]
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            if linkage.is_local(module, statement):
                changes[statement] = DELETE
            return
        assignments = []
        for alias in statement.names:
            if (meaning := linkage.brought(module, alias)) is not None:
                changes[alias] = DELETE
                if linkage.imported(module, scopes.of[alias]) is None:
                    binding = scopes.of[alias]
                    target = ast.Name(self.names.get(binding, binding.name), ast.Store())
                    assignments.append(ast.Assign([target], self._value(meaning)))
        if assignments:
            changes[statement] = (statement, *assignments)

    def _declare(self, module: str, node: ast.expr, meaning: Meaning, changes: dict[ast.AST, Replacement]) -> None:
        """A function that sets a variable of another module must say that it is global."""
        if isinstance(getattr(node, "ctx", None), ast.Load) or not isinstance(meaning, Binding):
            return
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
            at = self.above[module].get(at)
        if at is not None:
            _put_before(at.body[0], ast.Global([self.names[meaning]]), changes)

    def _references(self, module: str) -> Iterator[tuple[ast.expr, Meaning]]:
        """The expressions that stand for variables (or whole modules) of other modules of the program."""
        above = self.above[module]
        for use in ast.walk(self.linkage.trees[module]):
            if not isinstance(use, ast.Name) or not isinstance(use.ctx, ast.Load):
                continue
            node: ast.expr = use
            meaning = self.linkage.means(module, use)
            while isinstance(meaning, Module):
                parent = above[node]
                if not isinstance(parent, ast.Attribute):
                    break
                attribute = self.linkage.member(meaning.name, parent.attr)
                if attribute is None:
                    node = parent if self._of_module(meaning.name, parent.attr) else node
                    break
                node, meaning = parent, attribute
            if meaning is not None:
                yield node, meaning

    def _value(self, meaning: Meaning, node: ast.expr | None = None) -> ast.expr:
        """What stands for a variable or module of the program, in place of `node`."""
        if isinstance(meaning, Binding):
            name = ast.Name(self.names[meaning], getattr(node, "ctx", ast.Load()))
            if hasattr(node, "origin"):
                name.origin = node.origin  # type: ignore[attr-defined,union-attr]
            return name
        special = self._of_module(meaning.name, node.attr) if isinstance(node, ast.Attribute) else None
        return special or self._namespace(meaning.name)

    def _namespace(self, module: str) -> ast.expr:
        """A module as a value: an object with the names that it is certain to have."""
        fields = []
        if module in self.linkage.sources:
            body = self.linkage.trees[module].body
            for binding in self.linkage.scopes[module].module.bindings.values():
                certain = any(self._statement(module, node) in body for node in binding.definitions)
                meaning = self.linkage.imported(module, binding) or binding
                if certain and isinstance(meaning, Binding):
                    fields.append(ast.keyword(binding.name, self._value(meaning)))
        return ast.Call(trees.expression("__import__('types').SimpleNamespace"), [], fields)

    def _statement(self, module: str, node: ast.AST) -> ast.AST:
        while not isinstance(node, ast.stmt):
            node = self.above[module][node]
        return node

    def _of_module(self, module: str, name: str) -> ast.expr | None:
        """What a module that is not the entry knows of itself."""
        source = self.linkage.sources.get(module)
        if source is None or module == "__main__":
            return None
        folder = posixpath.dirname(source.file)
        match name:
            case "__name__":
                return ast.Constant(module)
            case "__package__":
                return ast.Constant(module if source.package else module.rpartition(".")[0])
            case "__doc__":
                return ast.Constant(_docstring(self.linkage.trees[module]))
            case "__file__" if folder:
                path = "__import__('os').path"
                return trees.expression(f"{path}.join({path}.dirname({path}.abspath(__file__)), {source.file!r})")
        return None


class _Naming:
    """Names for the top-level variables in the bundle: their own, with a number where that means something else."""

    def __init__(self, parts: _Bundle):
        self.parts, self.linkage = parts, parts.linkage
        self.names: dict[Binding, str] = {}
        self.taken: dict[str, Hashable] = {}
        self.captured = {binding for module in self.linkage.sources for binding in self._captured(module)}
        self.read = {
            name: {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            for name, tree in self.linkage.trees.items()
        }
        self.spoken = set().union(*self.read.values())
        self.spoken.update(binding.name for scopes in self.linkage.scopes.values() for binding in scopes.bindings())
        modules = ["__main__", *(name for name in self.linkage.sources if name != "__main__")]
        every = [(name, binding) for name in modules for binding in self.linkage.scopes[name].module.bindings.values()]
        for name, binding in sorted(every, key=lambda one: not self._is_dotted_import(one[1])):  # those keep their name
            if self.linkage.imported(name, binding) is None:
                self._name(name, binding)

    def _name(self, module: str, binding: Binding) -> None:
        key = self._library(binding) or binding
        name, numbers = binding.name, itertools.count(1)
        fits = binding not in self.captured and not self._hides_builtin(module, name)
        while not fits or self.taken.get(name, key) != key:
            name = f"{binding.name}{next(numbers)}"
            fits = name not in self.spoken
        self.taken[name] = key
        self.names[binding] = name

    def _library(self, binding: Binding) -> Hashable | None:
        """What identifies a variable that only imports of libraries bind: modules may share it."""
        found = set()
        for node in binding.definitions:
            if not isinstance(node, ast.alias):
                return None
            statement = self.linkage.statement_of[node]
            if isinstance(statement, ast.ImportFrom):
                found.add((statement.module, node.name))
            else:
                found.add(("", node.name if node.asname else node.name.split(".")[0]))
        return (binding.name, *found) if len(found) == 1 else None

    def _is_dotted_import(self, binding: Binding) -> bool:
        """`import os.path` has no form that binds another name."""
        return any(isinstance(node, ast.alias) and "." in node.name and not node.asname for node in binding.definitions)

    def _captured(self, module: str) -> Iterator[Binding]:
        """The variables of other modules that are read where a variable of a function or class has their name."""
        scopes, above = self.linkage.scopes[module], self.parts.above[module]
        for node, meaning in self.parts.references[module]:
            at: ast.AST | None = node
            while isinstance(meaning, Binding) and at is not None:
                scope = scopes.scope_of.get(at)
                local = scope.bindings.get(meaning.name) if scope is not None and scope is not scopes.module else None
                if local is not None and self.linkage.imported(module, local) is None:
                    yield meaning
                at = above.get(at)

    def _hides_builtin(self, module: str, name: str) -> bool:
        return hasattr(builtins, name) and any(name in read for other, read in self.read.items() if other != module)


def _put_before(statement: ast.stmt, new: ast.stmt, changes: dict[ast.AST, Replacement]) -> None:
    """Adds to the changes a new statement before whatever becomes of another."""
    old = changes.get(statement, statement)
    changes[statement] = (new, *(old if isinstance(old, tuple) else (old,)))


def _renamed(node: ast.AST, name: str) -> ast.AST:
    new = trees.shallow(node)
    match new:
        case ast.Name():
            new.id = name
        case ast.alias():
            new.asname = name
        case ast.MatchMapping():
            new.rest = name
        case _:  # a definition, a handler, a pattern, a type parameter
            new.name = name  # type: ignore[attr-defined]
    return new


def _docstring(tree: ast.Module) -> str | None:
    return ast.get_docstring(tree, clean=False)
