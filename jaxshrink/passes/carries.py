"""What a loop carries, made simpler at all places together: its start, what reads it, what the body returns.

The structure of a carry stands in several places that must agree, so no edit at one of them alone can hold. The same
goes for what a loop goes over, for what it stacks, and for the operands and results of branches.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence

from jaxshrink import tree as trees
from jaxshrink.passes.transforms import function_of, results_of, transformed, without_parameter
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View

Key = int | str
Path = tuple[Key, ...]
Display = ast.Tuple | ast.List | ast.Dict


@dataclasses.dataclass
class Structure:
    """All displays of one structure, and all that is taken of it, by the path in it at which they stand."""

    displays: dict[Path, list[Display]] = dataclasses.field(default_factory=dict)
    reads: dict[Path, list[ast.Subscript]] = dataclasses.field(default_factory=dict)
    targets: dict[Path, list[ast.Tuple | ast.List]] = dataclasses.field(default_factory=dict)
    followed: set[ast.AST] = dataclasses.field(default_factory=set)


@dataclasses.dataclass(frozen=True)
class Shared:
    """Where one structure stands: expressions that have it, parameters that get it, and calls that give it."""

    values: Sequence[ast.expr]
    parameters: Sequence[ast.arg] = ()
    given: Sequence[tuple[ast.expr, Path]] = ()


def carries(view: View) -> Iterator[Edit]:
    """Keep one element of what a loop carries, or drop one, wherever the carry is built or read."""
    for call in view.all(ast.Call):
        for shared in _shared(view, call):
            structure = _structure(view, shared)
            for path, displays in sorted(structure.displays.items(), key=lambda item: len(item[0])):
                keys = _keys(displays[0])
                alike = [display for display in displays if _keys(display) == keys]
                if len(alike) == len(displays):
                    for key in keys:
                        yield _kept(view, structure, path, key)
                        if len(keys) > 1:
                            yield from _dropped(view, structure, path, key)


def operands(view: View) -> Iterator[Edit]:
    """Drop an operand of `cond` or `switch` with the parameters of all branches that get it."""
    for call in view.all(ast.Call):
        match trees.last_name(call.func), call.args:
            case "cond", [_, yes, no, *passed]:
                branches = [yes, no]
            case "switch", [_, ast.List(elts=branches) | ast.Tuple(elts=branches), *passed]:
                pass
            case _:
                continue
        for position, operand in enumerate(passed):
            changes: dict[ast.AST, Replacement] = {operand: DELETE}
            for branch in branches:
                changes.update(without_parameter(view, branch, position))
            yield Edit(changes, 2 * len(branches) + trees.extent(operand))


def _shared(view: View, call: ast.Call) -> Iterator[Shared]:
    """The structures that a call makes several places agree on."""
    named = {word.arg: word.value for word in call.keywords if word.arg}
    args = list(call.args)
    match trees.last_name(call.func), args:
        case "scan", [f, init, *rest]:
            results = [each for each in results_of(view, f) if isinstance(each, ast.Tuple) and len(each.elts) == 2]
            yield Shared([init, *(each.elts[0] for each in results)], _parameter(view, f, 0), [(call, (0,))])
            yield Shared([named["xs"]] if "xs" in named else rest[:1], _parameter(view, f, 1))
            yield Shared([each.elts[1] for each in results], (), [(call, (1,))])
        case "while_loop", [condition, f, init]:
            parameters = [*_parameter(view, condition, 0), *_parameter(view, f, 0)]
            yield Shared([init, *results_of(view, f)], parameters, [(call, ())])
        case "fori_loop", [_, _, f, init]:
            yield Shared([init, *results_of(view, f)], _parameter(view, f, 1), [(call, ())])
        case "map", [f, xs]:
            yield Shared([xs], _parameter(view, f, 0))
            yield Shared(results_of(view, f), (), [(call, ())])
        case "associative_scan", [f, elements, *_]:
            parameters = [*_parameter(view, f, 0), *_parameter(view, f, 1)]
            yield Shared([elements, *results_of(view, f)], parameters, [(call, ())])
        case "cond", [_, yes, no, *operands]:
            yield from _branches(view, call, [yes, no], operands)
        case "switch", [_, ast.List(elts=branches) | ast.Tuple(elts=branches), *operands]:
            yield from _branches(view, call, branches, operands)
        case _:
            levels, function = transformed(call)
            if levels:
                for position, arg in enumerate(args):
                    yield Shared([arg], _parameter(view, function, position))


def _branches(view: View, call: ast.Call, branches: list[ast.expr], operands: list[ast.expr]) -> Iterator[Shared]:
    for position, operand in enumerate(operands):
        yield Shared([operand], [arg for branch in branches for arg in _parameter(view, branch, position)])
    yield Shared([each for branch in branches for each in results_of(view, branch)], (), [(call, ())])


def _parameter(view: View, node: ast.expr, position: int) -> list[ast.arg]:
    function = function_of(view, node)
    return function.args.args[position : position + 1] if function is not None else []


def _structure(view: View, shared: Shared) -> Structure:
    structure = Structure()
    for value in shared.values:
        _add_displays(structure, value, ())
    for arg in shared.parameters:
        for use in _uses(view, arg):
            _follow(view, structure, use, (), ())
    for call, ahead in shared.given:
        _follow(view, structure, call, ahead, ())
    return structure


def _add_displays(structure: Structure, value: ast.expr, path: Path) -> None:
    if isinstance(value, Display) and (keys := _keys(value)):
        structure.displays.setdefault(path, []).append(value)
        for key in keys:
            _add_displays(structure, _element(value, key), (*path, key))


def _follow(view: View, structure: Structure, node: ast.AST, ahead: Path, path: Path) -> None:
    """Add what is taken of an expression that has the structure, once the keys `ahead` of it are taken."""
    if node in structure.followed:
        return
    structure.followed.add(node)
    above = view.parents[node]
    match above:
        case ast.Subscript(value=value, slice=ast.Constant(value=int() | str() as key)) if value is node:
            if not ahead:
                structure.reads.setdefault(path, []).append(above)
                _follow(view, structure, above, (), (*path, key))
            elif key == ahead[0]:
                _follow(view, structure, above, ahead[1:], path)
        case ast.Assign(targets=[target]):
            _unpack(view, structure, target, ahead, path)


def _unpack(view: View, structure: Structure, target: ast.expr, ahead: Path, path: Path) -> None:
    """The same for a target that gets it."""
    if isinstance(target, ast.Name):
        for use in _uses(view, target):
            _follow(view, structure, use, ahead, path)
    elif isinstance(target, ast.Tuple | ast.List) and not any(isinstance(each, ast.Starred) for each in target.elts):
        if not ahead:
            structure.targets.setdefault(path, []).append(target)
        for position, element in enumerate(target.elts):
            if not ahead:
                _unpack(view, structure, element, (), (*path, position))
            elif position == ahead[0]:
                _unpack(view, structure, element, ahead[1:], path)


def _uses(view: View, node: ast.AST) -> list[ast.Name]:
    """Where a variable is read that is bound once."""
    binding = view.binding(node)
    return binding.uses if binding is not None and len(binding.definitions) == 1 else []


def _keys(display: Display) -> list[Key]:
    """The keys of a display; none where they are not all known."""
    if isinstance(display, ast.Dict):
        keys = [key.value for key in display.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        return [*keys] if len(keys) == len(display.keys) else []
    return [] if any(isinstance(each, ast.Starred) for each in display.elts) else [*range(len(display.elts))]


def _element(display: Display, key: Key) -> ast.expr:
    return display.values[_keys(display).index(key)] if isinstance(display, ast.Dict) else display.elts[int(key)]


def _kept(view: View, structure: Structure, path: Path, key: Key) -> Edit:
    """One element in the place of a display; it is read, too, where another was."""
    changes: dict[ast.AST, Replacement] = {each: _element(each, key) for each in structure.displays[path]}
    changes.update((read, read.value) for read in structure.reads.get(path, ()))
    for target in structure.targets.get(path, ()):
        kept = target.elts[int(key)] if isinstance(key, int) and key < len(target.elts) else None
        if kept is not None:
            changes[target] = kept
            for other in target.elts:
                changes.update(_holes(view, other, kept) if other is not kept else ())
    return Edit(changes, _weight(changes))


def _dropped(view: View, structure: Structure, path: Path, key: Key) -> Iterator[Edit]:
    """No more of an element; where it is read, its first value or what was observed stands in."""
    displays = structure.displays[path]
    ordered = not isinstance(displays[0], ast.Dict)
    changes: dict[ast.AST, Replacement] = {_element(each, key): DELETE for each in displays}
    wanted: list[ast.expr] = []
    for read in structure.reads.get(path, ()):
        taken = read.slice.value if isinstance(read.slice, ast.Constant) else None
        if taken == key:
            wanted.append(read)
        elif ordered and isinstance(taken, int) and taken > int(key):
            changes[read.slice] = ast.Constant(taken - 1)
    for target in structure.targets.get(path, ()):
        if isinstance(key, int) and key < len(target.elts):
            changes[target.elts[key]] = DELETE
            wanted += (use for name in ast.walk(target.elts[key]) for use in _uses(view, name))
    first = _element(displays[0], key)
    if not wanted:
        yield Edit(changes, _weight(changes))
        return
    observed: dict[ast.AST, Replacement] = {use: hole for use in wanted if (hole := view.stand_in(use)) is not None}
    yield Edit({**changes, **observed}, _weight(changes))
    if all(view.means_same(first, use) for use in wanted):
        yield Edit({**changes, **{use: trees.clone(first) for use in wanted}}, _weight(changes))


def _holes(view: View, target: ast.expr, kept: ast.expr) -> Iterator[tuple[ast.AST, Replacement]]:
    """What is read of a target that goes is what is kept, if that has a name; else what was observed."""
    for name in ast.walk(target):
        for use in _uses(view, name):
            new = ast.Name(kept.id, ast.Load()) if isinstance(kept, ast.Name) else view.stand_in(use)
            if new is not None:
                yield use, new


def _weight(changes: dict[ast.AST, Replacement]) -> int:
    kept = sum(trees.extent(by) for by in changes.values() if isinstance(by, ast.AST))
    return sum(map(trees.extent, changes)) - kept
