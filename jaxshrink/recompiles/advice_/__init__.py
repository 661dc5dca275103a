"""What to do about a miss, in a sentence: a function for each kind of reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxshrink.inside.recompiles.differences import NOWHERE
from jaxshrink.recompiles.data import Difference, Leaf, Miss, Static, Tree

_MANY = 3
"""So many sizes of one argument are no exception any more."""


_WHAT = "\0"
"""Stands for the path in a sentence: those that are alike but for it become one."""

_GIVEN = f"{_WHAT} is given in some calls only: give it in all, or in none"

_MOST = 4
"""So many sentences for a miss are enough."""


class _Case(NamedTuple):
    """One difference of a miss of a function, and all of its misses."""

    name: str
    miss: Miss
    misses: Sequence[Miss]
    first: Difference

    @property
    def earlier(self) -> Miss | None:
        """The miss that it differs from."""
        return next((each for each in self.misses if each.number == self.miss.closest), None)

    @property
    def before(self) -> Leaf | None:
        """The leaf that differs, as it was in the earlier call."""
        return self.leaf(self.earlier) if self.earlier else None

    @property
    def after(self) -> Leaf | None:
        """The same as it is in this one."""
        return self.leaf(self.miss)

    def leaf(self, miss: Miss) -> Leaf | None:
        """The leaf with the path of the difference in a miss."""
        trees = (each for each in miss.signature.arguments.values() if isinstance(each, Tree))
        return next((tree.leaves[self.first.path] for tree in trees if self.first.path in tree.leaves), None)

    def static(self, miss: Miss | None) -> Static | None:
        """The static value with the path of the difference, or of which this is a part."""
        within = miss.signature.statics if miss else {}
        found = [path for path in within if self.first.path.startswith(path)]
        return within[max(found, key=len)] if found else None

    def values(self, kind: str) -> dict[str, list[str]]:
        """{path: texts}: the values that differ in this way, over all misses."""
        found: dict[str, dict[str, None]] = {}
        for each in (each for miss in self.misses for each in miss.differences if each.kind == kind):
            found.setdefault(each.path, {}).update({each.before: None, each.after: None})
        return {path: list(texts) for path, texts in found.items()}


def advice(name: str, owner: str, miss: Miss, misses: Sequence[Miss]) -> tuple[str, ...]:
    """The sentences for one of the misses of a function, that for its reason first.

    There is none for a first call, and for what was only traced within another call: the advice is that for the other.
    """
    if miss.reason not in _WRITERS or not (miss.compiled or miss.outermost):
        return ()
    differences = _causes(miss.differences) or [Difference(miss.reason, "", "", "")]
    cases = [_Case(name, miss, misses, each) for each in differences]
    if owner == "jax":
        return (_eager(cases[0]),)
    paths: dict[str, list[str]] = {}
    for case in cases:
        paths.setdefault(_WRITERS[case.first.kind](case), []).append(case.first.path)
    return tuple(sentence.replace(_WHAT, _several(alike)) for sentence, alike in [*paths.items()][:_MOST])


def _causes(differences: Sequence[Difference]) -> list[Difference]:
    """Those that do not follow from others: with 64 bits on, what has 32 bits becomes longer."""
    is_longer = any(each.path == "enable_x64" for each in differences)
    return [each for each in differences if not (is_longer and each.kind in ("input types", "weak type"))]


def _several(paths: Sequence[str]) -> str:
    return paths[0] + (f" (and {len(paths) - 1} more)" if len(paths) > 1 else "")


def _eager(case: _Case) -> str:
    where = f"in `{case.miss.within}`" if case.miss.within not in ("", "<module>") else "on this line"
    return (
        f"`{case.name}` is called outside of jit, and compiled for each shape and parameter by itself: put what is "
        f"done {where} into one function, and jit that"
    )


def _new_function(case: _Case) -> str:
    kind, holds = case.miss.signature.function.kind, case.miss.signature.function.holds
    maker = f"by `{case.miss.within}`" if case.miss.within not in ("", "<module>") else "each time"
    held = {path: texts for path, texts in case.values("new function object").items() if path != "function"}
    if held and kind in ("nested", "lambda", "wrapped", "partial"):
        verb = "is bound to" if kind == "partial" else "closes over"
        values = ", ".join(f"{path} ({_some(texts)})" for path, texts in [*held.items()][:3])
        return f"`{case.name}` {verb} {values}, and is new for each: jit one function, and pass these as arguments"
    if kind == "method" and "self" in held:
        return (
            f"`{case.name}` is a method of a new {holds['self'].split()[0]}, and jit caches by the object: jit a "
            "function outside of the class that gets what it needs, or make the object a pytree"
        )
    return {
        "method": f"the method `{case.name}` is jitted anew {maker}, and JAX forgets with it: keep what jit gives",
        "lambda": f"a new lambda is made {maker}: define it once, outside, and jit it there",
        "nested": f"`{case.name}` is defined anew {maker}: define and jit it once, outside",
        "partial": f"a new partial of `{case.name}` is made {maker}: keep one, or pass what it binds as arguments",
        "wrapped": f"a new function around `{case.name}` is made {maker}, as by grad: make and jit it once, outside",
    }.get(kind, f"another object stands for `{case.name}` each time: make it once, and jit it once")


def _some(texts: Sequence[str]) -> str:
    return ", ".join([*texts[:3], *(["…"] if len(texts) > 3 else [])])


def _static(case: _Case) -> str:
    old, new = case.static(case.earlier), case.static(case.miss)
    if "not given" in (case.first.before, case.first.after):
        return _GIVEN
    if old is None or new is None:
        if any("static" in each.path for each in case.miss.differences if each.kind == "options"):
            return f"{_WHAT} is static in some calls only: jit `{case.name}` once"
        return (f"{_WHAT} is {case.first.before} first and {case.first.after} now, and static in one of them: pass an "
                "array in all calls, or in none")  # fmt: skip
    return _of_static(case, f"static argument {_WHAT}", new)


def _of_static(case: _Case, what: str, value: Static) -> str:
    """For a static value, in whichever place: `what` is how the sentence begins."""
    texts = case.values(case.first.kind)[case.first.path]
    if value.type in ("function", "partial", "method"):
        if len(texts) > 1:
            return f"{what} is another function in some calls ({_some(texts)}), and each is a program of its own"
        return f"{what} is a new function object each time: define it once, outside"
    if value.by_identity or len(texts) == 1:
        return (
            f"{what} is hashed by identity, and each {value.type} is another: give the class `__hash__` "
            "and `__eq__` (a frozen dataclass has both), or keep one object"
        )
    if set(texts) <= {"True", "False", "None"}:
        return f"{what} has had {len(texts)} values ({_some(texts)}): that is needed once for each"
    return (
        f"{what} has had {len(texts)} values ({_some(texts)}), and each is a program of its own: pass "
        "it as an array unless shapes or Python's control flow depend on it"
    )


def _tree(case: _Case) -> str:
    before, after, static = case.first.before, case.first.after, case.static(case.miss)
    if static is not None and case.static(case.earlier) is not None:
        return _of_static(case, f"{_WHAT}, which is static,", static)
    if "by name" in (before, after) and "by position" in (before, after):
        return f"{_WHAT} is given {before} first and {after} now: call `{case.name}` in one way"
    if "not given" in (before, after):
        return _GIVEN
    if "None" in (before, after):
        return f"{_WHAT} is None in some calls and an array in others: start with zeros of the right shape and type"
    if "not there" in (before, after):
        return f"{_WHAT} is there in some calls only: keep the structure, with zeros where there is nothing, or stack"
    if "one structure" in (before, after):
        return f"the structure of {_WHAT} is another one now: make it in one way"
    return f"{_WHAT} is a {before} first and a {after} now: convert it to one of them"


def _types(case: _Case) -> str:
    old, new = case.before, case.after
    if old is None or new is None:
        return f"{_WHAT} changes its type: convert it before the call"
    if old.shape == new.shape:
        return _elements(case.first.path, old, new)
    if old.type != new.type:
        return f"{_WHAT} is {old} first and {new} now: make it in one way"
    if len(old.shape) != len(new.shape):
        return f"{_WHAT} is {old} first and {new} now: give it one number of dimensions, by reshape"
    count = len({leaf.shape for each in case.misses if (leaf := case.leaf(each)) is not None})
    if count >= _MANY:
        return f"{_WHAT} has had {count} shapes: pad it to one size, or to few, and mask what is padded"
    if old.shape[1:] == new.shape[1:] and _is_less(new.shape[0], old.shape[0]):
        return f"the shape of {_WHAT} follows the last batch: pad it, or drop it"
    return f"{_WHAT} changes its shape, {_shape(old)} to {_shape(new)}: pad to one of them"


def _is_less(one: int | str, other: int | str) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one < other


def _shape(leaf: Leaf) -> str:
    return f"({', '.join(map(str, leaf.shape))}{',' * (len(leaf.shape) == 1)})"


def _elements(path: str, old: Leaf, new: Leaf) -> str:
    if old.is_number and new.is_number:
        return f"{_WHAT} is a Python {old.of} first and a Python {new.of} now: write it as one of them (1.0, not 1)"
    if old.is_number or new.is_number:
        return f"{_WHAT} is {_strength(old)} first and {_strength(new)} now: {_made(path, new)} each time"
    if {old.type, new.type} in ({"f32", "f64"}, {"i32", "i64"}, {"c64", "c128"}):
        return f"{_WHAT} is {old.type} first and {new.type} now: make it with one dtype, with 64 bits or without"
    return f"{_WHAT} is {old.type} first and {new.type} now: make it with one dtype, or convert it (.astype)"


def _made(path: str, leaf: Leaf) -> str:
    """How to make an array of a number."""
    return f"pass {_dtype(leaf)}({path})" if path.isidentifier() else f"put {_dtype(leaf)}(...) there"


_NAMES = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "c": "complex"}


def _dtype(leaf: Leaf) -> str:
    letters = leaf.type.rstrip("0123456789")
    return f"jnp.{_NAMES.get(letters, letters)}{leaf.type[len(letters) :]}"


def _weak(case: _Case) -> str:
    old, new = case.before, case.after
    if old is None or new is None:
        return f"{_WHAT} is weakly typed in some calls only: give it a dtype"
    if old.is_number or new.is_number:
        fix = _made(case.first.path, new)
    else:
        fix = f"give it a dtype where it is made, as in jnp.asarray(..., {_dtype(new)})"
    return f"{_WHAT} is {_strength(old)} first and {_strength(new)} now: {fix} each time"


def _strength(leaf: Leaf) -> str:
    return f"a Python {leaf.of}" if leaf.is_number else f"a {'weak' if leaf.weak else 'strong'} {leaf.type}"


def _options(case: _Case) -> str:
    return (
        f"`{case.name}` is jitted twice, with another {case.first.path} ({case.first.before}, then "
        f"{case.first.after}): jit it once and use that"
    )


def _transformation(case: _Case) -> str:
    if case.first.path != "transformations":
        return (
            f"vmap maps over {_WHAT} in another way ({case.first.before}, then {case.first.after}): map over the same "
            "arguments and sizes each time, or put jit outermost, as in jax.jit(jax.vmap(f))"
        )
    return (
        f"`{case.name}` runs under transformations ({_some(case.values('transformation')['transformations'])}), and "
        "each makes another program of it: put jit outermost, as in jax.jit(jax.grad(f))"
    )


def _config(case: _Case) -> str:
    if case.first.path == "mesh":
        return "it is called under another mesh, or under none: use one mesh for all calls"
    if case.first.path == "axis_names":
        return "it is traced under other named axes (of vmap, pmap or shard_map): that is needed once for each"
    return (
        f"the option {case.first.path} is {case.first.before} first and {case.first.after} now: set it once, before "
        "the first call"
    )


def _sharding(case: _Case) -> str:
    places = case.first.before, case.first.after
    if NOWHERE in places:
        where = next(each for each in places if each != NOWHERE)
        return (
            f"{_WHAT} is {_put(where)} in some calls, and nowhere in particular in others: put it there with "
            "jax.device_put before the first call"
        )
    return (
        f"{_WHAT} is {_put(places[0])} first and {_put(places[1])} now: give it one place with jax.device_put, or "
        "with in_shardings and out_shardings"
    )


def _put(place: str) -> str:
    return f"sharded as {place}" if " over " in place else f"on {place}"


def _cleared(case: _Case) -> str:
    return "JAX's caches were cleared since it was compiled (jax.clear_caches): clear them less often, or not at all"


def _dropped(case: _Case) -> str:
    return (
        f"a call of `{case.name}` like this was compiled before, and JAX has dropped it: the function's cache was "
        "cleared (clear_cache), or what differs is nothing that can be seen in the call"
    )


def _evicted(case: _Case) -> str:
    return (
        f"a call of `{case.name}` like this was compiled before, but so many others since that JAX's caches were full: "
        "compile fewer programs, those above with many shapes or values first"
    )


_WRITERS: dict[str, Callable[[_Case], str]] = {
    "new function object": _new_function, "static argument": _static, "tree structure": _tree, "input types": _types,
    "weak type": _weak, "options": _options, "transformation": _transformation, "config": _config,
    "sharding": _sharding, "caches cleared": _cleared, "dropped": _dropped,
    "evicted": _evicted,
}  # fmt: skip
