"""The fixtures of a test file and of its conftests."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence

from jaxshrink import tree as trees
from jaxshrink.testfile.module import Function, Module
from jaxshrink.testfile.parameters import Axis, axis

SCOPES = ("session", "package", "module", "class", "function")
"""In the order in which pytest sets fixtures up."""


@dataclasses.dataclass(frozen=True, eq=False)
class Fixture:
    """A fixture function. `reference` is how a script calls it, `axis` gives what `request.param` may be."""

    name: str
    function: Function
    reference: str
    method: bool
    scope: str = "function"
    autouse: bool = False
    axis: Axis | None = None

    @property
    def requests(self) -> list[str]:
        """The fixtures that it asks for."""
        return requested(self.function, self.method)

    @property
    def yields(self) -> bool:
        """Does it go on after the test?"""
        return any(isinstance(node, ast.Yield) for node in _own_nodes(self.function))


def fixtures(module: Module, functions: Iterable[Function], case: str = "") -> Iterator[Fixture]:
    """Those among the functions of a module, or among the methods of a class with the instance `case`."""
    owner = case or module.name
    for function in functions:
        for mark in module.marks(function):
            if mark.name in ("fixture", "yield_fixture"):
                constants = {key: node.value for key, node in mark.keywords.items() if isinstance(node, ast.Constant)}
                name = str(constants.get("name") or function.name)
                scope = constants.get("scope")
                params, ids = mark.keywords.get("params"), mark.keywords.get("ids")
                yield Fixture(
                    name=name,
                    function=function,
                    reference=f"{owner}.{function.name}" if owner else function.name,
                    method=bool(case),
                    scope=str(scope) if scope in SCOPES else "function",
                    autouse=bool(constants.get("autouse")),
                    axis=axis((name,), params, ids, module, frozenset([name])) if params else None,
                )


def requested(function: Function, method: bool) -> list[str]:
    """The names of parameters that pytest fills: those without defaults, `self` aside."""
    parameters = function.args
    positional = [*parameters.posonlyargs, *parameters.args]
    positional = positional[: len(positional) - len(parameters.defaults)]
    named = [arg for arg, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True) if default is None]
    static = any(trees.text(node) == "staticmethod" for node in function.decorator_list)
    return [arg.arg for arg in [*positional[1 if method and not static else 0 :], *named]]


class Fixtures:
    """All that a test may ask for, nearest first under each name: each hides the next, and may ask for it."""

    def __init__(self, every: Iterable[Fixture]):
        self._named: dict[str, list[Fixture]] = {}
        for fixture in every:
            self._named.setdefault(fixture.name, []).append(fixture)

    def get(self, name: str, user: Fixture | None = None) -> Fixture | None:
        """The fixture that a name means, to another fixture if one is given."""
        every = self._named.get(name, [])
        if user in every:
            every = every[every.index(user) + 1 :]
        return every[0] if every else None

    def needed(self, names: Sequence[str], direct: Collection[str]) -> list[Fixture]:
        """Those that a test needs which asks for some names, in the order of setting up, but none in `direct`."""
        automatic = [every[0] for every in self._named.values() if every[0].autouse]
        found = [*automatic, *filter(None, map(self.get, names))]
        for fixture in found:  # grows
            others = (self.get(name, fixture) for name in fixture.requests)
            found.extend(other for other in others if other and other not in found)
        unique = [fixture for fixture in dict.fromkeys(found) if fixture.name not in direct]
        return sorted(unique, key=lambda fixture: SCOPES.index(fixture.scope))


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function that are in no function inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
