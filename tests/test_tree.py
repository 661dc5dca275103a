"""Edits on trees: what they give parses, and what they do not touch stays the same nodes."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxshrink import tree as trees
from jaxshrink.tree import Edit, Inapplicable
from jaxshrink.view import View
from tests.programs import quick

EVERYTHING = '''
import os, sys as system
from a.b import c, d as e

@decorator(1)
class C(B, metaclass=M):
    """doc"""
    x: int = 1
    y: str

    @property
    async def f(self, a, /, b: int, c=2, *args, d, e=3, **kwargs) -> C:
        global g, h
        async with a as b, c:
            await self.x
        async for i in a:
            yield i
        else:
            return
        return [x async for x in y if x if y]

def gen(n=1):
    nonlocal_ = lambda x, *y, z=1, **w: x if y else z
    try:
        yield from {**n, "k": 1, **{}}
    except (A, B) as error:
        raise X(error) from error
    except C:
        raise
    else:
        pass
    finally:
        del n, nonlocal_[0]
    try:
        pass
    except* E as many:
        assert many, "message"

for i, (j, *k) in enumerate(a[1:2, ::3]):
    while not i or j and k and -i:
        if a < b <= c is not d:
            continue
        elif a @ b ** c:
            break
        else:
            x = y = z, = {1, *a}, [2], (3,)
else:
    x += f"{a!r:>{b}} text {c}"
match a:
    case [1, x, *rest] | {"k": -1, **more}:
        pass
    case C(1, b, x=2, y=None) if (n := len(a)) > 1:
        pass
    case str() as s:
        pass
    case _:
        f(1, *a, k=2, **b)
with a as (b, c), d:
    {k: v for k, v in a if k for w in v}, {x for x in y}, (x for x in y), b"bytes", 1j, ...
print(a.b[c](d)[e:])
'''


TREE = ast.parse(EVERYTHING)
VIEW = View(TREE)
SHARED = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)  # one object stands in many places
NODES = [node for node in VIEW.nodes[1:] if not isinstance(node, SHARED)]
STATEMENTS = [node for node in NODES if isinstance(node, ast.stmt)]


def delete(source: str, gone: str) -> str:
    """The text without the nodes that are written as one of `gone`."""
    tree = ast.parse(source)
    nodes = [node for node in ast.walk(tree) if not isinstance(node, SHARED) and _written(node) in gone.split("; ")]
    return trees.text(trees.apply(tree, [Edit.delete(*nodes)]))


def _written(node: ast.AST) -> str:
    if isinstance(node, ast.Module | ast.Expr):
        return ""
    return node.arg if isinstance(node, ast.arg) else ast.unparse(node).strip()


@pytest.mark.parametrize(
    ("before", "gone", "after"),
    [
        ("x = y = 1", "x", "y = 1"),
        ("x = y = 1", "x; y", "1"),
        ("if a:\n    x = 1\nelse:\n    b", "x = 1", "if a:\n    pass\nelse:\n    b"),
        ("def f(a, b=1, *, c=2): pass", "b", "def f(a, *, c=2):\n    pass"),
        ("def f(a, b=1, *, c=2): pass", "c", "def f(a, b=1):\n    pass"),
        ("def f(a, b=1, *, c=2): pass", "2", "def f(a, b=1, *, c):\n    pass"),
        ("def f(a=1, b=2): pass", "1", "def f(a, b=2):\n    pass"),
        ("def f(a, /, *b, **c): pass", "a; b; c", "def f():\n    pass"),
        ("{a: b, **c}", "a", "{**c}"),
        ("{a: b, **c}", "c", "{a: b}"),
        ("a and b and c", "b", "a and c"),
        ("a and b", "b", "a"),
        ("a < b < c", "b", "a < c"),
        ("a < b", "b", "a"),
        ("with a, b: c", "a; b", "c"),
        ("with a as b: c", "b", "with a:\n    c"),
        ("import a, b", "a", "import b"),
        ("import a\nb", "a", "b"),
        ("del a, b", "a", "del b"),
        ("def f(): return a", "a", "def f():\n    return"),
        ("raise a from b", "b", "raise a"),
        ("x: int = 1", "1", "x: int"),
        ("a[b:c]", "b", "a[:c]"),
        ("{a}", "a", "set()"),
        ("try: a\nexcept b as c: d", "b", "try:\n    a\nexcept:\n    d"),
        ("try: a\nexcept b: c", "except b:\n    c", "a"),
        ("match a:\n    case b | c: pass", "b", "match a:\n    case c:\n        pass"),
    ],
)
def test_what_a_deletion_leaves(before: str, gone: str, after: str) -> None:
    assert delete(before, gone) == after


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ("a + b", "b"),
        ("raise a from b", "a"),
        ("[a for b in c]", "for b in c"),
        ("def f(a=1, b=2): pass", "2"),
        ("if a: b", "a"),
        ("try: a\nexcept* b: c", "b"),
        ("match a:\n    case {1: b}: pass", "1"),
        ("match a:\n    case b(c=d): pass", "d"),
        ("x = 1", "1"),
    ],
)
def test_what_cannot_be_deleted(source: str, gone: str) -> None:
    with pytest.raises(Inapplicable):
        delete(source, gone)


def test_an_edit_may_replace_parts_of_another_ones_replacement() -> None:
    tree = ast.parse("f(g(x))")
    outer = next(node for node in ast.walk(tree) if isinstance(node, ast.Call))
    inner = outer.args[0]
    assert isinstance(inner, ast.Call)
    edits = [Edit.replace(outer, inner), Edit.replace(inner.args[0], trees.expression("y"))]
    assert trees.text(trees.apply(tree, edits)) == trees.text(trees.apply(tree, edits[::-1])) == "g(y)"


def test_a_replacement_may_hold_what_it_replaces() -> None:
    tree = ast.parse("x")
    name = next(node for node in ast.walk(tree) if isinstance(node, ast.Name))
    edit = Edit.replace(name, ast.Call(ast.Name("f", ast.Load()), [name], []))
    assert trees.text(trees.apply(tree, [edit])) == "f(x)"


def test_of_two_edits_of_a_node_the_first_wins() -> None:
    tree = ast.parse("a\nb")
    edits = [Edit.replace(tree.body[0], ast.Pass()), Edit.delete(tree.body[0], tree.body[1])]
    assert trees.text(trees.apply(tree, edits)) == "pass"


def test_a_clone_keeps_origins_and_is_another() -> None:
    tree = ast.parse("f(x)")
    copy = trees.clone(tree)
    assert ast.dump(copy, include_attributes=True) == ast.dump(tree, include_attributes=True)
    assert trees.identity(copy.body[0]) is not trees.identity(tree.body[0])


def test_identity_survives_what_happens_below() -> None:
    tree = ast.parse("def f():\n    a\n    b")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    known, other = trees.identity(function), trees.identity(function.body[1])
    after = trees.apply(tree, [Edit.delete(function.body[0])]).body[0]
    assert isinstance(after, ast.FunctionDef) and after is not function
    assert trees.identity(after) is known and after.body[0] is function.body[1]
    assert trees.identity(after.body[0]) is other


def _deletions() -> st.SearchStrategy[Edit]:
    return st.sets(st.sampled_from(NODES), max_size=8).map(lambda nodes: Edit.delete(*nodes))


def _replacements() -> st.SearchStrategy[Edit]:
    some = st.lists(st.sampled_from(STATEMENTS), max_size=3).map(tuple)
    return st.builds(Edit.replace, st.sampled_from(STATEMENTS), some)


@quick
@given(st.lists(st.one_of(_deletions(), _replacements()), max_size=4))
def test_what_edits_give_parses(edits: list[Edit]) -> None:
    try:
        after = trees.apply(TREE, edits)
    except Inapplicable:
        return
    text = trees.text(after)
    assert trees.text(ast.parse(text)) == text


@quick
@given(st.lists(_deletions(), max_size=3))
def test_what_is_not_touched_is_the_same_node(edits: list[Edit]) -> None:
    changed = {node for edit in edits for node in edit.changes}
    try:
        after = set(ast.walk(trees.apply(TREE, edits)))
    except Inapplicable:
        return
    for statement in TREE.body:
        below = set(ast.walk(statement))
        if below.isdisjoint(changed):
            assert below <= after
    assert after.isdisjoint(changed)
    assert trees.text(TREE) == trees.text(ast.parse(EVERYTHING))


def test_no_edit_gives_the_same_tree() -> None:
    assert trees.apply(TREE, []) is TREE


def test_extents_are_those_of_the_edited_tree() -> None:
    before = trees.extent(TREE)
    after = trees.apply(TREE, [Edit.delete(TREE.body[0])])
    assert trees.extent(after) == before - trees.extent(TREE.body[0]) == sum(1 for _ in _nodes(after))


def _nodes(node: ast.AST) -> list[ast.AST]:
    return [node, *(below for child in ast.iter_child_nodes(node) for below in _nodes(child))]
