"""What a call of a jitted function looks like to JAX: all that may make it differ from earlier calls, as JSON.

    {"function": {"number", "kind", "holds": {name: text}},
     "arguments": {name: {"leaves": {path: leaf}, "tree": number, "nodes": [[type, parts], ...]}
                         or {"static": number, "text", "type", "by_identity", "parts": {path: [text, number]}}},
     "keywords": [names], "options": {name: text}, "transformations": [names], "context": {name: text}}

A leaf is None, or `{"type", "shape", "weak", "of", "placed", "text"}`: `of` is "jax", "numpy", "tracer", or the name of
Python's type; `placed` says on which devices it was put on purpose, and is empty where it was not. Paths are those of
`keystr`, with the name of the argument before them. A node is told by its type and what is static in it. Numbers are
the same for what is the same to JAX.
"""

import functools
import inspect
import itertools
import sys

from . import hooks
from .identity import is_by_identity, parts, text
from .places import definition, innermost

_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}
_MOST_PARTS = 100
_PLAIN = (list, tuple, dict, type(None))
_PYTHON = {bool: "bool", int: "int", float: "float", complex: "complex"}
_OPTIONS = (
    "donate_argnums", "donate_argnames", "static_argnums", "static_argnames", "keep_unused", "inline", "device",
    "backend", "in_shardings_leaves", "out_shardings_leaves", "in_layouts_leaves", "out_layouts_leaves",
    "compiler_options_kvs", "use_resource_env",
)  # fmt: skip


def take(identities, fun, info, args, kwargs):
    """The signature of a call. `info` holds the options of `jit`, or has none of them."""
    group = definition(fun)[:2]
    static = _static(fun, info, len(args))
    named = _named(fun, args, kwargs)
    trees = _Trees(identities, group)
    return {
        "function": {"number": identities.number(group, fun), "kind": _kind(fun), "holds": trees.holds(fun)},
        "arguments": {
            name: trees.static(name, value) if name in static else trees.tree(name, value)
            for name, value in named.items()
        },
        "keywords": sorted(kwargs),
        "options": {name: text(value, 120) for name, value in _options(info)},
        "transformations": sorted(trees.transformations),
        "context": hooks.context(),
    }


def nothing(problem):
    """A signature of which nothing is known, and why."""
    return {
        "function": {"number": 0, "kind": "function", "holds": {}}, "arguments": {}, "keywords": [],
        "options": {"not told": problem}, "transformations": [], "context": hooks.context(),
    }  # fmt: skip


def of_program(identities, forward, args):
    """The signature of the backward pass of a call, whose arguments are what the forward pass has left."""
    leaves = _Trees(identities, "")
    left = {f"residuals[{index}]": leaves.leaf(leaf) for index, leaf in enumerate(args)}
    known = {"function": forward["function"]} if forward else {}
    told = {"arguments": {"residuals": {"leaves": left, "tree": len(left), "nodes": []}}, "options": {}}
    return {**nothing(""), **known, **told, "transformations": ["backward"]}


def _options(info):
    """What is asked of `jit`, but for what is left to it."""
    for name in _OPTIONS:
        value = getattr(info, name, None)
        values = value if isinstance(value, tuple) else (value,)
        if value and not all(each is None or type(each).__name__ == "UnspecifiedValue" for each in values):
            yield name, value


def _named(fun, args, kwargs):
    """{name: value} of the arguments, as the function names them."""
    parameters = _parameters(fun, len(args))
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    rest = next((each.name for each in parameters if each.kind == each.VAR_POSITIONAL), "args")
    names += [f"{rest}[{index}]" for index in range(len(args) - len(names))]
    return {**dict(zip(names, args)), **kwargs}


def _parameters(fun, count):
    """Those of the function; of the one that is mapped, where pmap has taken its arguments apart as so many arrays."""
    try:
        found = tuple(inspect.signature(fun).parameters.values())
        inner = tuple(inspect.signature(innermost(fun)).parameters.values())
    except (TypeError, ValueError):  # functions in C, and those whose signature lies
        return ()
    is_flat = [each.name for each in found] == ["flat_args"] and len(inner) == count
    return inner if is_flat else found


def _static(fun, info, count):
    """The names of the static arguments."""
    names = list(_named(fun, range(count), {}))
    numbers = getattr(info, "static_argnums", None) or ()
    at = {names[number] for number in numbers if -count <= number < count}
    return at | set(getattr(info, "static_argnames", None) or ())


