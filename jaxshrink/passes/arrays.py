"""Plainer arrays: `ones` in place of what computes them, one library, fewer axes."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.render import Style
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

CONSTRUCTORS = frozenset({"ones", "zeros", "empty", "full", "ShapeDtypeStruct", "arange", "eye", "normal", "uniform"})

PLAIN = {"int": "int32", "float": "float32", "bool": "bool_"}
"""What plain types are called as types of arrays."""

SHORT = 6
"""Nodes of an array of one number, as short as they are written."""


def is_constructor(call: ast.Call) -> bool:
    """Does the call make an array from a shape?"""
    return trees.last_name(call.func) in CONSTRUCTORS


def in_shape(view: View, node: ast.AST) -> bool:
    """Does the expression stand in the shape of an array? Arrays without elements would be smaller but puzzling."""
    parent = view.parents.get(node)
    while isinstance(parent, ast.Tuple | ast.List):
        node, parent = parent, view.parents.get(parent)
    return isinstance(parent, ast.Call) and is_constructor(parent) and parent.args[:1] == [node]


def other_numbers(view: View) -> Iterator[Edit]:
    """Put zeros, numbers that all differ, or those that were observed in the place of what computes an array."""
    for node in view.all(ast.expr) if view.thorough else ():
        plain = isinstance(node, ast.Call) and is_constructor(node)
        array = view.rendered(node) if trees.extent(node) > SHORT and not plain else None
        if not isinstance(array, ast.Call):
            continue
        numbers = [view.rendered(node, style) for style in (Style.ZEROS, Style.EXACT)]
        if is_constructor(array) and isinstance(array.func, ast.Attribute):
            numbers += _distinct(ast.unparse(array.func.value), array.args[0])
        for new in filter(None, numbers):
            yield Edit({node: new}, trees.extent(node) - trees.extent(new))


def one_library(view: View) -> Iterator[Edit]:
    """Let `jnp` do what `np` does, everywhere, or the other way round; one import less."""
    imported = {
        alias.name: (statement, alias.asname or alias.name)
        for statement in view.tree.body
        if isinstance(statement, ast.Import)
        for alias in statement.names
    }
    if imported.keys() >= {"numpy", "jax.numpy"}:
        for gone, kept in (("jax.numpy", "numpy"), ("numpy", "jax.numpy")):
            statement, name = imported[gone]
            uses = [node for node in view.all(ast.Name) if node.id == name]
            changes: dict[ast.AST, Replacement] = {use: ast.Name(imported[kept][1], ast.Load()) for use in uses}
            alias = next(alias for alias in statement.names if alias.name == gone)
            yield Edit({**changes, alias: DELETE}, 6)


def ones(view: View) -> Iterator[Edit]:
    """Put plain values in the place of arrays: a number, an array of one element, `ones` for other constructors."""
    for node in view.all(ast.Call):
        if not is_constructor(node) or not isinstance(node.func, ast.Attribute):
            continue
        library, dtype = node.func.value, _dtype(node)
        for plain in ("1.0", "1", "True", "0", "0.0"):
            yield Edit.replace(node, trees.expression(plain))
        abstract = node.func.attr == "ShapeDtypeStruct"
        shapes = (ast.Constant(1), ast.Constant(2), ast.Tuple([], ast.Load()))
        if abstract and node.args:
            yield from (Edit.replace(node.args[0], shape) for shape in (shapes[-1], ast.Tuple([shapes[0]], ast.Load())))
        else:
            yield from (Edit.replace(node, _ones(library, [shape, *dtype])) for shape in shapes)
        if node.func.attr not in ("ones", "zeros") and node.args and not abstract:
            yield Edit.replace(node, _ones(library, [node.args[0], *dtype]))
        for each in dtype[:1]:
            yield from _plainer_dtypes(each)
        scalar = _scalar(node)
        if scalar is not None:
            yield Edit({node: scalar}, 1)


def sized(view: View) -> Iterator[Edit]:
    """Put `ones` of the same size in the place of what makes arrays of a size: `rng.normal(size=n)` is `np.ones(n)`."""
    imports = [alias for each in view.tree.body if isinstance(each, ast.Import) for alias in each.names]
    names = {alias.name: alias.asname for alias in imports}
    library = names.get("numpy") or names.get("jax.numpy")
    for node in view.all(ast.Call) if library else ():
        size = next((keyword.value for keyword in node.keywords if keyword.arg in ("size", "shape")), None)
        if size is None and trees.last_name(node.func) in ("normal", "uniform") and len(node.args) > 1:
            size = node.args[1]  # of jax.random, after the key
        if size is not None:
            yield Edit.replace(node, _ones(trees.expression(str(library)), [size]))


def _plainer_dtypes(dtype: ast.expr) -> Iterator[Edit]:
    """A shorter name for the type of an array's numbers, or a plain type."""
    if isinstance(dtype, ast.Attribute):
        yield Edit({dtype: ast.Constant(dtype.attr)}, 1)
    if not (isinstance(dtype, ast.Name) and dtype.id == "int"):
        for plain in ("float", "int", "bool"):
            if not (isinstance(dtype, ast.Name) and dtype.id == plain):
                yield Edit.replace(dtype, trees.expression(plain))


