"""The values that a test's parameters get: given ones, fixtures set up on demand, stand-ins for pytest's own."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from jaxshrink import tree as trees
from jaxshrink.errors import InputError
from jaxshrink.testfile.fixtures import Fixture, Fixtures, requested
from jaxshrink.testfile.module import Function
from jaxshrink.testfile.standins import StandIn, request, stand_in
from jaxshrink.testfile.writer import Writer


class Supply:
    """Writes the set-up of what is asked for, once for each.

    `values` are the texts of parameters given directly, `params` those for `request.param` of a fixture,
    `used` the attributes that the program reads, `about` what `request` tells of the test.
    """

    def __init__(self, fixtures: Fixtures, writer: Writer, used: Collection[str], about: Mapping[str, str]):
        self.values: dict[str, str] = {}
        self.params: dict[str, str] = {}
        self._fixtures = fixtures
        self._write = writer
        self._used = used
        self._about = about
        self._made: dict[Fixture, str] = {}

    def arguments(self, function: Function, method: bool, user: Fixture | None = None) -> str:
        """What a function is called with. Raises InputError for a fixture that is not there."""
        names = requested(function, method)
        texts = {name: text for name in names if (text := self._value(name, function, user)) is not None}
        if len(texts) == len(names) and not function.args.kwonlyargs:
            return ", ".join(texts.values())
        return ", ".join(f"{name}={text}" for name, text in texts.items())

    def make(self, fixture: Fixture) -> str:
        """Set a fixture up; the text of its value."""
        if fixture not in self._made:
            call = f"{fixture.reference}({self.arguments(fixture.function, fixture.method, fixture)})"
            awaits = isinstance(fixture.function, ast.AsyncFunctionDef)
            if fixture.yields:
                steps = self._write.fresh(f"{fixture.name}_steps")  # if nothing held them, they would end at once
                self._write(f"{steps} = {call}")
                call = f"{steps}.__anext__()" if awaits else f"next({steps})"
            self._made[fixture] = self._assign(fixture.name, self._write.run(call, awaits))
        return self._made[fixture]

    def _assign(self, name: str, value: str) -> str:
        variable = self._write.fresh(f"{name}_value")
        self._write(f"{variable} = {value}")
        return variable

    def _value(self, name: str, function: Function, user: Fixture | None) -> str | None:
        """The text for a parameter; None where a decorator of the function's will see to it."""
        if name in self.values:
            return self.values[name]
        if fixture := self._fixtures.get(name, user):
            return self.make(fixture)
        if name == "request":
            return self._need(request(function, self._request(function, user)))
        if found := stand_in(name, self._used):
            self.values[name] = self._assign(name, self._need(found))
            return self.values[name]
        if function.decorator_list and user is None:
            return None
        raise InputError(f"{function.name} asks for the fixture {name}, which jaxshrink finds nowhere")

    def _need(self, found: StandIn) -> str:
        self._write.need(*found.before)
        return found.value

    def _request(self, function: Function, user: Fixture | None) -> dict[str, str]:
        known = {**self._about, "addfinalizer": "lambda function: None"}
        if user:
            known |= {"fixturename": repr(user.name), "scope": repr(user.scope)}
            if user.name in self.params:
                known["param"] = self.params[user.name]
        asked = [
            node.args[0].value
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and trees.text(node.func) == "request.getfixturevalue"
            if node.args and isinstance(node.args[0], ast.Constant)
        ]
        if asked:
            pairs = ", ".join(f"{name!r}: {self._value(str(name), function, None)}" for name in asked)
            known["getfixturevalue"] = f"{{{pairs}}}.__getitem__"
        return known
