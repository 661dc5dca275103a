"""Why each call was not in JAX's caches: functions and their misses, from what the watcher noted."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jaxshrink.recompiles.advice import advice
from jaxshrink.recompiles.data import Difference, Function, Miss, Seconds, Signature
from jaxshrink.recompiles.differences import differences

_LOOK_BACK = 200
"""So many earlier misses of a function are compared with."""


def functions(notes: Iterable[Mapping[str, Any]]) -> tuple[Function, ...]:
    """The functions that were noted, those of the program first, and those that were compiled most often."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = collections.defaultdict(list)
    for note in notes:
        line = note["at"] if note["owner"] == "jax" else ""
        groups[note["name"], note["defined"], note["owner"], line].append(note)
    made = [
        Function(name, defined, owner, _misses(name, owner, group))
        for (name, defined, owner, _), group in groups.items()
    ]
    return tuple(sorted(made, key=lambda each: (each.owner == "jax", -each.compiles, -each.traces)))


def _misses(name: str, owner: str, notes: Sequence[Mapping[str, Any]]) -> tuple[Miss, ...]:
    found: list[Miss] = []
    for number, note in enumerate(notes, 1):
        earlier = [*zip(found, notes, strict=False)][-_LOOK_BACK:]
        found.append(_explained(_miss(number, note), owner, note["cleared"], earlier))
    return tuple(dataclasses.replace(miss, advice=advice(name, miss, found)) for miss in found)


def _miss(number: int, note: Mapping[str, Any]) -> Miss:
    return Miss(
        number, note["at"], note["within"], Signature.of(note["signature"]), note["traced"], note["compiled"],
        note["cached"], Seconds(**note["seconds"]), note["outermost"],
    )  # fmt: skip


def _explained(miss: Miss, owner: str, cleared: int, earlier: Sequence[tuple[Miss, Mapping[str, Any]]]) -> Miss:
    """The miss with its reason: what differs from the nearest of the earlier misses that it might have found."""
    if not earlier:
        return miss
    same = [each for each in earlier if each[0].signature.function.number == miss.signature.function.number]
    found = [(differences(each.signature, miss.signature), each, note["cleared"]) for each, note in same or earlier]
    nearest, closest, then = min(found, key=lambda each: (_weight(each[0]), -each[1].number))
    if owner == "jax":
        nearest = tuple(map(_of_primitive, nearest))
    reason = nearest[0].kind if nearest else _no_difference(closest, cleared > then)
    return dataclasses.replace(miss, reason=reason, closest=closest.number, differences=nearest)


def _weight(found: Sequence[Difference]) -> tuple[int, int]:
    """Few differences make calls alike; those in what only compiled code depends on count least."""
    return sum(each.kind not in ("sharding", "transformation") for each in found), len(found)


def _of_primitive(difference: Difference) -> Difference:
    """Another function object of JAX's own is a primitive with other parameters, which are static."""
    is_new = difference.kind == "new function object"
    return dataclasses.replace(difference, kind="static argument") if is_new else difference


def _no_difference(closest: Miss, is_cleared: bool) -> str:
    if is_cleared:
        return "caches cleared"
    return "dropped" if closest.compiled else "not compiled before"
