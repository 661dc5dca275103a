"""Meshes of fewer axes and devices, with what partition specs and collectives say of the axes that go."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.libraries import named
from jaxshrink.passes.transforms import transformed, unsaid, without_parameter
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

MESHES = ("Mesh", "make_mesh")
SPECS = ("PartitionSpec", "P")

COLLECTIVES = frozenset({
    "psum", "pmean", "pmax", "pmin", "all_gather", "all_to_all", "ppermute", "psum_scatter", "pvary", "pcast",
})  # fmt: skip
"""Their first argument may stand for them where their axis goes."""


AXES = frozenset({*MESHES, *SPECS, *COLLECTIVES, "axis_index", "axis_size"})


def names_axis(view: View, node: ast.Constant) -> bool:
    """Whether a string is the name of an axis where it stands."""
    above = view.parents[node]
    while isinstance(above, ast.Tuple | ast.List | ast.Set):
        above = view.parents[above]
    if isinstance(above, ast.keyword):
        return (above.arg or "").startswith("axis_name")
    return isinstance(above, ast.Call) and trees.last_name(above.func) in AXES


def meshes(view: View) -> Iterator[Edit]:
    """A mesh of one axis, or of those that are mentioned, with one device each; the other axes go everywhere."""
    for call in view.all(ast.Call):
        if trees.last_name(call.func) not in MESHES or (library := named(view, "jax")) is None:
            continue
        names = _axes(call)
        places = {name: _mentions(view, name, call) for name in names}
        sizes = dict(zip(names, _sizes(call, len(names)), strict=True))
        mentioned = [name for name in names if places[name]]
        kept = [(name,) for name in mentioned or names]
        for axes in filter(None, dict.fromkeys([*kept, tuple(mentioned), tuple(names)])):
            gone: dict[ast.AST, Replacement] = {}
            for name in names:
                if name not in axes:
                    gone.update(change for place in places[name] for change in _without(view, place))
            alike = [tuple(size for _ in axes) for size in (1, 2)]
            for shape in dict.fromkeys([*alike, tuple(sizes[name] for name in axes)]):
                new = _mesh(library, shape, axes)
                if ast.unparse(new) != ast.unparse(call):
                    yield Edit({**gone, call: new}, trees.extent(call) - trees.extent(new) + len(gone))


def varying(view: View) -> Iterator[Edit]:
    """In place of an argument that `shard_map` splits over an axis, the index along that axis."""
    for call in view.all(ast.Call):
        levels, function = transformed(call)
        library = named(view, "jax.lax")
        specs = [word.value for level in levels for word in level.keywords if word.arg == "in_specs"]
        if library is None or not specs:
            continue
        for position, arg in enumerate(call.args):
            spec = specs[0]
            if isinstance(spec, ast.Tuple | ast.List):
                spec = spec.elts[position] if position < len(spec.elts) else ast.Constant(None)
            axis = next((node for node in ast.walk(spec) if _is_name(node)), None)
            if isinstance(axis, ast.Constant):
                hole = ast.Call(ast.Attribute(library, "axis_index", ast.Load()), [ast.Constant(axis.value)], [])
                changes = {**without_parameter(view, function, position, hole), **dict(unsaid(call, levels, position))}
                yield Edit({**changes, arg: DELETE}, 2 + trees.extent(arg))


def _axes(call: ast.Call) -> list[str]:
    """The names of a mesh's axes, where they are written there; a text is one name for each letter."""
    for value in [*call.args, *(word.value for word in call.keywords)]:
        match value:
            case ast.Constant(value=str(letters)):
                return list(letters)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                constants = [each.value for each in elements if isinstance(each, ast.Constant)]
                names = [name for name in constants if isinstance(name, str)]
                if names and len(names) == len(elements):
                    return names
    return []


def _sizes(call: ast.Call, count: int) -> list[int]:
    """How many devices there are along each axis, as far as numbers tell."""
    for node in ast.walk(call):
        match node:
            case ast.Tuple(elts=elements) if len(elements) == count:
                sizes = [size.value for size in elements if isinstance(size, ast.Constant)]
                numbers = [size for size in sizes if type(size) is int]
                if len(numbers) == count:
                    return numbers
    return [1] * count


def _mesh(library: ast.expr, shape: tuple[int, ...], axes: tuple[str, ...]) -> ast.Call:
    make = ast.Attribute(library, "make_mesh", ast.Load())
    return ast.Call(make, [trees.expression(repr(shape)), trees.expression(repr(axes))], [])


def _mentions(view: View, name: str, mesh: ast.Call) -> list[ast.Constant]:
    """Where the name of an axis stands outside the mesh."""
    same = (node for node in view.all(ast.Constant) if _is_name(node) and node.value == name)
    return [node for node in same if not view.inside(node, mesh)]


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _without(view: View, place: ast.Constant) -> Iterator[tuple[ast.AST, Replacement]]:
    """An axis goes where it is mentioned: out of a display, a spec, or the collective that is only about it."""
    above = view.parents[place]
    call = view.parents[above] if isinstance(above, ast.keyword) else above
    if isinstance(above, ast.Tuple | ast.List | ast.Set):
        if len(above.elts) == 1 and isinstance(view.parents[above], ast.Call):
            yield above, ast.Constant(None)
        else:
            yield place, DELETE
    elif isinstance(call, ast.Call) and trees.last_name(call.func) in COLLECTIVES and call.args[0] is not place:
        yield call, call.args[0]
    elif isinstance(above, ast.Call) and trees.last_name(above.func) in SPECS:
        yield place, DELETE if above.args[-1] is place else ast.Constant(None)
