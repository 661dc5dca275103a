"""Functions: parameters dropped at both ends, bodies put in the place of calls, definitions turned into lambdas."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.said import of_decorators
from jaxshrink.scopes import FUNCTION, Binding, Function
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def parameters(view: View) -> Iterator[Edit]:
    """Drop a parameter and what the calls pass for it; where it is read, an observed value or a default stands in."""
    for function in view.all(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda):
        for rest in filter(None, [function.args.vararg, function.args.kwarg]):
            yield Edit.delete(rest)
        through = _called_through(view, function)
        if through is not None:  # `arguments` drops both ends
            yield from (Edit.delete(arg) for arg in _without_argument(function.args, through))
            continue
        calls = _calls(view, function)
        arguments = function.args
        for i, arg in enumerate([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]):
            given = passed(calls, arg.arg, i, len(arguments.posonlyargs) + len(arguments.args))
            binding = view.binding(arg)
            assert binding is not None
            changes: dict[ast.AST, Replacement] = dict.fromkeys([arg, *given], DELETE)
            changes.update(of_decorators(function, i, arg.arg))
            about = ("parameter", trees.identity(arg))
            yield Edit(_filled(view, changes, binding.uses, None), 2 + sum(map(trees.extent, given)), about)
            if len(given) == len(calls) == 1 and binding.uses:
                value = given[0].value if isinstance(given[0], ast.keyword) else given[0]
                yield Edit(_filled(view, changes, binding.uses, value), 2, ("argument", trees.identity(arg)))


def lambdas(view: View) -> Iterator[Edit]:
    """Put a function that only returns an expression where its name is read, if that is in one place."""
    for function in view.all(ast.FunctionDef):
        binding = view.binding(function)
        if binding is None or len(binding.definitions) > 1 or len(binding.uses) != 1 or function.decorator_list:
            continue
        body = returned(function)
        if body is not None and not view.inside(binding.uses[0], function):
            new = ast.Lambda(function.args, body)
            yield Edit({function: DELETE, binding.uses[0]: new}, 4)


def decorated(view: View) -> Iterator[Edit]:
    """Call the decorator where the function is read: `@jit def f(x): return x` … `f(1)` is `jit(lambda x: x)(1)`.

    Where nothing reads it, the decorator may be all that matters.
    """
    for function in view.all(ast.FunctionDef):
        binding = view.binding(function)
        if binding is None or len(binding.definitions) > 1 or len(binding.uses) > 1 or not function.decorator_list:
            continue
        if not binding.uses:
            for decorator in function.decorator_list:
                yield Edit.replace(function, ast.Expr(decorator))
        body = returned(function)
        if body is not None and not any(view.inside(use, function) for use in binding.uses):
            new: ast.expr = ast.Lambda(function.args, body)
            for decorator in reversed(function.decorator_list):
                new = ast.Call(decorator, [new], [])
            changes: dict[ast.AST, Replacement] = {function: DELETE, **dict.fromkeys(binding.uses, new)}
            yield Edit(changes if binding.uses else {function: ast.Expr(new)}, 4)


def eta(view: View) -> Iterator[Edit]:
    """`lambda x: f(x)` is `f`; `(lambda x: f(x))(y)` and `partial(f, y)()` are `f(y)`."""
    for node in view.all(ast.Lambda):
        body = node.body
        if isinstance(body, ast.Call):
            yield Edit.replace(node, body.func)
    for call in view.all(ast.Call):
        if isinstance(call.func, ast.Lambda):
            edit = _applied(view, call, call.func, call.func.body, {})
            if edit is not None:
                yield edit
        if isinstance(call.func, ast.Call) and is_partial(call.func):
            function, *first = call.func.args
            yield Edit.replace(call, ast.Call(function, [*first, *call.args], [*call.func.keywords, *call.keywords]))


def inline_calls(view: View) -> Iterator[Edit]:
    """Put what a function returns in the place of a call, its parameters replaced by the arguments."""
    for function in view.all(ast.FunctionDef, ast.Lambda):
        body = function.body if isinstance(function, ast.Lambda) else returned(function)
        calls = _calls(view, function)
        if body is None or not calls or getattr(function, "decorator_list", None):
            continue
        if isinstance(function, ast.Lambda) or len(calls) == 1:
            gone: dict[ast.AST, Replacement] = {_definition(view, function): DELETE}
            for call in calls[:1]:
                if not view.inside(call, function):
                    edit = _applied(view, call, function, body, gone)
                    if edit is not None:
                        yield edit


def splice(view: View) -> Iterator[Edit]:
    """Put the statements of a function in the place of the statement that calls it."""
    for function in view.all(ast.FunctionDef):
        calls = _calls(view, function)
        if len(calls) != 1 or function.decorator_list or view.inside(calls[0], function):
            continue
        bound = bound_arguments(function.args, calls[0])
        statement = view.statement(calls[0])
        if bound is None or not _comes_first(view, calls[0], statement):
            continue
        body = list(function.body)
        result: ast.expr | None = None
        last = body[-1]
        if isinstance(last, ast.Return):
            body, result = body[:-1], last.value
        if any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in _own(body)):
            continue
        taken = view.scopes.scope_of[view.function(statement) or view.tree].bindings
        changes: dict[ast.AST, Replacement] = {function: DELETE}
        setup: list[ast.stmt] = []
        for name, value in bound.items():
            parameter = view.scopes.scope_of[function].bindings[name]
            if isinstance(value, ast.Name) and value.id == name:
                continue
            if name in taken and len(parameter.definitions) == 1:  # there the name means something else
                changes.update(substituted(parameter, value))
            else:
                setup.append(ast.Assign([ast.Name(name, ast.Store())], value))
        rest: tuple[ast.stmt, ...] = (statement,)
        if isinstance(statement, ast.Expr) and statement.value is calls[0]:
            rest = (ast.Expr(result),) if result is not None else ()
        changes[statement] = (*setup, *body, *rest)
        changes[calls[0]] = result if result is not None else ast.Constant(None)
        yield Edit(changes, 8)


def _comes_first(view: View, call: ast.Call, statement: ast.stmt) -> bool:
    """Is the call made when the statement begins, and once?"""
    match statement:
        case ast.For(iter=part) | ast.If(test=part):
            return view.inside(call, part)
        case ast.With(items=[item]):
            return view.inside(call, item)
    return isinstance(statement, ast.Expr | ast.Assign | ast.Return | ast.AugAssign | ast.AnnAssign | ast.Assert)


def unwrap_module_guard(view: View) -> Iterator[Edit]:
    """`if __name__ == "__main__":` goes, its body stays."""
    for node in view.tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            yield Edit.replace(node, tuple(node.body))


def _calls(view: View, function: Function) -> list[ast.Call]:
    """The calls of a function by its name (or of a lambda where it stands)."""
    if isinstance(function, ast.Lambda):
        parent = view.parents[function]
        if isinstance(parent, ast.Call) and parent.func is function:
            return [parent]
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            binding = view.binding(parent.targets[0])
        else:
            return []
    else:
        binding = view.binding(function)
    if binding is None or len(binding.definitions) > 1:
        return []
    return view.calls(binding) or []


def _called_through(view: View, function: Function) -> ast.Call | None:
    """The call of what a transformation makes of the function, if it is called at once, as in `jit(f)(x)`."""
    binding = None if isinstance(function, ast.Lambda) else view.binding(function)
    for use in [function] if binding is None else binding.uses:
        call = view.parents[use]
        above = view.parents.get(call)
        if isinstance(call, ast.Call) and use in call.args and isinstance(above, ast.Call) and above.func is call:
            return above
    return None


def _without_argument(arguments: ast.arguments, call: ast.Call) -> Iterator[ast.arg]:
    """The parameters for which a call passes nothing: what fails before they are bound does not miss them."""
    keywords = {keyword.arg for keyword in call.keywords}
    if None in keywords or any(isinstance(arg, ast.Starred) for arg in call.args):
        return
    for arg in [*[*arguments.posonlyargs, *arguments.args][len(call.args) :], *arguments.kwonlyargs]:
        if arg.arg not in keywords:
            yield arg


def _definition(view: View, function: Function) -> ast.AST:
    """What to delete when the function is no longer needed."""
    parent = view.parents[function]
    return parent if isinstance(function, ast.Lambda) and isinstance(parent, ast.Assign) else function


def is_partial(call: ast.Call) -> bool:
    """Does the call make a partial function?"""
    return ast.unparse(call.func) in ("functools.partial", "partial") and bool(call.args)


def returned(function: ast.FunctionDef) -> ast.expr | None:
    """The expression that a function of a single `return` (or a single expression) gives."""
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return None
    match function.body:
        case [ast.Return(value=value)]:
            return value or ast.Constant(None)
        case [ast.Expr(value=value)]:
            return value
        case [ast.Pass()]:
            return ast.Constant(None)
    return None


def passed(calls: list[ast.Call], name: str, position: int, positional: int) -> list[ast.expr | ast.keyword]:
    """What calls pass for a parameter."""
    found: list[ast.expr | ast.keyword] = []
    for call in calls:
        if position < len(call.args) and position < positional:
            found.append(call.args[position])
        found.extend(keyword for keyword in call.keywords if keyword.arg == name)
    return found


def _filled(
    view: View, changes: dict[ast.AST, Replacement], uses: list[ast.Name], value: ast.expr | None
) -> dict[ast.AST, Replacement]:
    """The changes, and a value where each use was: the given one, else what was observed there."""
    for i, use in enumerate(uses):
        hole = (trees.shallow(value) if i == 0 else trees.clone(value)) if value is not None else view.rendered(use)
        if hole is not None:
            changes = {**changes, use: hole}
    return changes


def bound_arguments(arguments: ast.arguments, call: ast.Call) -> dict[str, ast.expr] | None:
    """Which expression each parameter gets, `*args` a tuple; None where that cannot be read off the call."""
    names = [arg.arg for arg in [*arguments.posonlyargs, *arguments.args]]
    if arguments.kwarg or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    if len(arguments.defaults) > len(names):  # of a method, without its first parameter
        return None
    bound = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
    bound |= {arg.arg: value for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    if len(call.args) > len(names) and arguments.vararg is None:
        return None
    bound |= dict(zip(names, call.args, strict=False))
    bound |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = ast.Tuple(call.args[len(names) :], ast.Load())
        names.append(arguments.vararg.arg)
    names += [arg.arg for arg in arguments.kwonlyargs]
    return {name: bound[name] for name in names} if bound.keys() == set(names) else None


def _applied(
    view: View, call: ast.Call, function: Function, body: ast.expr, changes: dict[ast.AST, Replacement]
) -> Edit | None:
    """A call replaced by the function's result with the arguments in the places of the parameters."""
    bound = bound_arguments(function.args, call)
    if bound is None:
        return None
    changes = {**changes, call: body}
    for name, value in bound.items():
        changes.update(substituted(view.scopes.scope_of[function].bindings[name], value))
    return Edit(changes, 4)


def substituted(variable: Binding, value: ast.expr) -> Iterator[tuple[ast.AST, Replacement]]:
    """A value in all places where a variable is read."""
    for i, use in enumerate(variable.uses):
        yield use, value if i == 0 else trees.clone(value)


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a body, without those of functions in it."""
    for statement in body:
        yield statement
        if not isinstance(statement, (*FUNCTION, ast.ClassDef)):
            for child in ast.iter_child_nodes(statement):
                yield from _own_nodes(child)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, (*FUNCTION, ast.ClassDef)):
        for child in ast.iter_child_nodes(node):
            yield from _own_nodes(child)
