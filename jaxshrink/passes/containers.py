"""Containers at both ends: tuples as dimensions, keys with their look-ups, a result and what is taken of it."""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.arrays import in_shape
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def tuples(view: View) -> Iterator[Edit]:
    """Drop one element of all tuples of a length, or keep only one: they are often one state at several places."""
    for length, nodes in _by_length(view).items():
        if len(nodes) < 2:
            continue
        for i in range(length):
            kept: dict[ast.AST, Replacement] = {node: node.elts[i] for node in nodes}
            yield _all(kept)
            reads = [node for node in view.all(ast.Subscript) if _is_number(node.slice, i)]
            if reads:
                yield _all({**kept, **{read: read.value for read in reads}})
        if length > 2:
            for i in range(length):
                yield _all({node.elts[i]: DELETE for node in nodes})


def one_for_all(view: View) -> Iterator[Edit]:
    """Let one element stand for all in the tuples of a length: a loop over a state of several variables has one."""
    for length, nodes in _by_length(view).items():
        targets = [node for node in nodes if isinstance(node.ctx, ast.Store)]
        reads = [node for node in view.all(ast.Subscript) if _is_number_below(node.slice, length)]
        for i in range(length if len(nodes) > 1 and (targets or reads) else 0):
            changes: dict[ast.AST, Replacement] = {node: node.elts[i] for node in nodes}
            changes.update({read: read.value for read in reads})
            for target in targets:
                changes.update(_named(view, target, target.elts[i]))
            yield _all(changes)


def keys(view: View) -> Iterator[Edit]:
    """Drop a key from all dictionaries, and from calls that take it as a keyword."""
    entries: dict[str, list[ast.AST]] = collections.defaultdict(list)
    for node in view.all(ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                entries[str(key.value)].append(value)
    for call in view.all(ast.Call):
        for keyword in call.keywords:
            if keyword.arg:
                entries[keyword.arg].append(keyword)
    for places in entries.values():
        if len(places) > 1:
            yield Edit.delete(*places)


def unkeyed(view: View) -> Iterator[Edit]:
    """Put a value in the place of the container that holds it, and drop the look-ups: `{"w": x}` and `p["w"]`."""
    lookups: dict[str, list[ast.Subscript | ast.Attribute]] = collections.defaultdict(list)
    for node in view.all(ast.Subscript, ast.Attribute):
        if isinstance(node, ast.Attribute):
            lookups[node.attr].append(node)
        elif isinstance(node.slice, ast.Constant):
            lookups[str(node.slice.value)].append(node)
    for key, reads in lookups.items():
        for holder in view.all(ast.Dict, ast.Tuple, ast.List, ast.Call):
            value = _held(holder, key)
            if value is not None:
                yield Edit({holder: value, **{read: read.value for read in reads}}, len(reads) + 2)


def unpacked(view: View) -> Iterator[Edit]:
    """Put the elements of a display where they are looked up: with `p = (a, b)`, `p[1]` is `b`."""
    for statement in view.all(ast.Assign):
        target = statement.targets[0]
        binding = view.binding(target)
        if not isinstance(target, ast.Name) or binding is None or len(binding.definitions) != 1 or not binding.uses:
            continue
        changes: dict[ast.AST, Replacement] = {statement: DELETE}
        for use in binding.uses:
            read = view.parents[use]
            element = _looked_up(statement.value, read) if isinstance(read, ast.Subscript) else None
            if element is None or read in changes:
                break
            changes[read] = trees.clone(element)
        else:
            yield Edit(changes, 3)
    for statement in view.all(ast.Assign):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=[only]) as target], value=ast.Tuple(elts=[element]) as display):
                yield Edit({target: only, display: element}, 2)
    for read in view.all(ast.Subscript):
        element = _looked_up(read.value, read)
        if element is not None:
            yield Edit.replace(read, element)


