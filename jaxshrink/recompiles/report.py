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

    def count(self, wanted: str | Callable[..., Any]) -> int:
        """How many programs were compiled for a function, jitted or not, or for those of a name."""
        return sum(each.compiles for each in self.named(wanted))

    def named(self, wanted: str | Callable[..., Any]) -> tuple[Function, ...]:
        """The functions that are meant by a name, or by a function: those from the same `def` or `lambda`.

        Where there are none, as some libraries jit a function of their own that calls it, those of its name.
        """
        name, defined = (wanted, "") if isinstance(wanted, str) else definition(wanted)[:2]
        named = tuple(each for each in self.functions if each.name == name)
        return tuple(each for each in named if each.defined == defined) or named

    def beyond(self, most: int, name: str = "") -> dict[str, int]:
        """{name: number} of the functions that were compiled more than so often.

        These are all but JAX's own; where there is a name, all functions of this name together, JAX's own included.
        """
        if name:
            counts = {name: self.count(name)}
        else:
            counts = {f"{each.name} ({each.defined})": each.compiles for each in self.functions if each.owner != "jax"}
        return {each: count for each, count in counts.items() if count > most}

    @property
    def worth_showing(self) -> tuple[Function, ...]:
        """All functions but those that have to be: JAX's own, compiled once for a line; what libraries only trace."""
        least = {"jax": 2, "library": 1, "program": 0}
        return tuple(each for each in self.functions if each.compiles >= least[each.owner])

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

