"""The failing statement with what computed the numbers that it looks at, some steps back; what is before as observed.

Where a program finds that its numbers are wrong, these would be found wrong as well if they stood there, whatever had
computed them. So what is lifted begins further back: the values from which they were computed are right, perhaps.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterator

from jaxshrink import tree as trees
from jaxshrink.lift.draft import Draft
from jaxshrink.observation import Observation, UserFrame
from jaxshrink.render import Style, Unrenderable
from jaxshrink.scopes import FUNCTION, Binding
from jaxshrink.tree import Edit, Inapplicable
from jaxshrink.view import View

MOST_STEPS = 4
"""How far back it goes: each step takes the statements that made what those before look at."""

_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
_OUTERMOST = (ast.Module, ast.ClassDef, *FUNCTION)
_WITH_STATEMENTS = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)
_MAKES = (ast.Assign, ast.AnnAssign)


def computed(view: View, observation: Observation, style: Style) -> Iterator[ast.Module]:
    """Such programs for each frame of the failing stack, innermost first, from the fewest steps to the most."""
    for frame in observation.frames:
        statement = _failing(view, frame)
        for taken in _steps(view, observation, statement) if statement is not None else ():
            with contextlib.suppress(Unrenderable, Inapplicable):
                yield _program(view, observation, style, frame, taken)


def located(view: View, frame: UserFrame) -> ast.AST | None:
    """What failed in a frame: an expression, or a statement."""
    found = view.spans.get(frame.span)
    if found is not None:
        return found
    return next((each for each in trees.walk_statements(view.tree) if _at_line(each, frame)), None)


def _at_line(statement: ast.stmt, frame: UserFrame) -> bool:
    origin = getattr(statement, "origin", None)
    return origin is not None and origin[0] == frame.span.file and origin[1] == frame.span.line


def _failing(view: View, frame: UserFrame) -> ast.stmt | None:
    """The statement that failed; of a `raise` the condition too, under which it is reached."""
    node = located(view, frame)
    if node is None or isinstance(node, ast.Module):
        return None
    statement: ast.AST = view.statement(node)
    if isinstance(statement, ast.Raise):
        while not isinstance(statement, (ast.If, *_OUTERMOST)):
            statement = view.parents[statement]
    if isinstance(statement, (*_COMPOUND, *_OUTERMOST)) or not isinstance(statement, ast.stmt):
        return None
    return statement


def _steps(view: View, observation: Observation, failing: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The failing statement, in order behind those that made what it looks at: directly, at one remove, and so on."""
    place = {statement: i for i, statement in enumerate(trees.walk_statements(view.tree))}
    taken = {failing}
    for _ in range(1 + MOST_STEPS):
        yield sorted(taken, key=place.__getitem__)
        more = {made for statement in taken for made in _made(view, observation, statement, place)} - taken
        if not more:
            return
        taken |= more


def _made(view: View, observation: Observation, statement: ast.stmt, place: dict[ast.stmt, int]) -> Iterator[ast.stmt]:
    """The statements before another, in one function with it, that gave their last values to what it reads."""
    before = {each for each in place if place[each] < place[statement] and _ran(observation, each)}
    before = {each for each in before if view.function(each) is view.function(statement)}
    for binding in dict.fromkeys(map(view.binding, _read(statement))):
        made = [view.statement(each) for each in binding.definitions if isinstance(each, ast.Name)] if binding else []
        plain = before.intersection(each for each in made if isinstance(each, _MAKES))
        if binding is None or not plain:
            continue
        last = max(plain, key=place.__getitem__)
        yield last
        changes = [*_changes(view, binding), *(each for each in made if isinstance(each, ast.AugAssign))]
        yield from (each for each in changes if each in before and place[each] > place[last])


def _read(statement: ast.stmt) -> list[ast.expr]:
    """The names that a statement reads, the one that it changes included."""
    changed = [statement.target] if isinstance(statement, ast.AugAssign) else []
    nodes = [node for part in _parts(statement) for node in ast.walk(part)]
    return [*(node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)), *changed]


def _parts(statement: ast.stmt) -> list[ast.AST]:
    """The statement; of a condition that fails where it holds, not what is done else."""
    if isinstance(statement, ast.If) and any(isinstance(each, ast.Raise) for each in statement.body):
        return [statement.test, *statement.body]
    return [statement]


def _changes(view: View, binding: Binding) -> Iterator[ast.stmt]:
    """Statements that put something into what a variable holds."""
    for use in binding.uses:
        match view.parents[use]:
            case ast.Attribute(value=value) as method if value is use:
                call = view.parents[method]
                if isinstance(call, ast.Call) and call.func is method and isinstance(view.parents[call], ast.Expr):
                    yield view.statement(call)
            case ast.Subscript(ctx=ast.Store()):
                yield view.statement(use)


def _ran(observation: Observation, statement: ast.stmt) -> bool:
    origin = getattr(statement, "origin", None)
    return origin is not None and origin[1] in observation.lines.get(origin[0], ())


def _program(view: View, observation: Observation, style: Style, frame: UserFrame, taken: list[ast.stmt]) -> ast.Module:
    """The statements with all that they need. Raises Unrenderable."""
    draft = Draft(view, observation, style)
    bound = {view.binding(node) for each in taken[:-1] for node in ast.walk(each) if _is_bound(node)}
    own = {binding for binding in bound if binding is not None}
    filled: dict[ast.expr, ast.expr] = {}
    for statement in taken:
        filled.update(_variables(view, observation, style, statement, own))
    copy = draft.closed(ast.Module([*map(_alone, taken)], []), frame.locals, filled, own)
    return draft.module(*copy.body)


def _is_bound(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _variables(
    view: View, observation: Observation, style: Style, node: ast.AST, own: Collection[Binding]
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The values of variables, and of what is taken of them, that nothing here computes."""
    for child in ast.iter_child_nodes(node):
        taken = isinstance(child, ast.Name | ast.Attribute | ast.Subscript) and isinstance(child.ctx, ast.Load)
        if taken and not any(_is_own(view.binding(name), own) for name in ast.walk(child)):
            value = view.rendered(child, style)
            if value is not None:
                yield child, value  # type: ignore[misc]
                continue
        if not isinstance(child, ast.Lambda | ast.comprehension):
            yield from _variables(view, observation, style, child, own)


def _is_own(binding: Binding | None, own: Collection[Binding]) -> bool:
    """Whether a variable is computed here: by the statements, or by a comprehension or function in them."""
    return binding is not None and (binding in own or not isinstance(binding.scope.node, _WITH_STATEMENTS))


def _alone(statement: ast.stmt) -> ast.stmt:
    """A statement as it may stand outside of functions."""
    match statement:
        case ast.Return(value=ast.expr() as value):
            return ast.Expr(value)
        case ast.If(orelse=orelse) if _parts(statement) != [statement]:
            return trees.rewrite(statement, Edit.delete(*orelse))
    return statement
