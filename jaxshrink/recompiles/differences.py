"""In what a call differs from an earlier one, for JAX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jaxshrink.recompiles.data import Difference, Leaf, Part, Signature, Static, Tree, described

KINDS = (
    "new function object", "static argument", "tree structure", "config", "input types", "weak type", "options",
    "transformation", "sharding",
)  # fmt: skip
"""Kinds of differences: where there are several, the first is the reason."""

NOWHERE = "no device in particular"
"""Where an array is that was not put anywhere on purpose."""

_ABSENT = "not given"


def differences(before: Signature, after: Signature) -> tuple[Difference, ...]:
    """All differences between two calls of one function, the reason first."""
    found = [*_of_function(before, after), *_of_calls(before, after), *_of_arguments(before, after)]
    found += _of_texts("options", before.options, after.options)
    found += _of_texts("config", before.context, after.context)
    if before.transformations != after.transformations:
        found.append(Difference("transformation", "transformations", _under(before), _under(after)))
    return tuple(sorted(found, key=lambda each: KINDS.index(each.kind)))


def _under(signature: Signature) -> str:
    return " of ".join(signature.transformations) or "none"


def _of_function(before: Signature, after: Signature) -> Iterator[Difference]:
    if before.function.number == after.function.number:
        return
    holds = list(_of_texts("new function object", before.function.holds, after.function.holds))
    objects = (f"object {each.function.number + 1}" for each in (before, after))
    yield from holds or [Difference("new function object", "function", *objects)]


def _of_texts(kind: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys((*before, *after)):
        texts = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if texts[0] != texts[1]:
            yield Difference(kind, name, *texts)


def _of_calls(before: Signature, after: Signature) -> Iterator[Difference]:
    """Arguments that are given by name in one call only."""
    for name in dict.fromkeys((*before.arguments, *after.arguments)):
        if name in before.arguments and name in after.arguments:
            given = ["by name" if name in each.keywords else "by position" for each in (before, after)]
            if given[0] != given[1]:
                yield Difference("tree structure", name, *given)


def _of_arguments(before: Signature, after: Signature) -> Iterator[Difference]:
    for name in dict.fromkeys((*before.arguments, *after.arguments)):
        yield from _of_argument(name, before.arguments.get(name), after.arguments.get(name))


def _of_argument(name: str, before: Tree | Static | None, after: Tree | Static | None) -> Iterator[Difference]:
    if isinstance(before, Tree) and isinstance(after, Tree):
        yield from _of_trees(name, before, after)
    elif isinstance(before, Static) and isinstance(after, Static):
        if before.number != after.number:
            parts = list(_of_parts("static argument", "", before.parts, after.parts))
            yield from parts or [Difference("static argument", name, before.text, after.text)]
    else:
        kind = "static argument" if isinstance(before or after, Static) else "tree structure"
        yield Difference(kind, name, _given(before), _given(after))


def _given(argument: Tree | Static | None) -> str:
    if argument is None:
        return _ABSENT
    if isinstance(argument, Static):
        return argument.text
    return described(next(iter(argument.leaves.values()))) if len(argument.leaves) == 1 else "given"


def _of_trees(name: str, before: Tree, after: Tree) -> Iterator[Difference]:
    paths = dict.fromkeys((*before.leaves, *after.leaves))
    found = [each for path in paths for each in _of_leaves(path, before, after)]
    yield from found
    if before.number != after.number and not any(each.kind == "tree structure" for each in found):
        yield from _of_nodes(name, before, after)


def _of_leaves(path: str, before: Tree, after: Tree) -> Iterator[Difference]:
    old, new = before.leaves.get(path), after.leaves.get(path)
    if old is None or new is None:
        texts = [described(each.leaves[path]) if path in each.leaves else "not there" for each in (before, after)]
        if texts[0] != texts[1]:
            yield Difference("tree structure", path, *texts)
        return
    if (old.type, old.shape) != (new.type, new.shape):
        told = described if old.is_number or new.is_number else str
        yield Difference("input types", path, told(old), told(new))
    elif old.weak != new.weak:
        yield Difference("weak type", path, described(old), described(new))
    elif old.placed != new.placed:
        yield Difference("sharding", path, _placed(old), _placed(new))


def _placed(leaf: Leaf) -> str:
    return leaf.placed or NOWHERE


def _of_parts(kind: str, at: str, before: Mapping[str, Part], after: Mapping[str, Part]) -> Iterator[Difference]:
    for path in dict.fromkeys((*before, *after)):
        old, new = before.get(path), after.get(path)
        if old is None or new is None or old.number != new.number:
            yield Difference(kind, at + path, old.text if old else "not there", new.text if new else "not there")


def _of_nodes(name: str, before: Tree, after: Tree) -> Iterator[Difference]:
    """What of the inner nodes differs: a container of another type, or with another static part."""
    for old, new in zip(before.nodes, after.nodes, strict=False):
        if old[0] != new[0]:
            yield Difference("tree structure", name, old[0], new[0])
            return
        found = list(_of_parts("tree structure", f"{name} ({new[0]})", old[1], new[1]))
        if found:
            yield from found
            return
    yield Difference("tree structure", name, *(f"{len(each.nodes)} nodes" for each in (before, after)))
