"""Imports come and go by themselves, and what nothing reads goes too; what might fail stays."""

from __future__ import annotations

import ast
import dataclasses

import pytest
from hypothesis import given

from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.cuts import keep_failing
from jaxshrink.observation import Span, UserFrame
from jaxshrink.scopes import Scopes
from jaxshrink.settle import keep, settle, settled
from jaxshrink.view import View
from tests.passes.proposing import FILE, observation_of
from tests.programs import Program, programs, quick, run


def settled_text(source: str) -> str:
    return trees.text(settle(ast.parse(source)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jnp.ones(3)", "import jax.numpy as jnp\njnp.ones(3)"),
        ("jax.jit(np.sum)", "import jax\nimport numpy as np\njax.jit(np.sum)"),
        ("import jax, os\nx(jax)", "import jax\nx(jax)"),
        ("from jax import lax, numpy as jnp\nlax.x", "from jax import lax\nlax.x"),
        ("import equinox as eqx", "import equinox as eqx"),
        ("from __future__ import annotations", "from __future__ import annotations"),
        ("def f(): return g()\ndef g(): return f()", "def f():\n    return g()\n\ndef g():\n    return f()"),
        ("def f(): return g()\ndef g(): pass", ""),
        ("def f(n): return f(n - 1)", ""),
        ("x = 1\ny = x\nz = y", ""),
        ("x = f()", "x = f()"),
        ("f = lambda: 1", ""),
        ("class C(B):\n    x: int = 1\n    def f(self): return C", ""),
        ("def f():\n    y = 1\n    return jnp\nf()", "import jax.numpy as jnp\n\ndef f():\n    return jnp\nf()"),
        ("class C:\n    x = 1\n    def f(self): 0\nC()", "class C:\n    x = 1\n\n    def f(self):\n        0\nC()"),
        ("def f():\n    x = 1\nf()", "def f():\n    pass\nf()"),
    ],
)
def test_settled(before: str, after: str) -> None:
    assert settled_text(before) == after


@pytest.mark.parametrize(
    "source",
    ["@register\nclass C:\n    pass", "x = 0\nfor i in y:\n    x += 1", "x = 1\ndel x", "import sys\nexec('sys')"],
)
def test_what_may_be_missed_stays(source: str) -> None:
    assert settled_text(source) == trees.text(ast.parse(source))


@pytest.mark.parametrize("source", ["from jax import gone", "class C(B):\n    pass", "def f(x: T):\n    pass"])
def test_what_is_kept_stays_also_when_it_is_rebuilt(source: str) -> None:
    tree = ast.parse(source)
    keep(tree.body[0])
    assert settle(tree) is tree
    assert trees.text(settle(trees.clone(tree))) == source


@quick
@given(programs(without=("class", "try", "default")))  # an unread class goes with what its body does, a function too
def test_settling_changes_nothing_but_what_fails(program: Program) -> None:
    """`x = y` goes where nothing reads `x`, though `y` may be unbound."""
    seen = program.run()
    if seen and str(seen[-1]).endswith("Error"):
        seen.pop()
    tree = settle(ast.parse(program.text))
    assert run(trees.text(tree))[: len(seen)] == seen
    assert settle(tree) is tree


@quick
@given(programs())
def test_scopes_are_those_of_the_settled_tree(program: Program) -> None:
    tree, scopes = settled(ast.parse(program.text))
    assert {name.id for name in scopes.unbound} == {name.id for name in Scopes(tree).unbound}


@pytest.mark.parametrize(
    ("source", "failing", "after"),
    [
        ("import jax\nfrom jax import gone", "from jax import gone", "from jax import gone"),
        ("class C:\n    x = f(1)\ny = 1", "f(1)", "class C:\n    x = f(1)"),
        ("def f(x: T.gone):\n    pass\ny = 1", "T.gone", "def f(x: T.gone):\n    pass"),
        ("def f():\n    g(1)\ny = 1", "g(1)", ""),
    ],
)
def test_what_fails_stays_though_nothing_reads_it(source: str, failing: str, after: str) -> None:
    """A function whose body failed need not stay: something called it."""
    tree = parse_with_origin(source, FILE)
    place = next(node for node in ast.walk(tree) if hasattr(node, "origin") and ast.unparse(node) == failing)
    frame = UserFrame(0, "<module>", "__main__", Span(*place.origin), {})
    keep_failing(View(tree), dataclasses.replace(observation_of(tree, {}), frames=(frame,)))
    assert trees.text(settle(tree)) == after


def test_a_module_stays_imported_as_long_as_it_is_read_by_its_whole_name() -> None:
    imports = "import jax\nimport jax.experimental.checkify\n"
    used = imports + "jax.experimental.checkify.check(jax.f())"
    assert settled_text(used) == used
    assert settled_text(imports + "jax.f()") == "import jax\njax.f()"
