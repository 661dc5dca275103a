"""All that was watched, as one object: what `watch` gives, what the command shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxshrink.inside.recompiles.places import definition
from jaxshrink.recompiles.causes import functions
from jaxshrink.recompiles.data import Function


class Report:
    """What was traced and compiled so far.

    It grows as long as something is watched, so that what it tells is what has happened up to now.
    """

    def __init__(self, notes: Sequence[Mapping[str, Any]]) -> None:
        self._notes = notes
        self._made: tuple[int, tuple[Function, ...]] = (-1, ())

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions that were traced or compiled: those of JAX's own last, then by the number of compilations."""
        state = sum(note["compiled"] + note["traced"] for note in self._notes)
        if self._made[0] != state:
            self._made = state, functions([*self._notes])
        return self._made[1]

    @property
    def compiles(self) -> int:
        """How many programs were compiled, those of JAX's own functions included."""
        return sum(note["compiled"] for note in self._notes)

    def count(self, of: str | Callable[..., Any]) -> int:
        """How many programs were compiled for functions of this name, or for this function, jitted or not."""
        return sum(each.compiles for each in self.functions if self.stands_for(each, of))

    @staticmethod
    def stands_for(function: Function, wanted: str | Callable[..., Any]) -> bool:
        """Whether this is meant by a name, or by a function."""
        if isinstance(wanted, str):
            return function.name == wanted
        return [function.name, function.defined] == [*definition(wanted)[:2]]

    def again(self, name: str = "") -> tuple[Function, ...]:
        """The functions that may be compiled in vain: all, or those of this name, but for JAX's own.

        These are needed once for each line that calls them, where no name is given.
        """
        if name:
            return tuple(each for each in self.functions if each.name == name)
        return tuple(each for each in self.functions if each.owner != "jax" or each.compiles > 1)

    def to_json(self) -> dict[str, Any]:
        """All of it, in plain values. Of JAX's configuration it has what was not the same in all calls."""
        told = [each.to_json() for each in self.functions]
        signatures = [miss["signature"] for each in told for miss in each["misses"]]
        contexts = [signature["context"] for signature in signatures]
        vary = {name for each in contexts for name in each if any(other.get(name) != each[name] for other in contexts)}
        for signature in signatures:
            signature["context"] = {name: value for name, value in signature["context"].items() if name in vary}
        return {"compiles": self.compiles, "seconds": self.seconds, "functions": told}

    @property
    def seconds(self) -> float:
        """The time that tracing, lowering and compiling took, what happened within other calls counted once."""
        parts = [(note["seconds"], note["outermost"]) for note in self._notes]
        return float(sum(each["lower"] + each["compile"] + each["trace"] * outer for each, outer in parts))

