"""What a watched run did: functions, their calls that were traced or compiled, and what those looked like to JAX.

All of it is plain, frozen, and becomes JSON by `to_json`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, Self


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An array or a number among the arguments.

    `type` is as JAX writes it (`f32`), `weak` whether the type gives way to another; `of` says what it is: "jax",
    "numpy", "tracer", "float", ... `placed` names devices if it was put there on purpose, `mapped` the axis that `vmap`
    maps over; `text` is all but that.
    """

    type: str
    shape: tuple[int | str, ...]
    weak: bool
    of: str
    placed: str
    mapped: str
    text: str

    @property
    def is_number(self) -> bool:
        """Whether it is a number of Python's."""
        return self.of in ("bool", "int", "float", "complex")

    def __str__(self) -> str:
        return f"{self.type}[{','.join(map(str, self.shape))}]"


class Part(NamedTuple):
    """A part of a static value. Equal ones, at the same place, have the same number; the rest is as in `Static`."""

    text: str
    number: int
    type: str
    sort: str
    by_identity: bool


@dataclasses.dataclass(frozen=True)
class Static:
    """A static value: an argument, or a part of one that is a tree.

    Equal values, at the same place, have the same `number`; `by_identity` says that no other object is equal. `sort` is
    "function", "choice" (one of few, as flags, classes and None are), "text", "number" (or some), or "value". `parts`
    are what it consists of, where it is a container or a dataclass: paths as those of leaves.
    """

    number: int
    text: str
    type: str
    sort: str
    by_identity: bool
    parts: Mapping[str, Part]


@dataclasses.dataclass(frozen=True)
class Tree:
    """An argument that is traced. `leaves` has paths as keys, None where the tree has None.

    Trees of one structure have the same `number`; `nodes` are the types of the inner nodes, `classes` their numbers,
    `static` is what is static in them: also by their paths.
    """

    leaves: Mapping[str, Leaf | None]
    number: int
    nodes: Mapping[str, str]
    classes: Mapping[str, int]
    static: Mapping[str, Static]


class Inner(NamedTuple):
    """The plain function in wrappers, partials and methods, told as in `Callee`."""

    number: int
    kind: str


@dataclasses.dataclass(frozen=True)
class Callee:
    """The function object of a call. `number` tells those of one definition apart.

    `kind` is "function", "nested", "lambda", "partial", "method", "wrapped" or "object"; `holds` the values that it
    closes over, or is bound to. `around` are the functions of JAX that have made it of `inner`: `("vmap", "grad")`.
    """

    number: int
    kind: str
    holds: Mapping[str, str]
    around: tuple[str, ...]
    inner: Inner

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """From what `inside/recompiles/functions.py` makes."""
        return cls(**{**told, "around": tuple(told["around"]), "inner": Inner(**told["inner"])})


@dataclasses.dataclass(frozen=True)
class Signature:
    """All of a call that JAX's caches look at."""

    function: Callee
    arguments: Mapping[str, Tree | Static]
    keywords: tuple[str, ...]
    options: Mapping[str, str]
    transformations: tuple[str, ...]
    context: Mapping[str, str]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """From what `inside/recompiles/signature.py` makes."""
        arguments = {name: _argument(each) for name, each in told["arguments"].items()}
        keywords, transformations = tuple(told["keywords"]), tuple(told["transformations"])
        return cls(Callee.of(told["function"]), arguments, keywords, told["options"], transformations, told["context"])

    @property
    def statics(self) -> dict[str, Static]:
        """{path: value} of all that is static, arguments and parts of arguments."""
        found = {name: each for name, each in self.arguments.items() if isinstance(each, Static)}
        for each in (each for each in self.arguments.values() if isinstance(each, Tree)):
            found.update(each.static)
        return found

    def __str__(self) -> str:
        return ", ".join(_brief(name, each) for name, each in self.arguments.items())


@dataclasses.dataclass(frozen=True)
class Difference:
    """One thing in which a call differs from an earlier one.

    `kind` is what `reason` of a miss may be; `path` that of a leaf (`params['w']`), or the name of an argument, of a
    closed-over variable, of an option.
    """

    kind: str
    path: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}: {self.before} → {'another ' * (self.before == self.after)}{self.after}"