class _Trees:
    """Takes arguments apart."""

    def __init__(self, identities, group):
        self.identities, self.group = identities, group
        self.util = sys.modules["jax"].tree_util
        self.transformations = set()

    def static(self, name, value):
        number = self.number("static", name, value)
        return {
            "static": number, "text": text(value, 40), "type": _type(value), "by_identity": is_by_identity(value),
            "parts": self.parts(name, name, value),
        }  # fmt: skip

    def parts(self, at, place, value):
        """What a static value consists of, each part with a number of its own."""
        found = itertools.islice(parts(value).items(), _MOST_PARTS)
        return {at + path: [text(part), self.number("part", place + path, part)] for path, part in found}

    def holds(self, fun):
        """{name: text} of the values that a function has with it: a closure's, a partial's, a method's object."""
        if not hasattr(fun, "__func__"):
            return _holds(fun)
        number = self.number("self", "", fun.__self__)
        return {"self": f"{_type(fun.__self__)} {number + 1}", **_holds(fun)}

    def number(self, kind, place, value):
        return self.identities.number((self.group, kind, place), value)

    def tree(self, name, value):
        found, _ = self.util.tree_flatten_with_path(value, is_leaf=lambda leaf: leaf is None)
        structure = self.util.tree_structure(value)
        return {
            "leaves": {name + self.util.keystr(path): self.leaf(leaf) for path, leaf in found},
            "tree": self.number("tree", name, structure),
            "nodes": self.nodes(name, structure),
        }

    def nodes(self, name, structure):
        """What each inner node of a tree is: its type, and the parts of what is static in it."""
        found = [data for data in _nodes(structure) if data is not None]
        return [
            [_name(kind), {} if kind in _PLAIN else self.parts("", f"{name} {index}", static)]
            for index, (kind, static) in enumerate(found)
        ]

    def leaf(self, leaf):
        if leaf is None:
            return None
        transformation = hooks.transformation(leaf)
        if transformation is not None:
            self.transformations.add(transformation)
        python = _PYTHON.get(type(leaf))
        weak = python in ("int", "float", "complex") or bool(getattr(leaf, "weak_type", False))
        kind, shape = _element(leaf), [_size(size) for size in getattr(leaf, "shape", ())]
        array = f"{'weak ' * weak}{kind}[{','.join(map(str, shape))}]"
        return {
            "type": kind, "shape": shape, "weak": weak, "of": python or _maker(leaf), "placed": _placed(leaf),
            "text": f"Python {python}" if python else array,
        }  # fmt: skip


def _nodes(structure):
    yield structure.node_data()
    for child in structure.children():
        yield from _nodes(child)


def _element(leaf):
    """The short name of the element type that JAX gives an array or a number."""
    jax = sys.modules["jax"]
    kind = getattr(leaf, "dtype", None)
    if kind is None:
        kind = type(leaf)
    try:
        return _short(str(jax.dtypes.canonicalize_dtype(kind)))
    except (TypeError, ValueError):  # keys, and what is no array at all
        return str(getattr(leaf, "dtype", _type(leaf)))


@functools.cache
def _short(name):
    letters = name.rstrip("0123456789")
    return _SHORT.get(letters, letters) + name[len(letters) :]


def _size(size):
    return size if isinstance(size, int) else str(size)


def _maker(leaf):
    jax = sys.modules["jax"]
    if isinstance(leaf, jax.core.Tracer):
        return "tracer"
    return "jax" if isinstance(leaf, jax.Array) else "numpy" if type(leaf).__module__ == "numpy" else _type(leaf)


def _placed(leaf):
    if not getattr(leaf, "_committed", False):
        return ""
    sharding = leaf.sharding
    devices = sorted(sharding.device_set, key=lambda device: device.id)
    if len(devices) == 1:
        return f"{devices[0].platform}:{devices[0].id}"
    spec = getattr(sharding, "spec", None)
    if spec is None:
        return f"{text(sharding, 120)} over {len(devices)} devices"
    sizes = ", ".join(f"{name}={size}" for name, size in sharding.mesh.shape.items())
    return f"P({', '.join(map(repr, spec))}) over {sizes}"


def _kind(fun):
    """How a function came about, as far as that tells why it is another one: "lambda", "partial", "method", ..."""
    if hasattr(fun, "__func__"):
        return "method"
    if hasattr(fun, "func") and hasattr(fun, "keywords"):
        return "partial"
    if hasattr(fun, "__wrapped__"):
        return "wrapped"
    if not hasattr(fun, "__code__"):
        return "object"
    return "lambda" if fun.__name__ == "<lambda>" else "nested" if "<locals>" in fun.__qualname__ else "function"


def _holds(fun):
    holds = {}
    if hasattr(fun, "func") and hasattr(fun, "keywords"):
        holds.update((f"argument {index}", _value(each)) for index, each in enumerate(fun.args))
        holds.update((name, _value(each)) for name, each in fun.keywords.items())
    inner = innermost(fun)
    code, cells = getattr(inner, "__code__", None), getattr(inner, "__closure__", None)
    for name, cell in zip(code.co_freevars if code else (), cells or ()):
        try:
            held = cell.cell_contents
        except ValueError:  # not yet bound
            continue
        if name == "params" and isinstance(held, dict):  # of a primitive, where JAX calls it by itself
            holds.update((each, _value(value)) for each, value in held.items())
        else:
            holds[name] = _value(held)
    return holds


def _value(value):
    """What is held, without computing anything: arrays by their type alone."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{_element(value)}[{','.join(map(str, shape))}]"
    return text(value)


def _type(value):
    return _name(type(value))


def _name(kind):
    return kind.__qualname__.rpartition("<locals>.")[2]
