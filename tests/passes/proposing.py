"""What a pass proposes for a program, as texts; and observations made by hand."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.observation import Array, Literal, Observation, Recipe, Ref, Span
from jaxshrink.outcome import End, Outcome
from jaxshrink.passes import PASSES
from jaxshrink.settle import settle
from jaxshrink.tree import Inapplicable
from jaxshrink.view import View

FILE = "repro.py"


def edits_of(name: str, source: str, observed: Mapping[str, Recipe | object] | None = None) -> list[str]:
    """The settled text after each single edit that the pass proposes and that can be made.

    `observed` gives the values of expressions by their text, wherever they stand: recipes, or numbers and the like.
    """
    tree = parse_with_origin(source, FILE)
    observation = observation_of(tree, observed) if observed is not None else None
    propose = next(each.propose for each in PASSES if each.name == name)
    texts = []
    for edit in propose(View(tree, observation)):
        try:
            texts.append(trees.text(settle(trees.apply(tree, [edit]))))
        except Inapplicable:
            continue
    return texts


def written(source: str) -> str:
    """A text as `edits_of` writes it."""
    return trees.text(settle(ast.parse(source)))


def array(*shape: int, dtype: str = "float32", lib: str = "jax") -> Array:
    return Array(lib, shape, dtype)


def observation_of(
    tree: ast.Module,
    values: Mapping[str, Recipe | object],
    lines: frozenset[int] = frozenset(),
    objects: tuple[Recipe, ...] = (),
) -> Observation:
    """An observation of a run in which expressions had these values and these lines were executed."""
    recipes = [*objects]
    found: dict[Span, Ref] = {}
    for text, value in values.items():
        recipes.append(value if isinstance(value, Recipe) else Literal(repr(value)))
        for node in ast.walk(tree):
            if isinstance(node, ast.expr) and ast.unparse(node) == text:
                found[Span(*node.origin)] = len(recipes) - 1  # type: ignore[attr-defined]
    return Observation(
        outcome=Outcome(End.EXCEPTION),
        python="3.11",
        jax=None,
        jaxlib=None,
        modules=(),
        finished=(),
        lines={FILE: lines},
        values=found,
        frames=(),
        transforms=(),
        library_calls=(),
        objects=tuple(recipes),
    )
