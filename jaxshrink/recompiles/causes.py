"""Functions and their misses, from what the watcher noted."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxshrink.recompiles.advice import advice
from jaxshrink.recompiles.data import Difference, Function, Miss, Seconds, Signature


def functions(notes: Iterable[Mapping[str, Any]]) -> tuple[Function, ...]:
    """The functions that were noted: those of JAX's own last, those that were compiled most often first."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = collections.defaultdict(list)
    for note in notes:
        line = note["at"] if note["owner"] == "jax" else ""
        groups[note["name"], note["defined"], note["owner"], line].append(note)
    made = []
    for (name, defined, owner, _), group in groups.items():
        made.append(Function(name, defined, owner, _misses(name, owner, group)))
    return tuple(sorted(made, key=lambda each: (each.owner == "jax", -each.compiles, -each.traces)))


def _misses(name: str, owner: str, notes: Sequence[Mapping[str, Any]]) -> tuple[Miss, ...]:
    found = tuple(map(_miss, notes))
    return tuple(dataclasses.replace(each, advice=advice(name, owner, each, found)) for each in found)


def _miss(note: Mapping[str, Any]) -> Miss:
    same = {each.name: note[each.name] for each in dataclasses.fields(Miss) if each.name in note}
    differences = tuple(Difference(*each) for each in note["differences"])
    made = {"signature": Signature.of(note["signature"]), "seconds": Seconds(**note["seconds"])}
    return Miss(**{**same, **made, "differences": differences})
