"""What the arguments of a call look like to JAX: arrays by their types, all else by what it is equal to.

See `signature` for the form that it has as JSON.
"""

import collections
import functools
import itertools
import sys

from . import hooks
from .identity import is_by_identity, parts, sort
from .texts import element, kind_of, name_of, text

_MOST_PARTS = 100
_PLAIN = (list, tuple, dict, type(None))
_PYTHON = {bool: "bool", int: "int", float: "float", complex: "complex"}


class Arguments:
    """Takes arguments apart. `group` tells whose they are, `traced` the ids of leaves that JAX traces, if not all."""

    def __init__(self, identities, group, traced=None):
        self.identities, self.group, self.traced = identities, group, traced
        self.util = sys.modules["jax"].tree_util
        self.transformations = set()

    def argument(self, name, value):
        """An argument of which some leaves may be static."""
        leaves = self.util.tree_leaves(value, is_leaf=lambda leaf: leaf is None)
        is_leaf = len(leaves) == 1 and leaves[0] is value
        return self.static(name, value) if is_leaf and self.is_static(value) else self.tree(name, value)

    def is_static(self, leaf):
        return self.traced is not None and leaf is not None and id(leaf) not in self.traced

    def static(self, place, value, is_typed=False):
        """A static argument, or a static part of one that is a tree. Only as arguments, 1 and True are not the same."""
        found = itertools.islice(parts(value).items(), _MOST_PARTS)
        number = self.identities.number((self.group, "static", place), value, is_typed)
        return {
            "number": number, "text": text(value, 40), "type": kind_of(value),
            "sort": sort(value), "by_identity": is_by_identity(value),
            "parts": {place + path: self.part(place + path, part) for path, part in found},
        }  # fmt: skip

    def part(self, place, value):
        return [text(value), self.number("part", place, value), kind_of(value), sort(value), is_by_identity(value)]

    def number(self, kind, place, value):
        return self.identities.number((self.group, kind, place), value)

    def tree(self, name, value):
        found = [(name + self.util.keystr(path), leaf) for path, leaf in
                 self.util.tree_flatten_with_path(value, is_leaf=lambda leaf: leaf is None)[0]]  # fmt: skip
        structure = self.util.tree_structure(value)
        static = {path: self.static(path, leaf) for path, leaf in found if self.is_static(leaf)}
        nodes, classes = {}, {}
        for path, node, data in self.nodes(name, value, structure):
            nodes[path], classes[path] = name_of(data[0]), self.number("class", path, data[0])
            static.update(self.static_of(path, node, data))
        return {
            "leaves": {path: self.leaf(leaf) for path, leaf in found if path not in static},
            "tree": self.number("tree", name, structure), "nodes": nodes, "classes": classes, "static": static,
        }  # fmt: skip

    def nodes(self, path, value, structure):
        """(path, node, its type and what is static in it) of all inner nodes of a tree but None."""
        data = structure.node_data()
        if data is None or value is None:
            return
        yield path, value, data
        children = self.util.tree_flatten_with_path(value, is_leaf=lambda each: each is not value)[0]
        for (key, child), below in zip(children, structure.children()):
            yield from self.nodes(path + self.util.keystr(key), child, below)

    def static_of(self, path, node, data):
        """{path: static} of what is static in a node, named as the attributes of the node that hold it."""
        kind, aux = data
        if kind in _PLAIN or hasattr(kind, "_fields"):
            return {}
        if kind is collections.OrderedDict:
            return {f"list({path})": {**self.static(f"list({path})", tuple(node)), "parts": {}}}
        if kind is collections.defaultdict:
            return {f"{path}.default_factory": self.static(f"{path}.default_factory", node.default_factory)}
        attributes = list(getattr(node, "__dict__", {}).items())
        found = itertools.islice(_held("", aux, attributes), _MOST_PARTS)
        of_type = f" ({name_of(kind)})"
        return {path + of_type * (not has) + at: self.static(path + at, part) for at, part, has in found}

    def leaf(self, leaf):
        if leaf is None:
            return None
        transformation = hooks.transformation(leaf)
        if transformation is not None:
            self.transformations.add(transformation)
        python = _PYTHON.get(type(leaf))
        weak = python in ("int", "float", "complex") or bool(getattr(leaf, "weak_type", False))
        shape = tuple(_size(size) for size in getattr(leaf, "shape", ()))
        return _leaf(element(leaf), shape, weak, python, python or _maker(leaf), _placed(leaf), hooks.mapped(leaf))


@functools.lru_cache(maxsize=4096)
def _leaf(kind, shape, weak, python, maker, placed, mapped):
    """One object for all leaves that are alike: there may be thousands in each of many calls."""
    array = f"{'weak ' * weak}{kind}[{','.join(map(str, shape))}]"
    return {
        "type": kind, "shape": list(shape), "weak": weak, "of": maker, "placed": placed, "mapped": mapped,
        "text": f"Python {python}" if python else array,
    }  # fmt: skip


def _held(at, value, attributes):
    """(path, part, whether an attribute has it) of all parts of a value; attributes are used up."""
    name = next((name for name, held in attributes if held is value), None)
    if name is not None:
        attributes[:] = [each for each in attributes if each[0] != name]
        yield f".{name}", value, True
    elif type(value) in (tuple, list, dict):
        pairs = value.items() if type(value) is dict else enumerate(value)
        for key, part in pairs:
            yield from _held(f"{at}[{key!r}]", part, attributes)
    else:
        yield at, value, False


def _size(size):
    return size if isinstance(size, int) else str(size)


def _maker(leaf):
    jax = sys.modules["jax"]
    if isinstance(leaf, jax.core.Tracer):
        return "tracer"
    return "jax" if isinstance(leaf, jax.Array) else "numpy" if type(leaf).__module__ == "numpy" else kind_of(leaf)


def _placed(leaf):
    if not getattr(leaf, "_committed", False):
        return ""
    return sharding(leaf.sharding)


def sharding(value):
    """A short text of a sharding."""
    devices = sorted(value.device_set, key=lambda device: device.id)
    if len(devices) == 1:
        return f"{devices[0].platform}:{devices[0].id}"
    spec = getattr(value, "spec", None)
    if spec is None:
        return f"{text(value, 120)} over {len(devices)} devices"
    sizes = ", ".join(f"{name}={size}" for name, size in value.mesh.shape.items())
    return f"P({', '.join(map(repr, spec))}) over {sizes}"
