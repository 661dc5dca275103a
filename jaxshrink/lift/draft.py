"""A program in the making: an expression of the original with everything that it needs.

Definitions come from the original's source, values from the observation. Names stay as they are
where they can; two things that had one name in different scopes get two.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Hashable, Iterator, Mapping, Set

from jaxshrink import render
from jaxshrink import tree as trees
from jaxshrink.observation import (
    Array,
    Class,
    Collection,
    Function,
    Instance,
    Literal,
    Made,
    Make,
    Member,
    Method,
    Observation,
    Partial,
    Public,
    Ref,
    Span,
    Wrapped,
)
from jaxshrink.render import Style, Unrenderable
from jaxshrink.scopes import BUILTINS, Binding
from jaxshrink.tree import Edit, Replacement
from jaxshrink.view import View

CONVENTIONAL_MODULES = {"jax.numpy": "jnp", "numpy": "np"}

WITH_JAX = ("errors", "lax", "nn", "numpy", "random", "sharding", "tree", "tree_util", "typing", "dtypes", "debug")
"""Submodules that `import jax` brings along."""


class Draft:
    """Collects the statements that come before the lifted expression.

    `view` is the whole original; `style` says which numbers stand in arrays. Every method that gives an
    expression raises Unrenderable where there is no source for a value.
    """

    def __init__(self, view: View, observation: Observation, style: Style = Style.ONES):
        self.view, self.observation, self.style = view, observation, style
        self.imports: list[ast.stmt] = []
        self.body: list[ast.stmt] = []
        self.names: dict[Hashable, str] = {}
        self.emitted: set[ast.stmt] = set()
        self.named: Set[Ref] = frozenset()  # arrays that are given names, so that one stays one
        self.spans = view.spans

    def module(self, *last: ast.stmt) -> ast.Module:
        imports = {ast.unparse(each): each for each in self.imports}
        return ast.Module([*imports.values(), *self.body, *last], [])

    def value(self, ref: Ref) -> ast.expr:
        """An expression that gives the value again."""
        recipe = self.observation.objects[ref]
        match recipe:
            case Array() if ref in self.named:
                return ast.Name(self.assigned(ref, "x", render.leaf(recipe, self.style)), ast.Load())
            case Literal() | Array():
                return render.leaf(recipe, self.style)
            case Public(name=name):
                return self.public(name)
            case Function():
                return self.function(ref, recipe)
            case Class(span=span):
                return self.definition(span)
            case Method(receiver=receiver, name=name):
                return ast.Attribute(self.value(receiver), name, ast.Load())
            case Partial(func=func, args=args, kwargs=kwargs):
                partial = self.public("functools.partial")
                return ast.Call(partial, [self.value(func), *map(self.value, args)], self.keywords(kwargs))
            case Make(cls=cls, args=args, kwargs=kwargs):
                return ast.Call(self.value(cls), [self.value(arg) for arg in args], self.keywords(kwargs))
            case Member(cls=cls, name=name):
                return ast.Attribute(self.value(cls), name, ast.Load())
            case Instance():
                return self.instance(ref, recipe)
            case Made(span=span, names=names):
                return self.made(ref, span, names)
            case Wrapped(function=function, how=how):
                return ast.Call(self.public(how), [self.value(function)], [])
            case Collection(type="frozenset", items=items):
                elements = ast.List([*map(self.value, items)], ast.Load())
                return ast.Call(ast.Name("frozenset", ast.Load()), [elements], [])
        return render.container(recipe, self.value) or render.leaf(recipe, self.style)

    def keywords(self, refs: Mapping[str, Ref]) -> list[ast.keyword]:
        return [ast.keyword(name, self.value(ref)) for name, ref in refs.items()]

    def public(self, name: str) -> ast.expr:
        """A library's object by its dotted name, with its import."""
        module, _, last = name.removeprefix("builtins.").rpartition(".")
        if not module or name in CONVENTIONAL_MODULES:
            return self.library(name if module else last)
        if module in CONVENTIONAL_MODULES:
            return trees.expression(f"{CONVENTIONAL_MODULES[module]}.{last}")
        if module == "jax" or (module.startswith("jax.") and module.split(".")[1] in WITH_JAX):
            return trees.expression(name)
        return trees.expression(f"{ast.unparse(self.library(module))}.{last}")

    def library(self, module: str) -> ast.expr:
        """A module by its name; builtins are at hand."""
        if module in CONVENTIONAL_MODULES or module == "jax":
            return ast.Name(CONVENTIONAL_MODULES.get(module, module), ast.Load())
        if module in BUILTINS:
            return ast.Name(module, ast.Load())
        if ("import", module) not in self.names:
            self.names["import", module] = module
            self.imports.extend(trees.statements(f"import {module}"))
        return trees.expression(module)

    # -- what the program defined

    def definition(self, span: Span) -> ast.expr:
        """A class or function by its name, with its definition."""
        node = self.spans.get(span)
        binding = self.view.binding(node) if node is not None else None
        if binding is None:
            raise Unrenderable(f"a definition at {span.file}:{span.line}")
        if binding.scope is self.view.scopes.module:
            return ast.Name(self.global_(binding), ast.Load())
        outer = self.view.parents[node] if node is not None else None
        if isinstance(outer, ast.ClassDef) and outer in self.view.tree.body:
            cls = self.global_(self.view.scopes.of[outer])
            return ast.Attribute(ast.Name(cls, ast.Load()), binding.name, ast.Load())
        raise Unrenderable(f"a local definition at {span.file}:{span.line}")

    def function(self, ref: Ref, recipe: Function) -> ast.expr:
        """A function of the program: by name where it stands in the module, else copied with what it closes over."""
        node = self.spans.get(recipe.span)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            raise Unrenderable(f"function {recipe.name}")
        parent = self.view.parents[node]
        if not isinstance(node, ast.Lambda) and isinstance(parent, ast.Module | ast.ClassDef):
            return self.definition(recipe.span)
        if ref in self.names:
            return ast.Name(self.names[ref], ast.Load())
        if isinstance(node, ast.Lambda):
            return self.closed(node, recipe.closure)
        self.names[ref] = name = self.fresh(node.name)
        copy = self.closed(node, recipe.closure)
        copy.name = name
        self.body.append(copy)
        return ast.Name(name, ast.Load())

    def closed(
        self,
        node: trees.Node,
        values: Mapping[str, Ref],
        filled: Mapping[ast.expr, ast.expr] | None = None,
        own: Set[Binding] = frozenset(),
    ) -> trees.Node:
        """A copy of a node in which names of enclosing functions have the given values, and globals are defined.

        The parts in `filled` are replaced and looked into no further; the variables in `own` stay as they are.
        """
        changes: dict[ast.AST, Replacement] = {}
        changes.update((filled or {}).items())
        below = dict.fromkeys(_walk_outside(node, changes))  # in source order, so that each run lifts alike
        uses: dict[Binding, list[ast.Name]] = {}
        for name in below:
            if isinstance(name, ast.Name) and (isinstance(name.ctx, ast.Load) or self.augmented(name)):
                binding = self.view.binding(name)
                if binding is not None and binding not in own and binding.definitions[0] not in below:
                    uses.setdefault(binding, []).append(name)
        for binding, names in sorted(uses.items(), key=lambda item: _position(item[1])):
            if isinstance(binding.definitions[0], ast.alias):
                new: str = self.imported(binding)
            elif binding.scope is self.view.scopes.module and binding.name not in values:
                new = self.global_(binding)
            elif binding.name in values:
                changed = any(self.augmented(name) in below for name in names)
                expression = self.variable(values[binding.name], binding, once=len(names) == 1 and not changed)
                if not isinstance(expression, ast.Name):
                    changes[names[0]] = expression
                    continue
                new = expression.id
            elif self.own(binding, node):
                continue
            elif isinstance(binding.definitions[0], ast.FunctionDef):
                new = self.local_function(binding.definitions[0], values)
            else:
                raise Unrenderable(f"the variable {binding.name}")
            if new != binding.name:
                changes.update((name, ast.Name(new, name.ctx)) for name in names)
        return trees.clone(trees.rewrite(node, Edit(changes)))

    def augmented(self, name: ast.Name) -> ast.AugAssign | None:
        """The statement that reads and changes a variable at once, where the name is its target."""
        parent = self.view.parents.get(name)
        return parent if isinstance(parent, ast.AugAssign) and parent.target is name else None

    def local_function(self, node: ast.FunctionDef, values: Mapping[str, Ref]) -> str:
        """A function of an enclosing function, by its source: no value of it was seen."""
        if node not in self.names:
            self.names[node] = self.fresh(node.name)
            copy = self.closed(node, values)
            copy.name = self.names[node]
            self.body.append(copy)
        return self.names[node]

    def own(self, binding: Binding, node: ast.AST) -> bool:
        """Does the variable belong to a scope within the node (several definitions, the first elsewhere)?"""
        return self.view.inside(binding.scope.node, node)

    def variable(self, ref: Ref, binding: Binding, *, once: bool) -> ast.expr:
        """A local variable's value: in place where it is read once or has a name, else assigned to one."""
        if ref in self.names:
            return ast.Name(self.names[ref], ast.Load())
        value = self.value(ref)
        if isinstance(value, ast.Name) or (once and isinstance(self.observation.objects[ref], Array | Literal)):
            return value
        if isinstance(self.observation.objects[ref], Literal):
            return ast.Name(self.assigned((ref, binding), binding.name, value), ast.Load())
        return ast.Name(self.assigned(ref, binding.name, value), ast.Load())

    def assigned(self, key: Hashable, name: str, value: ast.expr) -> str:
        if key not in self.names:
            self.names[key] = self.fresh(name)
            self.body.append(ast.Assign([ast.Name(self.names[key], ast.Store())], value))
        return self.names[key]

    def instance(self, ref: Ref, recipe: Instance) -> ast.expr:
        """An instance of a class of the program: made without `__init__`, then given its attributes."""
        if ref not in self.names:
            cls = self.value(recipe.cls)
            wanted = ast.unparse(cls).split(".")[-1].lower()
            new = ast.Call(ast.Attribute(ast.Name("object", ast.Load()), "__new__", ast.Load()), [cls], [])
            name = self.assigned(ref, wanted, new)
            for attribute, value in recipe.attrs.items():
                try:
                    expression = self.value(value)
                except Unrenderable:
                    continue  # perhaps nothing reads it: the run tells
                target = ast.Attribute(ast.Name(name, ast.Load()), attribute, ast.Store())
                self.body.append(ast.Assign([target], expression))
        return ast.Name(self.names[ref], ast.Load())

    def made(self, ref: Ref, span: Span, names: Mapping[str, Ref]) -> ast.expr:
        """A library's object by the call of the program that made it."""
        if ref not in self.names:
            node = self.spans.get(span)
            if not isinstance(node, ast.expr) or ("made", ref) in self.names:
                raise Unrenderable("an object that makes itself")
            self.names["made", ref] = ""
            value = self.closed(node, names)
            parent = self.view.parents[node]
            named = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)
            wanted = parent.targets[0].id if named else "made"  # type: ignore[attr-defined]
            self.assigned(ref, wanted, value)
        return ast.Name(self.names[ref], ast.Load())

    def global_(self, binding: Binding) -> str:
        """A variable of the module: the statements that bind it, and those that register or change it."""
        if binding in self.names:
            return self.names[binding]
        if isinstance(binding.definitions[0], ast.alias):
            return self.imported(binding)
        self.names[binding] = name = self.fresh(binding.name)
        for statement in self.statements_of(binding):
            if statement not in self.emitted:
                self.emitted.add(statement)
                copy = self.closed(statement, {})
                self.body.append(copy)
                if name != binding.name:
                    _rename(copy, binding.name, name)
        return name

    def imported(self, binding: Binding) -> str:
        """A name that an import binds, with the import."""
        if binding not in self.names:
            alias = binding.definitions[0]
            assert isinstance(alias, ast.alias)
            statement = trees.shallow(self.view.parents[alias])
            statement.names = [alias]  # type: ignore[attr-defined]
            self.names[binding] = binding.name  # libraries keep their names
            self.imports.append(statement)  # type: ignore[arg-type]
        return self.names[binding]

    def statements_of(self, binding: Binding) -> list[ast.stmt]:
        """Module-level statements about a variable, in order: bindings, and calls and assignments on it."""
        found: dict[ast.stmt, None] = {}
        for node in binding.definitions:
            found[self.top(node)] = None
        for use in binding.uses:
            top = self.top(use)
            if top in found or top not in self.view.tree.body:
                continue
            match top:
                case ast.Expr(value=ast.Call(func=func, args=args)):
                    if _base(func) is use or (args and args[0] is use and isinstance(func, ast.Attribute)):
                        found[top] = None
                case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target]) if _base(target) is use:
                    found[top] = None
        return sorted((each for each in found if each is not self.failing), key=self.view.tree.body.index)

    @functools.cached_property
    def failing(self) -> ast.stmt | None:
        """The module-level statement that failed."""
        outermost = self.observation.frames[-1] if self.observation.frames else None
        node = self.spans.get(outermost.span) if outermost is not None else None
        return self.top(node) if node is not None else None

    def top(self, node: ast.AST) -> ast.stmt:
        """The module-level statement around a node."""
        while not isinstance(self.view.parents[node], ast.Module):
            node = self.view.parents[node]
        assert isinstance(node, ast.stmt)
        return node

    def fresh(self, name: str) -> str:
        """The name, with a number where it is taken."""
        taken = set(self.names.values())
        candidate, i = name, 1
        while candidate in taken:
            candidate, i = f"{name}{i}", i + 1
        return candidate


def _base(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _walk_outside(node: ast.AST, holes: Mapping[ast.AST, object]) -> Iterator[ast.AST]:
    """The node and all below it, apart from the holes."""
    if node not in holes:
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _walk_outside(child, holes)


def _position(names: list[ast.Name]) -> tuple[int, int]:
    return min((getattr(name, "lineno", 0), getattr(name, "col_offset", 0)) for name in names)


def _rename(statement: ast.AST, old: str, new: str) -> None:
    """Renames what a fresh copy of a statement binds, and its own reads of it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id == old:
            node.id = new
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == old and node is statement:
            node.name = new
