"""In what a call differs from the most similar of the earlier ones, for JAX.

A difference is a list `[kind, path, before, after]` of texts. The path is that of a leaf (`params['w']`), or the name
of an argument, of a variable that a function closes over, of an option.
"""

KINDS = (
    "new function object", "static argument", "tree structure", "config", "input types", "weak type", "options",
    "transformation", "sharding",
)  # fmt: skip
"""Kinds of differences: where there are several, the first is the reason."""

NOWHERE = "no device in particular"
"""Where an array is that was not put anywhere on purpose."""

_ABSENT, _NOT_THERE = "not given", "not there"
_MANY_PROGRAMS = 1000
"""JAX's caches of what is lowered and compiled hold the last 1,024 or 2,048, that of calls 4,096 or more."""

_NOT_MAPPED = "not mapped"
_LOOK_BACK = 50
"""So many earlier calls of a function are compared with."""


def explain(note, earlier):
    """Say in a note why the call was not in JAX's caches: its `reason`, `closest` and `differences`.

    `earlier` are the notes of the same function before it. The reason is the kind of the first difference; where there
    is none, it is "first call", "caches cleared", "not compiled before" (only traced), "evicted" where many programs
    were compiled since, or "dropped".
    """
    note.update(number=len(earlier) + 1, reason="first call", closest=None, differences=[])
    if not earlier:
        return
    recent = _of_same_function(note, earlier[: -_LOOK_BACK - 1 : -1])
    found = [(differences(each["signature"], note["signature"]), each) for each in recent]
    nearest, closest = min(found, key=lambda each: _weight(each[0]))  # the last one of those that are alike
    if note["owner"] == "jax":
        nearest = [_of_primitive(each, note["signature"]) for each in nearest]
    reason = nearest[0][0] if nearest else _without_difference(note, closest)
    note.update(reason=reason, closest=closest["number"], differences=nearest)


def _of_same_function(note, earlier):
    """Of earlier notes those of the same function object; else those of objects that were made in the same way.

    Calls are not compared with backward passes, which are none.
    """
    if not _is_backward(note):
        earlier = [each for each in earlier if not _is_backward(each)] or earlier
    for key in ("number", "around"):
        known = note["signature"]["function"][key]
        same = [each for each in earlier if each["signature"]["function"][key] == known]
        if same:
            return same
    return earlier


def _is_backward(note):
    return "backward" in note["signature"]["transformations"]


def _weight(found):
    """Few differences make calls alike; those in what only compiled code depends on count least."""
    return sum(kind not in ("sharding", "transformation") for kind, *_ in found), len(found)


def _of_primitive(difference, signature):
    """Another function object of JAX's own is a primitive with other parameters, which are static.

    Those of loops and branches are functions of the program: where such a one differs, it is that which is new.
    """
    kind, path, before, after = difference
    traced = [name for name, text in signature["function"]["holds"].items() if _JAXPR in text]
    if kind == "new function object" and (path in traced or (traced and path == "function")):
        path = traced[0].removesuffix("_jaxpr") if len(traced) == 1 else path.removesuffix("_jaxpr")
        return [kind, path, "function", "function"]
    is_function = signature["arguments"].get(path, {}).get("sort") == "function"
    if kind == "static argument" and before == after and is_function:
        return ["new function object", path, before, after]
    return ["static argument" if kind == "new function object" else kind, path, before, after]


_JAXPR = "{ lambda "
"""How the text of a function begins that has been traced already."""


def _without_difference(note, closest):
    if note["cleared"] > closest["cleared"]:
        return "caches cleared"
    if not closest["compiled"]:
        return "not compiled before"
    return "evicted" if note["programs"] - closest["programs"] > _MANY_PROGRAMS else "dropped"


def reason(note):
    """The reason of a miss, and more exactly where a static value is it: which way it is told from others."""
    kind, path = note["reason"], (note["differences"] or [["", ""]])[0][1]
    arguments = note["signature"]["arguments"]
    static = {at: each for tree in arguments.values() for at, each in tree.get("static", {}).items()}
    value = {**arguments, **static}.get(path, {})
    if kind not in ("static argument", "tree structure") or "by_identity" not in value:
        return kind
    return f"{kind} by identity" if value["by_identity"] else kind if kind == "static argument" else f"{kind}, static"


def differences(before, after):
    """All differences between the signatures of two calls, the reason first."""
    under = [" of ".join(each["transformations"]) or "none" for each in (before, after)]
    if "backward" in under and under[0] != under[1]:  # its arguments are no call's
        return [["transformation", "transformations", *under]]
    found = _of_calls(before, after)
    if not found and before["within"] and after["within"]:
        found = _of_calls(*({**each, **each["within"]} for each in (before, after)))
    found += _of_texts("options", before["options"], after["options"])
    found += _of_texts("config", before["context"], after["context"])
    if under[0] != under[1]:  # what vmap maps over is a part of that
        found = [each for each in found if each[0] != "transformation"]
        found.append(["transformation", "transformations", *under])
    return sorted(found, key=lambda each: KINDS.index(each[0]))


def _of_calls(before, after):
    found = [*_of_functions(before["function"], after["function"])]
    for name in _both(before["arguments"], after["arguments"]):
        found += _of_arguments(name, before, after)
    return found


