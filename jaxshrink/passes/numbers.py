"""Smaller numbers and strings; sizes as dimensions, so that all places of one size change together.

Sizes may be what the failure is about, so they go down by steps (1, 2, 3, half; then by a quarter, an eighth, … one)
and stop where it ends.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Hashable, Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.arrays import in_shape
from jaxshrink.passes.meshes import names_axis
from jaxshrink.tree import Edit, Replacement
from jaxshrink.view import View

NEAR = 8
"""Numbers below are always tried down to one less."""


def dimensions(view: View) -> Iterator[Edit]:
    """Make all places of one number smaller together."""
    groups: dict[int, list[ast.Constant]] = collections.defaultdict(list)
    for node in view.all(ast.Constant):
        if type(node.value) is int and node.value > 1:
            groups[node.value].append(node)
    for value, nodes in sorted(groups.items(), reverse=True):
        yield from _descent(nodes, value, view.thorough)


def collapsed(view: View) -> Iterator[Edit]:
    """Make all numbers above one alike: 1, or 2."""
    nodes = [node for node in view.all(ast.Constant) if type(node.value) is int and node.value > 1]
    for value in (1, 2):
        changes: dict[ast.AST, Replacement] = {node: ast.Constant(value) for node in nodes if node.value != value}
        yield Edit(changes, len(nodes))


def numbers(view: View) -> Iterator[Edit]:
    """Make one number plainer; in a shape with those beside it that are equal, as what is square may have to be."""
    for node in view.all(ast.Constant):
        parent = view.parents[node]
        sizes = in_shape(view, node) or (isinstance(parent, ast.keyword) and parent.arg == "length")
        match node.value:
            case bool():
                if node.value:
                    yield Edit.replace(node, ast.Constant(False))
            case int(value):
                if value > 0 and not sizes:
                    yield Edit.replace(node, ast.Constant(0))
                beside = parent.elts if sizes and isinstance(parent, ast.Tuple | ast.List) else [node]
                equal = [each for each in beside if isinstance(each, ast.Constant) and each.value == value]
                if node is equal[0]:
                    yield from _descent(equal, value, view.thorough)
            case float():
                for plain in (0, 1, 0.0, 1.0):
                    yield Edit.replace(node, ast.Constant(plain))
            case complex():
                yield Edit.replace(node, ast.Constant(1.0))
    for negated in view.all(ast.UnaryOp):
        yield Edit.replace(negated, negated.operand)


def strings(view: View) -> Iterator[Edit]:
    """Make strings shorter: empty, one letter, half."""
    by_value: dict[str | bytes, list[ast.Constant]] = collections.defaultdict(list)
    for node in view.all(ast.Constant):
        if isinstance(node.value, str | bytes) and not isinstance(view.parents[node], ast.JoinedStr):
            by_value[node.value].append(node)
    for value, nodes in by_value.items():
        keys = any(isinstance(view.parents[node], ast.Dict | ast.Subscript | ast.Compare) for node in nodes)
        keys = keys or any(names_axis(view, node) for node in nodes)
        for shorter in dict.fromkeys((value[:0], value[:1], value[: len(value) // 2], value[len(value) // 2 :])):
            if len(shorter) < len(value) and not (keys and not shorter):  # an empty key puzzles
                yield Edit({node: ast.Constant(shorter) for node in nodes}, len(nodes))
    for joined in view.all(ast.JoinedStr):
        yield Edit.replace(joined, ast.Constant(""))


def _descent(nodes: list[ast.Constant], value: int, thorough: bool) -> Iterator[Edit]:
    """Smaller numbers in all the places, the least first.

    Those at half the way and nearer are a search by bisection over some rounds: a part of the way that has failed
    once is not gone again until all else has been tried.
    """
    places = tuple(map(trees.identity, nodes))
    steps: list[tuple[int, Hashable]] = [(smaller, None) for smaller in (1, 2, 3)]
    most = value.bit_length() if thorough or value < NEAR else 2
    steps += [(value - (value >> shift), ("part of the way", shift, places)) for shift in range(1, most)]
    for smaller, about in steps:
        if 0 < smaller < value:
            yield Edit({node: trees.instead(node, ast.Constant(smaller)) for node in nodes}, len(nodes), about)
