"""What to do where a static value differs, or the structure of an argument."""

from __future__ import annotations

from collections.abc import Sequence

from jaxshrink.recompiles.advice.case import WHAT, Case, some, trees
from jaxshrink.recompiles.data import Miss, Part, Static, Tree

_GIVEN = f"{WHAT} is given in some calls only: give it in all, or in none"

_FEW = 3
"""So many texts may be names of modes; more of them are labels."""

_SEQUENCES = ("list", "tuple")


def static(case: Case) -> str:
    """For a static argument."""
    old, new = case.static(case.earlier), case.static(case.miss)
    if "not given" in (case.first.before, case.first.after):
        return _GIVEN
    if old is None or new is None:
        if any("static" in each.path for each in case.miss.differences if each.kind == "options"):
            return f"{WHAT} is static in some calls only: jit `{case.name}` once"
        return (f"{WHAT} is {case.first.before} first and {case.first.after} now, and static in one of them: pass an "
                "array in all calls, or in none")  # fmt: skip
    return _of_static(case, f"static argument {WHAT}", new)


def _of_static(case: Case, what: str, value: Static, fix: str = "pass it as an array") -> str:
    """For a static value, in whichever place: `what` is how the sentence begins, `fix` what makes it none."""
    texts = case.texts
    part: Static | Part = value.parts.get(case.first.path, value)
    if part.sort == "function":
        if len(texts) > 1:
            return f"{what} is another function in some calls ({some(texts)}), and each is a program of its own"
        return f"{what} is a new function object each time: define it once, outside"
    if part.by_identity:
        return (
            f"{what} is hashed by identity, and each {part.type} is another: give the class `__hash__` "
            "and `__eq__` (a frozen dataclass has both), or keep one object"
        )
    if len(texts) == 1:
        return (
            f"{what} is a {part.type} that is not equal to the one before, though it looks the same: keep one object, "
            "or give the class an `__eq__` and a `__hash__` that compare what it holds"
        )
    had = f"{what} has had {len(texts)} values ({some(texts)})"
    if part.sort == "choice" or set(texts) <= {"True", "False", "None"}:
        return f"{had}: that is needed once for each"
    if part.sort == "text" and len(texts) <= _FEW:
        return f"{had}: that is needed once for each of a few modes; leave it out if it is but a label"
    if part.sort == "text":
        return f"{had}, and each is a program of its own: leave it out if nothing that is computed depends on it"
    if part.sort == "number":
        return f"{had}, and each is a program of its own: {fix} unless shapes or Python's control flow depend on it"
    return f"{had}, and each is a program of its own: keep out of it what changes, as an argument that is an array"


def structure(case: Case) -> str:
    """For the structure of an argument, and what is static in it."""
    path, before, after = case.first.path, case.first.before, case.first.after
    if path.startswith("list("):
        return (f"the keys of {path[5:-1]} come in another order, and an OrderedDict keeps it: fill it in one order, "
                "or use a dict")  # fmt: skip
    if "by name" in (before, after) and "by position" in (before, after):
        return f"{WHAT} is given {before} first and {after} now: call `{case.name}` in one way"
    value = case.static(case.miss)
    if value is not None and case.static(case.earlier) is not None:
        return _of_static(case, f"{WHAT}, which is static,", value, "make it an array that is not static,")
    if "not given" in (before, after):
        return _of_number(case) or _GIVEN
    if "None" in (before, after):
        return _of_none(case, before if after == "None" else after)
    if "not there" in (before, after):
        return _of_length(case) or (
            f"{WHAT} is there in some calls only: keep the structure, with zeros where there is nothing"
        )
    if "one structure" in (before, after):
        return f"the structure of {WHAT} is another one now: make it in one way"
    if before == after:
        return f"the class {after} of {WHAT} is a new one each time: define it once, outside"
    return f"{WHAT} is a {before} first and a {after} now: convert it to one of them"


def _of_none(case: Case, other: str) -> str:
    if case.before is None and case.after is None:  # it is no leaf in either
        return f"{WHAT} is None in some calls and a {other} in others: start with the same structure, of zeros"
    return f"{WHAT} is None in some calls and an array in others: start with zeros of the right shape and type"


def _of_length(case: Case) -> str | None:
    """For an item that is there only in some calls, of a list that has other lengths."""
    whole, bracket, _ = case.first.path.rpartition("[")
    lengths = {_length(tree, whole) for miss in case.misses for tree in trees(miss)
               if tree.nodes.get(whole) in _SEQUENCES}  # fmt: skip
    return _lengths(whole, sorted(lengths)) if bracket and len(lengths) > 1 else None


def _length(tree: Tree, whole: str) -> int:
    items = {path[len(whole) :].partition("]")[0] for path in (*tree.leaves, *tree.nodes, *tree.static)
             if path.startswith(f"{whole}[")}  # fmt: skip
    return len(items)


def _lengths(whole: str, lengths: Sequence[int]) -> str:
    told = some([*map(str, lengths)])
    return (
        f"{whole} has had {len(lengths)} lengths ({told}), and each is a program of its own: stack it to one array of "
        "a fixed size, and mask or count what is filled"
    )


def _of_number(case: Case) -> str | None:
    """For one of `*args`, of which there are not as many in each call."""
    whole, bracket, _ = case.first.path.rpartition("[")
    if not bracket:
        return None
    return _lengths(f"*{whole}", sorted({_arguments(miss, whole) for miss in case.misses}))


def _arguments(miss: Miss, whole: str) -> int:
    return sum(name.startswith(f"{whole}[") for name in miss.signature.arguments)