def _both(before, after):
    return dict.fromkeys((*before, *after))


def _of_functions(before, after):
    if before["number"] == after["number"]:
        return []
    if before["around"] != after["around"]:
        forms = (" of ".join([*each["around"], "it"]) for each in (before, after))
        return [["new function object", "function", *forms]]
    objects = [f"object {each['number'] + 1}" for each in (before, after)]
    held = _of_texts("new function object", before["holds"], after["holds"])
    return held or [["new function object", "function", *objects]]


def _of_texts(kind, before, after):
    if before == after:
        return []
    texts = [(name, before.get(name, _ABSENT), after.get(name, _ABSENT)) for name in _both(before, after)]
    return [[kind, name, old, new] for name, old, new in texts if old != new]


def _of_arguments(name, before, after):
    old, new = before["arguments"].get(name), after["arguments"].get(name)
    if old is None or new is None:
        kind = "tree structure" if _is_tree(old or new) else "static argument"
        return [[kind, name, _given(old), _given(new)]]
    ways = ["by name" if name in each["keywords"] else "by position" for each in (before, after)]
    found = [["tree structure", name, *ways]] if ways[0] != ways[1] else []
    if _is_tree(old) != _is_tree(new):
        return [*found, ["static argument", name, _given(old), _given(new)]]
    return [*found, *(_of_trees(name, old, new) if _is_tree(old) else _of_statics("static argument", name, old, new))]


def _is_tree(argument):
    return "leaves" in argument


def _given(argument):
    if argument is None:
        return _ABSENT
    if not _is_tree(argument):
        return argument["text"]
    leaves = list(argument["leaves"].values())
    return _text(leaves[0]) if len(leaves) == 1 else "given"


def _text(leaf):
    return "None" if leaf is None else leaf["text"]


def _of_statics(kind, path, before, after):
    """What differs of static values: the parts that do, where they consist of parts."""
    if before["number"] == after["number"]:
        return []
    nothing = [_NOT_THERE, None]
    pairs = [(each, before["parts"].get(each, nothing), after["parts"].get(each, nothing))
             for each in _both(before["parts"], after["parts"])]  # fmt: skip
    found = [[kind, each, old[0], new[0]] for each, old, new in pairs if old[1] != new[1]]
    return found or [[kind, path, before["text"], after["text"]]]


def _of_trees(name, before, after):
    if before == after:
        return []
    changed = _of_nodes(before, after)
    found = [each for each in changed.values() if each]
    for path in _both(before["leaves"], after["leaves"]):
        if path not in before["leaves"] or before["leaves"][path] != after["leaves"].get(path):
            found += [each for each in _of_leaves(path, before, after) if not _is_told(each, changed)]
    for path in before["static"]:
        if path in after["static"] and not (_is_order(path) and found):
            found += _of_statics("tree structure", path, before["static"][path], after["static"][path])
    if before["tree"] != after["tree"] and not any(kind == "tree structure" for kind, *_ in found):
        found.append(["tree structure", name, "one structure", "another structure"])
    return found


def _is_order(path):
    """Whether it is the order of the keys of a dictionary, which is nothing of its own where there are other keys."""
    return path.startswith("list(")


def _is_told(difference, changed):
    """Whether a part is only there in one of two trees because an inner node above it is another one."""
    _, path, *texts = difference
    return _NOT_THERE in texts and any(_is_within(path, node) for node in changed)


def _is_within(path, node):
    return path == node or path.startswith((f"{node}.", f"{node}["))


def _of_leaves(path, before, after):
    old, new = before["leaves"].get(path), after["leaves"].get(path)
    if old is None or new is None:
        texts = [_place(each, path) for each in (before, after)]
        return [["tree structure", path, *texts]] if texts[0] != texts[1] else []
    if (old["type"], old["shape"]) != (new["type"], new["shape"]):
        return [["input types", path, old["text"], new["text"]]]
    if old["weak"] != new["weak"]:
        return [["weak type", path, old["text"], new["text"]]]
    if old["mapped"] != new["mapped"]:
        return [["transformation", path, *(each["mapped"] or _NOT_MAPPED for each in (old, new))]]
    if old["placed"] != new["placed"] and "tracer" not in (old["of"], new["of"]):
        return [["sharding", path, old["placed"] or NOWHERE, new["placed"] or NOWHERE]]
    return []


def _place(tree, path):
    """What there is at this place of a tree."""
    if path in tree["static"]:
        return tree["static"][path]["text"]
    return _text(tree["leaves"][path]) if path in tree["leaves"] else _NOT_THERE


def _of_nodes(before, after):
    """{path: difference} of the outermost inner nodes that differ: containers of another type, or none.

    Empty ones and None are told with what is there in their place.
    """
    found = {}
    for path in _both(before["nodes"], after["nodes"]):
        classes = [each["classes"].get(path) for each in (before, after)]
        if classes[0] != classes[1] and not any(_is_within(path, above) for above in found):
            texts = (each["nodes"].get(path, _place(each, path)) for each in (before, after))
            found[path] = ["tree structure", path, *texts]
    return found
