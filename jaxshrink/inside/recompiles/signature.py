"""What a call of a jitted function looks like to JAX: all that may make it differ from earlier calls, as JSON.

    {"function": {"number", "kind", "holds": {name: text}, "around": [names], "inner": {"number", "kind"}},
     "arguments": {name: {"leaves": {path: leaf}, "tree": number, "nodes": {path: type}, "classes": {path: number},
                          "static": {path: static}} or static},
     "keywords": [names], "options": {name: text}, "transformations": [names], "context": {name: text},
     "within": None or {"function", "arguments"}}

A leaf is None, or `{"type", "shape", "weak", "of", "placed", "mapped", "text"}`: `of` is "jax", "numpy", "tracer", or
the name of Python's type; `placed` says on which devices it was put on purpose, and is empty where it was not; `mapped`
over which axis `vmap` maps. What is static, as an argument or in a node of a tree, is `{"number", "text", "type",
"sort", "by_identity", "parts": {path: [text, number, type, sort, by_identity]}}`. Paths are those of `keystr`, with the
name of the argument before them. Numbers are the same for what is the same to JAX. A function is "around" another
where JAX has made it of that, by `grad` for example. Where a wrapper of a library takes a call apart, function and
arguments are those of the wrapper's call, and `within` has what JAX gets.
"""

import inspect

from . import functions, hooks
from .arguments import Arguments, sharding
from .places import definition, innermost
from .texts import text
from .wrapped import whole_call

_OPTIONS = (
    "donate_argnums", "donate_argnames", "static_argnums", "static_argnames", "keep_unused", "inline", "device",
    "backend", "in_shardings_leaves", "out_shardings_leaves", "in_layouts_leaves", "out_layouts_leaves",
    "compiler_options_kvs", "use_resource_env",
)  # fmt: skip


def take(identities, fun, info, args, kwargs):
    """(definition, signature) of a call. `info` holds the options of `jit`, or has none of them."""
    group = definition(fun)[:2]
    static = _static(fun, info, len(args))
    given = _named(fun, args, kwargs)
    seen = Arguments(identities, group)
    arguments = {
        name: seen.static(name, value, is_typed=True) if name in static else seen.tree(name, value)
        for name, value in given.items()
    }
    whole = {
        "function": functions.told(identities, group, fun), "arguments": arguments, "keywords": sorted(kwargs),
        "options": {name: _told(value) for name, value in _options(info)},
        "transformations": sorted(seen.transformations), "context": hooks.context(), "within": None,
    }  # fmt: skip
    traced = [leaf for name, value in given.items() if name not in static for leaf in seen.util.tree_leaves(value)]
    call = whole_call(fun, args, kwargs, traced)
    return (definition(fun), whole) if call is None else _of_wrapper(identities, call, traced, whole)


def _of_wrapper(identities, call, traced, whole):
    """The same for the call that a wrapper has got, with that which it has made of it."""
    fun, args, kwargs = call
    inner = innermost(fun)
    ids = {id(leaf) for leaf in traced}
    group = (*definition(inner)[:2], "wrapped")
    apart = Arguments(identities, group, ids)
    told = {name: apart.argument(name, value) for name, value in _named(fun, args, kwargs).items()}
    given = {id(leaf) for leaf in apart.util.tree_leaves((args, kwargs))}
    rest = {} if ids <= given else {name: each for name, each in whole["arguments"].items() if name not in told}
    within = {"function": whole["function"], "arguments": whole["arguments"]}
    function = functions.told(identities, group, inner)
    arguments = {**told, **{name: each for name, each in rest.items() if "leaves" in each}}
    seen = {"function": function, "arguments": arguments, "keywords": sorted(kwargs), "within": within}
    return definition(inner), {**whole, **seen}


def nothing(problem):
    """A signature of which nothing is known, and why."""
    return {
        "function": functions.nothing(), "arguments": {}, "keywords": [],
        "options": {"not told": problem}, "transformations": [], "context": hooks.context(), "within": None,
    }  # fmt: skip


def of_program(identities, forward, args):
    """The signature of the backward pass of a call, whose arguments are what the forward pass has left."""
    leaves = Arguments(identities, "")
    left = {f"residuals[{index}]": leaves.leaf(leaf) for index, leaf in enumerate(args)}
    known = {"function": forward["function"]} if forward else {}
    told = {"arguments": {"residuals": {"leaves": left, "tree": len(left), "nodes": {}, "classes": {}, "static": {}}},
            "options": {}}  # fmt: skip
    return {**nothing(""), **known, **told, "transformations": ["backward"]}


def _options(info):
    """What is asked of `jit`, but for what is left to it."""
    for name in _OPTIONS:
        value = getattr(info, name, None)
        values = value if isinstance(value, tuple) else (value,)
        if value and not all(each is None or type(each).__name__ == "UnspecifiedValue" for each in values):
            yield name.removesuffix("_leaves").removesuffix("_kvs"), value


def _told(value):
    """The text of an option: shardings as those of arguments are told."""
    if isinstance(value, tuple) and any(hasattr(each, "device_set") for each in value):
        return f"({', '.join(sharding(each) if hasattr(each, 'device_set') else text(each) for each in value)})"
    return text(value, 120)


def _named(fun, args, kwargs):
    """{name: value} of the arguments, as the function names them."""
    parameters = _parameters(fun)
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    rest = next((each.name for each in parameters if each.kind == each.VAR_POSITIONAL), "args")
    names += [f"{rest}[{index}]" for index in range(len(args) - len(names))]
    return {**dict(zip(names, args)), **kwargs}


def _parameters(fun):
    """Those of the function, of the one in it where it takes any."""
    found = ()
    for each in (fun, innermost(fun)):
        try:
            found = tuple(inspect.signature(each).parameters.values())
        except (TypeError, ValueError):  # functions in C, and those whose signature lies
            continue
        if any(each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in found):
            break
    return found


def _static(fun, info, count):
    """The names of the static arguments."""
    names = list(_named(fun, range(count), {}))
    numbers = getattr(info, "static_argnums", None) or ()
    at = {names[number] for number in numbers if -count <= number < count}
    return at | set(getattr(info, "static_argnames", None) or ())
