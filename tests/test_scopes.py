"""Which binding each name refers to: examples, and Python's own word for generated programs."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

import pytest
from hypothesis import given

from jaxshrink.scopes import COMPREHENSION, FUNCTION, Binding, Scope, Scopes
from tests.programs import FUNCTIONS, VARIABLES, Program, programs, quick, run


def scopes_of(source: str) -> Scopes:
    return Scopes(ast.parse(source))


def unbound(source: str) -> list[str]:
    return [name.id for name in scopes_of(source).unbound]


def early(source: str) -> list[str]:
    tree = ast.parse(source)
    scopes = Scopes(tree)
    return [scopes.of[node].name for node in scopes.early(tree)]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = 1\nx + y", ["y"]),
        ("def f(a, /, b, *c, d, **e): return a, b, c, d, e, g", ["g"]),
        ("import a.b, c as d\nfrom e import f as g\na, d, g, b, c, e, f", ["b", "c", "e", "f"]),
        ("[x for x in y if x]\nx", ["y", "x"]),
        ("[y := x for x in ()]\ny", []),
        ("class C:\n    x = 1\n    y = x\n    def f(self): return x", ["x"]),
        ("class C:\n    x = 1\n    y = [x for _ in ()]", ["x"]),
        ("class C:\n    x = [1]\n    y = [v for v in x]", []),
        ("class C:\n    x = x", ["x"]),
        ("def f(x=x): pass", ["x"]),
        ("def f():\n    global x\n    x = 1\nx", []),
        ("try: pass\nexcept ValueError as e: e\nfor i in (): i\nwith open('') as w: w", []),
        ("match v:\n    case [a, *b]: a, b\n    case {'k': c, **d}: c, d\n    case str() as e: e", ["v"]),
        ("x: int = 1\nlambda y: x + y + z", ["z"]),
        ("print(len, __name__, __file__)", []),
        ("def f(): return __class__", []),
        ("x += 1", []),
        ("def f(a: A) -> B: pass", ["A", "B"]),
    ],
)
def test_unbound_names(source: str, names: list[str]) -> None:
    assert unbound(source) == names


@pytest.mark.parametrize("source", ["from m import *\nx", "exec('x = 1')\nx", "globals()['x'] = 1\nx"])
def test_nothing_is_unbound_where_binding_is_dynamic(source: str) -> None:
    assert unbound(source) == [] and early(source) == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("y = x\nx = 1", ["x"]),
        ("def f(): return x\nx = 1", []),
        ("if a:\n    b\na = b = 1", []),
        ("x = lambda: x", []),
        ("class C(D): pass\nclass D: pass", ["D"]),
        ("@d\ndef f(): pass\ndef d(): pass", ["d"]),
        ("f(x := 1, x)\ndef f(): pass", ["f"]),
        ("x: T = 0\nx = y\ny = 0", ["y"]),
        ("x += 1\nx = 0", ["x"]),
        ("del x\nx = 0", ["x"]),
        ("print(print)\nprint = 1", []),
    ],
)
def test_names_read_too_early(source: str, names: list[str]) -> None:
    assert early(source) == names


def test_an_augmented_assignment_reads_what_it_changes() -> None:
    tree = ast.parse("x = 1\nx += 2")
    scopes = Scopes(tree)
    binding = scopes.module.bindings["x"]
    assert len(binding.definitions) == 2 and len(binding.uses) == 1


def test_nonlocal_reaches_what_is_bound_further_down() -> None:
    scopes = scopes_of("def f():\n    def g():\n        nonlocal x\n        x = 1\n    x = 0")
    assert "x" not in scopes.module.bindings


def test_global_counts_for_the_scopes_inside() -> None:
    source = "x = 0\ndef f():\n    x = 1\n    def g():\n        global x\n        return [x for _ in ()]"
    assert len(scopes_of(source).module.bindings["x"].uses) == 1


def test_a_class_reads_globals_until_it_has_bound_a_name() -> None:
    source = "x = 0\ndef f():\n    x = 1\n    class C:\n        x\n        x = 2\n        x"
    assert len(scopes_of(source).module.bindings["x"].uses) == 1


def test_deleting_a_variable_reads_it() -> None:
    binding = scopes_of("x = 1\ndel x").module.bindings["x"]
    assert len(binding.definitions) == 1 and len(binding.uses) == 1


def test_attributes_of_an_object_are_not_dynamic() -> None:
    assert unbound("x = vars(args)") == ["args"]


@quick
@given(programs())
def test_renaming_by_binding_changes_nothing(program: Program) -> None:
    """If one variable were taken for two, the renamed program would miss a name."""
    tree = ast.parse(program.text)
    scopes = Scopes(tree)
    names = {binding: f"{binding.name}_{i}" for i, binding in enumerate(scopes.bindings())}
    for scope in scopes.scope_of.values():
        for node in getattr(scope.node, "body", ()) if scope.outer else ():
            if isinstance(node, ast.Global | ast.Nonlocal):
                declared = [_outer(scopes, scope, name) for name in node.names]
                node.names = [names[binding] if binding else "unused" for binding in declared]
    for node, binding in scopes.of.items():
        field = {ast.Name: "id", ast.arg: "arg"}.get(type(node), "name")
        setattr(node, field, names[binding])
    assert run(ast.unparse(tree)) == program.run()


@quick
@given(programs())
def test_scopes_are_those_of_the_compiler(program: Program) -> None:
    """If two variables were taken for one, a name would belong to another scope than the compiler says."""
    tree = ast.parse(program.text)
    scopes = Scopes(tree)
    of_module = symtable.symtable(program.text, "program", "exec")
    tables = {table.get_lineno(): table for table in _tables(of_module) if table.get_name() in (*FUNCTIONS, *VARIABLES)}
    for scope in scopes.scope_of.values():
        if not isinstance(scope.node, ast.FunctionDef | ast.Module):
            continue
        table = of_module if isinstance(scope.node, ast.Module) else tables[scope.node.lineno]
        for name in _own_names(scope.node):
            symbol, binding = table.lookup(name.id), scopes.of.get(name)
            if binding is None:
                assert symbol.is_global()
            elif symbol.is_global():
                assert binding.scope is scopes.module
            else:
                assert binding.scope is not scopes.module and (binding.scope is scope) == symbol.is_local()


def _outer(scopes: Scopes, scope: Scope, name: str) -> Binding | None:
    """The variable that a scope's `global` or `nonlocal` is about."""
    if scope.outer[name] == "global":
        return scopes.module.bindings.get(name)
    at = scope.parent
    while at is not None and (at.is_class or name not in at.bindings):
        at = at.parent
    return at.bindings[name] if at is not None else None


def _own_names(node: ast.AST) -> Iterator[ast.Name]:
    """The names in a body, without those in what opens a scope of its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name):
            yield child
        if not isinstance(child, (*FUNCTION, *COMPREHENSION, ast.ClassDef, ast.arguments)):
            yield from _own_names(child)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _tables(child)
