"""What all calls of a function pass to it, at several places or through transformations, dropped at all of them."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.functions import bound_arguments, is_partial, passed, substituted
from jaxshrink.passes.said import by_keyword
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

TRANSFORMATIONS = frozenset({
    "jit", "vmap", "pmap", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "checkpoint", "remat",
})  # fmt: skip
"""What they make of a function is called like it."""


@dataclasses.dataclass(frozen=True)
class End:
    """A call of a function, and what transformations between say of its parameters."""

    call: ast.Call
    keywords: tuple[ast.keyword, ...] = ()


def fixed(view: View) -> Iterator[Edit]:
    """Where several calls all pass the same for a parameter, `jit(f)(x)` among them, that is read in its place.

    Of a single call that is left to `arguments`: what a transformation traces is no longer traced then.
    """
    for function in view.all(ast.FunctionDef, ast.Lambda):
        ends = _ends(view, function)
        bound = [bound_arguments(function.args, end.call) for end in ends or ()]
        if not ends or len(ends) < 2 or None in bound or function.args.vararg is not None:
            continue
        for position, arg in enumerate(function.args.args):
            binding = view.binding(arg)
            values = [each[arg.arg] for each in bound if each is not None]
            keywords = [keyword for end in ends for keyword in end.keywords]
            changes: dict[ast.AST, Replacement] = dict(by_keyword(keywords, position, arg.arg))
            given = passed([end.call for end in ends], arg.arg, position, len(function.args.args))
            changes.update(dict.fromkeys(given, DELETE))
            about = trees.identity(arg)
            if binding is None or not binding.definitions:
                continue
            if len({ast.dump(value) for value in values}) == 1 and view.means_same(values[0], function):
                value = trees.clone(values[0])
                yield Edit({**changes, arg: DELETE, **dict(substituted(binding, value))}, 6, ("fixed", about))
            if not _only_by_name(view, function, ends):  # else `parameters` does
                holes: dict[ast.AST, Replacement] = {
                    use: hole for use in binding.uses if (hole := view.stand_in(use)) is not None
                }
                if len(holes) == len(binding.uses):
                    yield Edit({**changes, arg: DELETE, **holes}, 5, ("everywhere", about))


def positional(view: View) -> Iterator[Edit]:
    """`f(x=a)` is `f(a)` where that is the same, for functions of the program, transformed or not."""
    for function in view.all(ast.FunctionDef, ast.Lambda):
        for end in _ends(view, function) or ():
            call = end.call
            rest = [arg.arg for arg in [*function.args.posonlyargs, *function.args.args][len(call.args) :]]
            named = {keyword.arg: keyword for keyword in call.keywords}
            first = [named[name] for name in itertools.takewhile(named.__contains__, rest)]
            if first and not any(isinstance(arg, ast.Starred) for arg in call.args):
                others = [keyword for keyword in call.keywords if keyword not in first]
                args = [*call.args, *(keyword.value for keyword in first)]
                yield Edit({call: ast.Call(call.func, args, others)}, 2 * len(first))


def _only_by_name(view: View, function: ast.FunctionDef | ast.Lambda, ends: list[End]) -> bool:
    binding = view.binding(function)
    return binding is not None and all(end.call.func in binding.uses for end in ends)


def _ends(view: View, function: ast.FunctionDef | ast.Lambda) -> list[End] | None:
    """All calls of a function; None where it is also used in another way."""
    if isinstance(function, ast.Lambda):
        return _reached(view, function, ())
    binding = view.binding(function)
    keywords: tuple[ast.keyword, ...] = ()
    for decorator in function.decorator_list:
        if not _transforms(decorator):
            return None
        keywords += tuple(decorator.keywords) if isinstance(decorator, ast.Call) else ()
    if binding is None or len(binding.definitions) != 1:
        return None
    return _all(_reached(view, use, keywords) for use in binding.uses if not view.inside(use, function))


def _reached(view: View, node: ast.expr, keywords: tuple[ast.keyword, ...]) -> list[End] | None:
    """The calls of what an expression is made to, through transformations and names."""
    above = view.parents[node]
    match above:
        case ast.Call(func=func) if func is node:
            return [End(above, keywords)]
        case ast.Call(func=func, args=[first]) if first is node and _transforms(func):
            return _reached(view, above, (*keywords, *above.keywords))
        case ast.Assign(targets=[ast.Name() as target], value=value) if value is node:
            binding = view.binding(target)
            if binding is not None and len(binding.definitions) == 1:
                return _all(_reached(view, use, keywords) for use in binding.uses)
    return None


def _all(several: Iterator[list[End] | None]) -> list[End] | None:
    found: list[End] = []
    for ends in several:
        if ends is None:
            return None
        found += ends
    return found


def _transforms(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _transforms(node.args[0] if is_partial(node) else node.func)
    return trees.last_name(node) in TRANSFORMATIONS
