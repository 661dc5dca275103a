"""What to do where the type of an array differs, or the place where it is."""

from __future__ import annotations

from jaxshrink.inside.recompiles.differences import NOWHERE
from jaxshrink.recompiles.advice.case import WHAT, Case, some
from jaxshrink.recompiles.data import Leaf

_MANY = 3
"""So many sizes, or places, of one argument are no exception any more."""

_NAMES = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "c": "complex"}


def types(case: Case) -> str:
    """For shapes and element types."""
    old, new = case.before, case.after
    if old is None or new is None:
        return f"{WHAT} changes its type: convert it before the call"
    if old.shape == new.shape:
        return _elements(case.first.path, old, new)
    if old.type != new.type:
        return f"{WHAT} is {old} first and {new} now: make it in one way"
    if len(old.shape) != len(new.shape):
        return f"{WHAT} is {old} first and {new} now: give it one number of dimensions, by reshape"
    count = len({leaf.shape for each in case.misses if (leaf := case.leaf(each)) is not None})
    if count >= _MANY:
        return f"{WHAT} has had {count} shapes: pad it to one size, or to few, and mask what is padded"
    if old.shape[1:] == new.shape[1:] and _is_less(new.shape[0], old.shape[0]):
        return f"the shape of {WHAT} follows the last batch: pad it, or drop it"
    return f"{WHAT} changes its shape, {_shape(old)} to {_shape(new)}: pad to one of them"


def _is_less(one: int | str, other: int | str) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one < other


def _shape(leaf: Leaf) -> str:
    return f"({', '.join(map(str, leaf.shape))}{',' * (len(leaf.shape) == 1)})"


def _elements(path: str, old: Leaf, new: Leaf) -> str:
    if old.is_number and new.is_number:
        return f"{WHAT} is a Python {old.of} first and a Python {new.of} now: write it as one of them (1.0, not 1)"
    if old.is_number or new.is_number:
        return f"{WHAT} is {_strength(old)} first and {_strength(new)} now: {_made(path, new)} each time"
    if {old.type, new.type} in ({"f32", "f64"}, {"i32", "i64"}, {"c64", "c128"}):
        return f"{WHAT} is {old.type} first and {new.type} now: make it with one dtype, with 64 bits or without"
    return f"{WHAT} is {old.type} first and {new.type} now: make it with one dtype, or convert it (.astype)"


def _made(path: str, leaf: Leaf) -> str:
    """How to make an array of a number."""
    return f"pass {_dtype(leaf)}({path})" if path.isidentifier() else f"put {_dtype(leaf)}(...) there"


def _dtype(leaf: Leaf) -> str:
    letters = leaf.type.rstrip("0123456789")
    return f"jnp.{_NAMES.get(letters, letters)}{leaf.type[len(letters) :]}"


def weak(case: Case) -> str:
    """For types that give way to others."""
    old, new = case.before, case.after
    if old is None or new is None:
        return f"{WHAT} is weakly typed in some calls only: give it a dtype"
    if old.is_number or new.is_number:
        fix = _made(case.first.path, new)
    else:
        fix = f"give it a dtype where it is made, as in jnp.asarray(..., {_dtype(new)})"
    return f"{WHAT} is {_strength(old)} first and {_strength(new)} now: {fix} each time"


def _strength(leaf: Leaf) -> str:
    return f"a Python {leaf.of}" if leaf.is_number else f"a {'weak' if leaf.weak else 'strong'} {leaf.type}"


def sharding(case: Case) -> str:
    """For devices and shardings."""
    places = case.texts
    if len(places) >= _MANY:
        return (
            f"{WHAT} has been in {len(places)} places ({some(places)}), and each is a program of its own: give it one "
            "with jax.device_put, or shard it over all devices"
        )
    if NOWHERE in places:
        where = next(each for each in places if each != NOWHERE)
        return (
            f"{WHAT} is {_put(where)} in some calls, and nowhere in particular in others: put it there with "
            "jax.device_put before the first call"
        )
    return (
        f"{WHAT} is {_put(case.first.before)} first and {_put(case.first.after)} now: give it one place with "
        "jax.device_put, or with in_shardings and out_shardings"
    )


def _put(place: str) -> str:
    return f"sharded as {place}" if " over " in place else f"on {place}"
