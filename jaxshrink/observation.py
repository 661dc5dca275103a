"""What one watched run of the user's program showed, as `inside/observe.py` wrote it.

Values are kept as *recipes*: how to write the value down in source again. Recipes refer to
each other by their position in `Observation.objects`, so that sharing and cycles survive.
All files are relative to the program's folder, columns are UTF-8 byte offsets as in `ast`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from jaxshrink.outcome import Outcome

Ref: TypeAlias = int
"""Position of a recipe in `Observation.objects`."""


class Span(NamedTuple):
    """Where a node stood in the user's files; lines start at 1, -1 where unknown."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclasses.dataclass(frozen=True)
class Literal:
    """A value that its `repr` tells: None, numbers, text, bytes, slices, ranges."""

    source: str


@dataclasses.dataclass(frozen=True)
class Array:
    """An array, array scalar or tracer.

    `data` are all elements, nested as `tolist()` gives them, where there are at most 64 known ones;
    complex ones are text (`"(1+2j)"`). `min` is the least, where that is known; `nan`: there is one.
    """

    lib: str  # "numpy" or "jax"
    shape: tuple[int, ...]
    dtype: str
    weak: bool = False
    tracer: bool = False
    key: bool = False  # a typed PRNG key
    scalar: bool = False  # a NumPy scalar such as `np.float32(1)`
    data: Any = None
    min: Any = None
    nan: bool = False
    deleted: bool = False  # its buffer, by donation as a rule


@dataclasses.dataclass(frozen=True)
class Struct:
    """A `jax.ShapeDtypeStruct`."""

    shape: tuple[int, ...]
    dtype: str


@dataclasses.dataclass(frozen=True)
class Collection:
    """A list, tuple, set or frozenset: `type` says which."""

    type: str
    items: tuple[Ref, ...]


@dataclasses.dataclass(frozen=True)
class Dictionary:
    """A mapping; `type` is the public name of its class: `dict`, `collections.OrderedDict`, …"""

    type: str
    keys: tuple[Ref, ...]
    items: tuple[Ref, ...]