def appended(view: View) -> Iterator[Edit]:
    """Write a list as it is once something has been appended: `a = []`, `a.append(x)` is `a = [x]`."""
    for statement in view.all(ast.Expr):
        match statement.value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="append"), args=[element]):
                binding = view.binding(name)
                first = view.parents[binding.definitions[0]] if binding is not None else None
                if isinstance(first, ast.Assign) and isinstance(first.value, ast.List):
                    longer = ast.List([*map(trees.clone, first.value.elts), element], ast.Load())
                    yield Edit({first: DELETE, statement: ast.Assign([ast.Name(name.id, ast.Store())], longer)}, 4)


def projections(view: View) -> Iterator[Edit]:
    """Return what callers take of the result: `f(x).a` where `f` returns `C(y, z)` is `f(x)` that returns `y`."""
    for function in view.all(ast.FunctionDef, ast.Lambda):
        returned = _returned(function)
        parts = _parts(returned) if returned is not None else []
        uses = _projections(view, function)
        if returned is not None and uses:
            for part in parts:
                changes: dict[ast.AST, Replacement] = {use: _of(use) for use in uses}
                yield Edit({**changes, returned: part}, trees.extent(returned) - trees.extent(part) + len(uses))


def _by_length(view: View) -> dict[int, list[ast.Tuple]]:
    """The tuples that are no shapes."""
    by_length: dict[int, list[ast.Tuple]] = collections.defaultdict(list)
    for node in view.all(ast.Tuple):
        if node.elts and not in_shape(view, node.elts[0]):
            by_length[len(node.elts)].append(node)
    return by_length


def _named(view: View, target: ast.Tuple, kept: ast.expr) -> Iterator[tuple[ast.AST, Replacement]]:
    """New names for all that the variables of a target are: that of the one which is kept."""
    bindings = {binding for element in target.elts if (binding := view.binding(element)) is not None}
    if not isinstance(kept, ast.Name):
        return
    for binding in bindings - {view.binding(kept)}:
        for node in (*binding.definitions, *binding.uses):
            if isinstance(node, ast.Name) and node not in target.elts:
                yield node, ast.Name(kept.id, node.ctx)


def _held(node: ast.Dict | ast.Tuple | ast.List | ast.Call, key: str) -> ast.expr | None:
    """What a display holds under a key (as text), or a call of a class is given for a field."""
    match node:
        case ast.Dict(keys=keys, values=values):
            pairs = [(str(k.value), v) for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant)]
            return dict(pairs).get(key)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return elements[int(key)] if key.isdecimal() and int(key) < len(elements) else None
        case ast.Call(keywords=keywords):
            return next((keyword.value for keyword in keywords if keyword.arg == key), None)


def _looked_up(display: ast.expr, read: ast.Subscript) -> ast.expr | None:
    if isinstance(display, ast.Dict | ast.Tuple | ast.List) and isinstance(read.slice, ast.Constant):
        return _held(display, str(read.slice.value)) if isinstance(read.ctx, ast.Load) else None
    return None


def _is_number(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == number


def _is_number_below(node: ast.expr, length: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value < length


def _all(changes: dict[ast.AST, Replacement]) -> Edit:
    weight = sum(trees.extent(node) - (0 if by == DELETE else 1) for node, by in changes.items())
    return Edit(changes, weight)


def _returned(function: ast.FunctionDef | ast.Lambda) -> ast.expr | None:
    if isinstance(function, ast.Lambda):
        return function.body
    last = function.body[-1]
    return last.value if isinstance(last, ast.Return) else None


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Call(args=args, keywords=keywords):
            return [*args, *(keyword.value for keyword in keywords)]
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return elements
        case ast.Dict(values=values):
            return values
    return []


def _projections(view: View, function: ast.FunctionDef | ast.Lambda) -> list[ast.Attribute | ast.Subscript]:
    """The attributes and elements that are taken of the function's results, where nothing else is done with them."""
    binding = view.binding(function) if isinstance(function, ast.FunctionDef) else None
    calls = view.calls(binding) if binding is not None else None
    found: list[ast.Attribute | ast.Subscript] = []
    for call in calls or ():
        parent = view.parents[call]
        if not isinstance(parent, ast.Attribute | ast.Subscript) or parent.value is not call:
            return []
        found.append(parent)
    return found


def _of(node: ast.Attribute | ast.Subscript) -> ast.expr:
    return node.value
