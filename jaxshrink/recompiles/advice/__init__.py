"""What to do about a miss, in a sentence: a function for each kind of reason, here and in the modules beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxshrink.recompiles.advice.case import WHAT, Case
from jaxshrink.recompiles.advice.functions import eager, new_function, options, transformation
from jaxshrink.recompiles.advice.types import sharding, types, weak
from jaxshrink.recompiles.advice.values import static, structure
from jaxshrink.recompiles.data import Difference, Miss

_MOST = 4
"""So many sentences for a miss are enough."""


def advice(name: str, owner: str, miss: Miss, misses: Sequence[Miss]) -> tuple[str, ...]:
    """The sentences for one of the misses of a function, that for its reason first.

    There is none for a first call, and for what was only traced within another call: the advice is that for the other.
    """
    if miss.reason not in _WRITERS or not (miss.compiled or miss.outermost):
        return ()
    differences = _causes(miss.differences) or [Difference(miss.reason, "", "", "")]
    cases = [Case(name, owner, miss, misses, each) for each in differences]
    if owner == "jax":
        return (eager(cases[0]),)
    paths: dict[str, list[str]] = {}
    for case in cases:
        paths.setdefault(_WRITERS[case.first.kind](case), []).append(case.first.path)
    return tuple(sentence.replace(WHAT, _several(alike)) for sentence, alike in [*paths.items()][:_MOST])


def _causes(differences: Sequence[Difference]) -> list[Difference]:
    """Those that do not follow from others.

    With 64 bits on, what has 32 bits becomes longer; a function under `vmap` has other arguments than without. JAX adds
    the names of arguments to their numbers; what is static in one of two calls is so by an option.
    """
    if differences and differences[0].path == "function" and "it" in (differences[0].before, differences[0].after):
        return [differences[0]]
    is_longer = any(each.path == "enable_x64" for each in differences)
    found = [each for each in differences if not (is_longer and each.kind in ("input types", "weak type"))]
    paths = {each.path for each in found if each.kind == "options"}
    is_static = any(each.kind == "static argument" for each in found)
    follow = {"donate_argnames"} if "donate_argnums" in paths else set()
    follow |= {"static_argnums", "static_argnames"} if is_static else set()
    follow |= {"static_argnames"} if "static_argnums" in paths else set()
    return [each for each in found if each.kind != "options" or each.path not in follow]


def _several(paths: Sequence[str]) -> str:
    return paths[0] + (f" (and {len(paths) - 1} more)" if len(paths) > 1 else "")


def _config(case: Case) -> str:
    if case.first.path == "mesh":
        return "it is called under another mesh, or under none: use one mesh for all calls"
    if case.first.path == "axis_names":
        return "it is traced under other named axes (of vmap, pmap or shard_map): that is needed once for each"
    return (
        f"the option {case.first.path} is {case.first.before} first and {case.first.after} now: set it once, before "
        "the first call"
    )


def _cleared(case: Case) -> str:
    return "JAX's caches were cleared since it was compiled (jax.clear_caches): clear them less often, or not at all"


def _dropped(case: Case) -> str:
    return (
        f"a call of `{case.name}` like this was compiled before, and JAX has dropped it: the function's cache was "
        "cleared (clear_cache), or what differs is nothing that can be seen in the call"
    )


def _evicted(case: Case) -> str:
    return (
        f"a call of `{case.name}` like this was compiled before, but so many others since that JAX's caches were full: "
        "compile fewer programs, those above with many shapes or values first"
    )


_WRITERS: dict[str, Callable[[Case], str]] = {
    "new function object": new_function, "static argument": static, "tree structure": structure, "input types": types,
    "weak type": weak, "options": options, "transformation": transformation, "config": _config,
    "sharding": sharding, "caches cleared": _cleared, "dropped": _dropped,
    "evicted": _evicted,
}  # fmt: skip
