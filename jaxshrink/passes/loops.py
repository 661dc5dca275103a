"""Loops over less: no `enumerate` or `zip` where a part of them is not read, a `range` in place of values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.observation import Array, Collection, Dictionary
from jaxshrink.passes.arrays import is_constructor
from jaxshrink.tree import Edit, Replacement
from jaxshrink.view import View

Loop = ast.For | ast.comprehension


def loops(view: View) -> Iterator[Edit]:
    """Loop over what is read: `for i, x in enumerate(a)` is `for x in a`, or `for i in range(3)`."""
    for loop in view.all(ast.For, ast.comprehension):
        source, target = loop.iter, loop.target
        name = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else None
        match source, target:
            case ast.Call(args=[values, *_]), ast.Tuple(elts=[index, element]) if name == "enumerate":
                if not _read(view, index):
                    yield _over(loop, element, values)
                if not _read(view, element) and (length := _length(view, values)) is not None:
                    yield _over(loop, index, _range(length))
            case ast.Call(args=several, keywords=[]), ast.Tuple(elts=elements) if name == "zip":
                for i, values in enumerate(several if len(several) == len(elements) else ()):
                    if not any(_read(view, element) for j, element in enumerate(elements) if j != i):
                        yield _over(loop, elements[i], values)
                    elif not _read(view, elements[i]):
                        yield Edit.delete(elements[i], values)
            case ast.Call(func=ast.Attribute(value=mapping, attr="items")), ast.Tuple(elts=[key, element]):
                if not _read(view, element):
                    yield _over(loop, key, mapping)
                elif not _read(view, key):
                    values = ast.Call(ast.Attribute(mapping, "values", ast.Load()), [], [])
                    yield _over(loop, element, values)
            case _ if name != "range" and isinstance(target, ast.Name):
                if (length := _length(view, source)) is not None:
                    yield _over(loop, target, _range(length))
                    sizes = _counting(view, loop, target, length)
                    if sizes is not None:
                        yield sizes


def _over(loop: Loop, target: ast.expr, source: ast.expr) -> Edit:
    return Edit({loop.target: target, loop.iter: source}, 1 + trees.extent(loop.iter) - trees.extent(source))


def _read(view: View, target: ast.expr) -> bool:
    bindings = [view.binding(node) for node in ast.walk(target)]
    return any(binding.uses for binding in bindings if binding is not None)


def _range(length: int) -> ast.expr:
    return trees.expression(f"range({length})")


def _length(view: View, node: ast.expr) -> int | None:
    """How many elements are looped over, by what is written there or else by what was observed."""
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return None if any(isinstance(element, ast.Starred) for element in elements) else len(elements)
        case ast.Call(args=[ast.Tuple(elts=[ast.Constant(value=int(size)), *_]) | ast.Constant(value=int(size)), *_]):
            if is_constructor(node):
                return size
    match view.recipe(node):
        case Collection(items=items) | Dictionary(items=items):
            return len(items)
        case Array(shape=(size, *_)):
            return size
    return None


def _counting(view: View, loop: Loop, target: ast.Name, length: int) -> Edit | None:
    """Loop over sizes: arrays, or what they are made of, that may differ in their shapes."""
    binding = view.binding(target)
    if binding is None or len(binding.definitions) != 1 or not isinstance(view.recipe(target), Array | Collection):
        return None
    of_size: dict[ast.AST, Replacement] = {use: trees.expression(f"jnp.ones({target.id})") for use in binding.uses}
    return Edit({**of_size, loop.iter: _range(length)}, 1)