@dataclasses.dataclass(frozen=True)
class Make:
    """What a call of its class gives: dataclasses, named tuples, paths, …"""

    cls: Ref
    args: tuple[Ref, ...] = ()
    kwargs: Mapping[str, Ref] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of an enumeration."""

    cls: Ref
    name: str


@dataclasses.dataclass(frozen=True)
class Instance:
    """An instance of a class of the program, by its attributes (`__dict__` and `__slots__`)."""

    cls: Ref
    attrs: Mapping[str, Ref]


@dataclasses.dataclass(frozen=True)
class Function:
    """A function of the program. `span` is its `def` or `lambda`; decorators belong to it."""

    span: Span
    name: str
    module: str
    closure: Mapping[str, Ref]
    defaults: tuple[Ref, ...]
    kwdefaults: Mapping[str, Ref]


@dataclasses.dataclass(frozen=True)
class Class:
    """A class of the program."""

    span: Span
    name: str
    module: str


@dataclasses.dataclass(frozen=True)
class Module:
    """A module of the program."""

    name: str


@dataclasses.dataclass(frozen=True)
class Method:
    """A bound method."""

    receiver: Ref
    name: str


@dataclasses.dataclass(frozen=True)
class Partial:
    """A `functools.partial`."""

    func: Ref
    args: tuple[Ref, ...]
    kwargs: Mapping[str, Ref]


@dataclasses.dataclass(frozen=True)
class Public:
    """A function, class, module or constant of a library, by its conventional dotted name."""

    name: str


@dataclasses.dataclass(frozen=True)
class Made:
    """A library's object that a call expression of the program made.

    `names` are the values that the local names of the expression had then.
    """

    span: Span
    names: Mapping[str, Ref]


@dataclasses.dataclass(frozen=True)
class Wrapped:
    """A function of the program inside a library's wrapper; `how` is the wrapper's public name."""

    function: Ref
    how: str


@dataclasses.dataclass(frozen=True)
class Opaque:
    """A value that no source is known for."""

    type: str


Recipe: TypeAlias = (
    Literal | Array | Struct | Collection | Dictionary | Make | Member | Instance | Function
    | Class | Module | Method | Partial | Public | Made | Wrapped | Opaque
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class UserFrame:
    """A frame of the program on the failing stack; `position` is its index in `outcome.frames`."""

    position: int
    function: str
    module: str
    span: Span  # of the failing instruction
    locals: Mapping[str, Ref]  # as they were at the failure, closure variables included


@dataclasses.dataclass(frozen=True)
class Gap:
    """The JAX transformations between two user frames, outermost first (indices into `outcome.frames`).

    `inner` is -1 behind the innermost user frame.
    """

    outer: int
    inner: int
    names: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class LibraryCall:
    """A frame on the failing stack whose function has a public name, with its arguments at the failure."""

    name: str
    position: int
    args: tuple[Ref, ...]
    kwargs: Mapping[str, Ref]


@dataclasses.dataclass(frozen=True)
class UserModule:
    """A module of the program; `name` is `__main__` for the entry file."""

    name: str
    file: str
    package: bool


@dataclasses.dataclass(frozen=True)
class Observation:
    """One watched cold run of the program."""

    outcome: Outcome
    python: str
    jax: str | None
    jaxlib: str | None
    modules: tuple[UserModule, ...]  # as their execution started
    finished: tuple[str, ...]  # names of modules as their execution ended
    lines: Mapping[str, frozenset[int]]  # first lines of the statements that were executed
    values: Mapping[Span, Ref]  # the last value of each expression
    frames: tuple[UserFrame, ...]  # innermost first
    transforms: tuple[Gap, ...]
    library_calls: tuple[LibraryCall, ...]  # innermost first
    objects: tuple[Recipe, ...]
    called_back: tuple[UserFrame, ...] = ()  # of the last function that JAX called back and that raised

    @classmethod
    def load(cls, path: Path) -> Observation:
        """Read an observation. Raises OSError where the run left none (it died or was killed)."""
        return cls.from_json(json.loads(path.read_text("utf-8")))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Observation:
        return cls(
            outcome=Outcome.from_json(data["outcome"]),
            python=data["python"],
            jax=data["jax"],
            jaxlib=data["jaxlib"],
            modules=tuple(UserModule(**module) for module in data["modules"]),
            finished=tuple(data["finished"]),
            lines={file: frozenset(lines) for file, lines in data["lines"].items()},
            values={_span(value): value["value"] for value in data["values"]},
            frames=tuple(map(_frame, data["frames"])),
            called_back=tuple(map(_frame, data["called_back"])),
            transforms=tuple(
                Gap(gap["between"][0], gap["between"][1], tuple(gap["names"])) for gap in data["transforms"]
            ),
            library_calls=tuple(
                LibraryCall(call["name"], call["frame"], tuple(call["args"]), call["kwargs"])
                for call in data["library_calls"]
            ),
            objects=tuple(recipe(data) for data in data["objects"]),
        )


def recipe(data: Mapping[str, Any]) -> Recipe:
    """One recipe from its JSON form."""
    return _READERS[data["k"]](data)


def _span(data: Mapping[str, Any]) -> Span:
    return Span(data["file"], data["line"], data["column"], data["end_line"], data["end_column"])


def _frame(data: Mapping[str, Any]) -> UserFrame:
    return UserFrame(data["position"], data["function"], data["module"], _span(data), data["locals"])


def _array(data: Mapping[str, Any]) -> Array:
    fields = {name: value for name, value in data.items() if name != "k"}
    return Array(**{**fields, "shape": tuple(data["shape"])})


def _collection(data: Mapping[str, Any]) -> Collection:
    return Collection(data["k"], _refs(data["items"]))


def _function(data: Mapping[str, Any]) -> Function:
    closure, defaults, kwdefaults = data["closure"], _refs(data["defaults"]), data["kwdefaults"]
    return Function(_span(data), data["name"], data["module"], closure, defaults, kwdefaults)


def _refs(items: Sequence[int]) -> tuple[Ref, ...]:
    return tuple(items)


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Recipe]] = {
    "literal": lambda data: Literal(data["src"]),
    "array": _array,
    "struct": lambda data: Struct(tuple(data["shape"]), data["dtype"]),
    "list": _collection,
    "tuple": _collection,
    "set": _collection,
    "frozenset": _collection,
    "dict": lambda data: Dictionary(data["type"], _refs(data["keys"]), _refs(data["items"])),
    "make": lambda data: Make(data["cls"], _refs(data["args"]), data["kwargs"]),
    "member": lambda data: Member(data["cls"], data["name"]),
    "object": lambda data: Instance(data["cls"], data["attrs"]),
    "function": _function,
    "class": lambda data: Class(_span(data), data["name"], data["module"]),
    "module": lambda data: Module(data["name"]),
    "method": lambda data: Method(data["self"], data["name"]),
    "partial": lambda data: Partial(data["func"], _refs(data["args"]), data["kwargs"]),
    "public": lambda data: Public(data["name"]),
    "made": lambda data: Made(_span(data), data["names"]),
    "wrapped": lambda data: Wrapped(data["fun"], data["how"]),
    "opaque": lambda data: Opaque(data["type"]),
}