def scalars(view: View) -> Iterator[Edit]:
    """Put numbers in the place of all arrays together, and products of numbers in that of matrix products."""
    nodes = [node for node in view.all(ast.Call) if is_constructor(node)]
    matrix = [node for node in view.all(ast.BinOp) if isinstance(node.op, ast.MatMult)]
    products: dict[ast.AST, Replacement] = {node: ast.BinOp(node.left, ast.Mult(), node.right) for node in matrix}
    for plain in (1.0, 1):
        numbers: dict[ast.AST, Replacement] = {node: ast.Constant(plain) for node in nodes}
        yield Edit({**numbers, **products}, sum(map(trees.extent, nodes)))
    typed: dict[ast.AST, Replacement] = {node: scalar for node in nodes if (scalar := _scalar(node)) is not None}
    if len(typed) > 1:
        yield Edit({**typed, **products}, sum(map(trees.extent, typed)))


def _scalar(call: ast.Call) -> ast.Call | None:
    """A single number of the type that an array's numbers have: `jnp.float32(1)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr == "ShapeDtypeStruct":
        return None
    match _dtype(call):
        case []:
            type_: ast.expr = ast.Attribute(call.func.value, "float32", ast.Load())
        case [ast.Name(id=name), *_] if name in PLAIN:
            type_ = ast.Attribute(call.func.value, PLAIN[name], ast.Load())
        case [ast.Constant(value=str(name)), *_]:
            type_ = ast.Attribute(call.func.value, name, ast.Load())
        case [ast.Attribute() as dtype, *_]:
            type_ = trees.shallow(dtype)
        case _:
            return None
    return ast.Call(type_, [ast.Constant(1)], [])


def axes(view: View) -> Iterator[Edit]:
    """Drop an axis of every array, also from what else has an element for each axis, and one of each array alone."""
    shapes = [shape for node in view.all(ast.Call) if is_constructor(node) and (shape := _shape(node))]
    ranks = {len(shape.elts) for shape in shapes}
    others = [node for node in view.all(ast.Tuple, ast.List) if len(node.elts) in ranks and node not in shapes]
    for position in (0, -1):
        same: dict[ast.AST, Replacement] = {shape.elts[position]: DELETE for shape in shapes}
        if len(same) > 1:
            yield Edit(same, 2 * len(same))
        if len(ranks) == 1 and others:
            yield Edit({**same, **{node.elts[position]: DELETE for node in others}}, 2 * (len(same) + len(others)))
    for shape in shapes:
        for element in shape.elts:
            yield Edit.delete(element)
        if len(shape.elts) == 1:
            yield Edit.replace(shape, shape.elts[0])


def _distinct(library: str, shape: ast.expr) -> list[ast.expr]:
    """Whole numbers from 0, and numbers from 0 to 1 that are rounded, in a shape; nothing for a single number."""
    sizes = ast.literal_eval(shape)
    sizes = (sizes,) if isinstance(sizes, int) else sizes
    size = math.prod(sizes)
    formed = f".reshape({', '.join(map(str, (-1, *sizes[1:])))})" if len(sizes) > 1 else ""
    sources = (f"{library}.{numbers}{formed}" for numbers in (f"arange({size})", f"linspace(0, 1, {size})"))
    return [trees.expression(source) for source in sources] if size > 1 else []


def _dtype(call: ast.Call) -> list[ast.expr]:
    keywords = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    return keywords or call.args[1:2]


def _shape(call: ast.Call) -> ast.Tuple | None:
    return next((arg for arg in call.args if isinstance(arg, ast.Tuple) and arg.elts), None)


def _ones(library: ast.expr, args: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(library, "ones", ast.Load()), args, [])