@dataclasses.dataclass(frozen=True)
class Seconds:
    """What a call cost. Tracing includes the functions that are traced within, not what they compile."""

    trace: float = 0.0
    lower: float = 0.0
    compile: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.trace + self.lower + self.compile


@dataclasses.dataclass(frozen=True)
class Miss:
    """A call that was not in JAX's caches: it was traced, or compiled, or both.

    `number` counts the misses of the function from 1. `at` is the line of the program, "path:line", and `within` the
    function there. `compiled` is the number of programs compiled, `cached` how many of these came from the persistent
    cache on disk; `traced` tells whether the Python function ran. `outermost` is whether no other call was under way.
    `closest` is the number of the earlier miss that is most alike, `differences` are those to it, `reason` their kind
    in a word, and `advice` sentences on what to do.
    """

    number: int
    at: str
    within: str
    signature: Signature
    traced: bool
    compiled: int
    cached: int
    seconds: Seconds
    outermost: bool
    reason: str = "first call"
    closest: int | None = None
    differences: tuple[Difference, ...] = ()
    advice: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Function:
    """The misses of one function, in order.

    `defined` is "path:line", or the name of a module; `owner` whose it is: "program", "library" or "jax". A function
    of JAX's own stands for its calls from one line of the program.
    """

    name: str
    defined: str
    owner: str
    misses: tuple[Miss, ...]

    @property
    def compiles(self) -> int:
        """How many programs were compiled for it."""
        return sum(miss.compiled for miss in self.misses)

    @property
    def traces(self) -> int:
        """How often it was traced."""
        return sum(miss.traced for miss in self.misses)

    @property
    def only_traced(self) -> int:
        """How often it was traced without a compilation of its own: within other functions, or for its shapes only."""
        return sum(miss.traced and not miss.compiled for miss in self.misses)

    @property
    def lines(self) -> dict[str, int]:
        """How many programs were compiled for it at each line of the program that calls it."""
        found = dict.fromkeys((miss.at for miss in self.misses), 0)
        for miss in self.misses:
            found[miss.at] += miss.compiled
        return found

    @property
    def seconds(self) -> Seconds:
        """What all its misses cost."""
        parts = [miss.seconds for miss in self.misses]
        return Seconds(*(sum(getattr(part, each.name) for part in parts) for each in dataclasses.fields(Seconds)))

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do, each sentence once."""
        return tuple(dict.fromkeys(sentence for miss in self.misses for sentence in miss.advice))

    def to_json(self) -> dict[str, Any]:
        """All of it, with the numbers and the time."""
        numbers = {"compiles": self.compiles, "traces": self.traces, "only_traced": self.only_traced}
        more = {"lines": self.lines, "seconds": dataclasses.asdict(self.seconds)}
        return {**dataclasses.asdict(self), **numbers, **more}


def _argument(told: Mapping[str, Any]) -> Tree | Static:
    if "leaves" not in told:
        return _static(told)
    leaves = {path: leaf and Leaf(**{**leaf, "shape": tuple(leaf["shape"])}) for path, leaf in told["leaves"].items()}
    static = {path: _static(each) for path, each in told["static"].items()}
    return Tree(leaves, told["tree"], told["nodes"], told["classes"], static)


def _static(told: Mapping[str, Any]) -> Static:
    return Static(**{**told, "parts": {path: Part(*part) for path, part in told["parts"].items()}})


def _brief(name: str, argument: Tree | Static) -> str:
    if isinstance(argument, Static):
        return f"{name}: {argument.text} (static)"
    if len(argument.leaves) == 1:
        ((path, leaf),) = argument.leaves.items()
        return f"{path}: {leaf.text if leaf else None}"
    alike = {str(leaf and leaf.text) for leaf in argument.leaves.values()}
    brief = f"{name}: {len(argument.leaves)} arrays"
    return brief + (f" ({', '.join(sorted(alike))})" if 0 < len(alike) <= 3 else "")
