"""Variables that a program sets before it imports JAX."""

import ast

import pytest

from jaxshrink.environment import hoist_environment


@pytest.mark.parametrize(
    ("text", "rest", "variables"),
    [
        ('os.environ["A"] = "1"\nimport jax', "import jax", {"A": "1"}),
        ('os.environ.setdefault("A", "1")\nx = 1\nos.environ["B"] = "2"', "x = 1", {"A": "1", "B": "2"}),
        ('os.environ.update({"A": "1"})\nos.environ |= {"B": "2"}', "", {"A": "1", "B": "2"}),
        ('os.environ.update({"A": "1", "B": value})', 'os.environ.update({"A": "1", "B": value})', {}),
        ('os.environ.setdefault("PATH", "1")', 'os.environ.setdefault("PATH", "1")', {}),
        ('os.environ["A"] = 1', 'os.environ["A"] = 1', {}),
        ('os.environ.update(A="1", B="2")', "", {"A": "1", "B": "2"}),
        ('os.environ["A"] = value', 'os.environ["A"] = value', {}),
        ('import jax\nos.environ["A"] = "1"', 'import jax\nos.environ["A"] = "1"', {}),
        ('from jax import lax\nos.environ["A"] = "1"', 'from jax import lax\nos.environ["A"] = "1"', {}),
    ],
)
def test_hoisted_environment(text: str, rest: str, variables: dict[str, str]) -> None:
    tree, found = hoist_environment(ast.parse(text))
    assert ast.dump(tree) == ast.dump(ast.parse(rest))
    assert found == variables
