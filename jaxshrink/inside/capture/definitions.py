"""Functions and errors of the program's own, as definitions."""

import ast
import inspect
import re

from . import names
from .constants import Unwritable, expression

_QUOTED = re.compile(rf"'(\w*{names.SIGN}\w*)'")  # a name for now, in a dump


def arguments(scope, env):
    """The parameters of a function, as it was called."""
    found = _none()
    given = {name: kind for name, kind, _ in scope.params}
    signature = scope.function.signature
    before_last = _before_last(signature, given, scope.function.told) if signature is not None else ()
    for name in before_last:
        default = signature.parameters[name].default
        if name not in given:
            found.args.append(ast.arg(name))
            found.defaults.append(ast.Constant(default if isinstance(default, (bool, int, float, str)) else None))
        else:
            found.args.append(ast.arg(env.params[name]))
            if found.defaults:
                found.defaults.append(ast.Constant(None))
    for name, kind in given.items():
        if name not in before_last:
            _add(found, kind, ast.arg(env.params[name]))
    for name, parameter in signature.parameters.items() if signature is not None else ():
        if name not in given and name in scope.function.told and parameter.kind is parameter.KEYWORD_ONLY:
            _add(found, parameter.kind, ast.arg(name))
            found.kw_defaults[-1] = ast.Constant(None)
    return found


def _before_last(signature, given, told):
    """All positional parameters up to the last that counts, if one of them was not given: places must not change."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [name for name, parameter in signature.parameters.items() if parameter.kind in kinds]
    places = {place % len(positional) for place in told if isinstance(place, int) and positional}
    counts = (i for i, name in enumerate(positional) if name in given or name in told or i in places)
    counting = positional[: max(counts, default=-1) + 1]
    return counting if any(name not in given for name in counting) else ()


def stub(function, new_name):
    """The parameters of a function that never ran."""
    found = _none()
    parameters = function.signature.parameters.values() if function.signature is not None else ()
    for parameter in parameters:
        argument = ast.arg(new_name(parameter.name))
        _add(found, parameter.kind, argument)
        if parameter.default is not parameter.empty and found.args and found.args[-1] is argument:
            found.defaults.append(ast.Constant(None))
    if function.signature is None:
        found.vararg, found.kwarg = ast.arg("args"), ast.arg("kwargs")
    return found


def unused_rule(method, index, name, given):
    """What a rule of the function `name` may return: its forward rule, or that for tangents. None for others."""
    args = [ast.Name(one.arg, ast.Load()) for one in given.args]
    if index or given.kwonlyargs or given.kwarg:
        return None
    if method == "defvjp":
        args += [ast.Starred(ast.Name(given.vararg.arg, ast.Load()), ast.Load())] if given.vararg else []
        return ast.Tuple([ast.Call(ast.Name(name, ast.Load()), args, []), ast.Constant(None)], ast.Load())
    if method == "defjvp" and len(args) > 1:
        primals = [*args[:-2], ast.Starred(args[-2], ast.Load())]
        value = ast.Call(ast.Name(name, ast.Load()), primals, [])
        return ast.Tuple([value, value], ast.Load())
    return None


def _none():
    return ast.arguments([], [], None, [], [], None, [])


def _add(found, kind, argument):
    if kind == inspect.Parameter.VAR_POSITIONAL:
        found.vararg = argument
    elif kind == inspect.Parameter.VAR_KEYWORD:
        found.kwarg = argument
    elif kind == inspect.Parameter.KEYWORD_ONLY:
        found.kwonlyargs.append(argument)
        found.kw_defaults.append(None)
    else:
        found.args.append(argument)


def definition(name, arguments, body):
    """A function."""
    found = ast.FunctionDef(name, arguments, body or [ast.Pass()], [], None, None)
    found.type_params = []
    return found


def canonical(found):
    """What two definitions that differ in the names inside alone have in common."""
    bound = {}
    for node in ast.walk(found):
        name = node.arg if isinstance(node, ast.arg) else node.id if _is_stored(node) else None
        if isinstance(node, ast.FunctionDef) and node is not found:
            name = node.name
        if name is not None:
            bound.setdefault(name, f"{len(bound)}{names.SIGN}")
    return _QUOTED.sub(lambda match: f"'{bound.get(match[1], match[1])}'", ast.dump(found))


def _is_stored(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def raised(error, env, constants, public):
    """A statement that raises an error of the program's own again; a class of its own is defined before."""
    args = []
    for arg in error.args:
        try:
            args.append(expression(constants.of_part(arg)))
        except (Unwritable, SyntaxError):
            args = [ast.Constant(str(error))]
            break
    kind = type(error)
    if kind.__str__ is not _base(kind, public).__str__:
        args = [ast.Constant(str(error))]
    return ast.Raise(ast.Call(own_class(kind, env, public), args, []), None)


def _base(kind, public):
    """The nearest class of Python's or JAX's."""
    return next(one for one in kind.__mro__ if one.__module__ == "builtins" or public(one) is not None)


def own_class(kind, env, public):
    """The expression of a class, of the program's own as one that has nothing but its name."""
    if kind.__module__ == "builtins":
        return ast.Name(kind.__name__, ast.Load())
    if public(kind) is not None:
        return expression(public(kind))
    root = env.root
    name = root.functions.get(kind)
    if name is None:
        base = _base(kind, public)
        bases = [] if base is object else [own_class(base, env, public)]
        name = root.functions[kind] = names.identifier(kind.__name__)
        found = ast.ClassDef(name, bases, [], [ast.Pass()], [])
        found.type_params, found.within = [], ()
        root.body.insert(0, found)
    return ast.Name(name, ast.Load())


_UNHASHABLE = """
class {name}:
    def __init__(self, part):
        self.part = part

    def __call__(self, *args):
        pass

    def __hash__(self):
        return hash(self.part)
"""


def unhashable_class(name, env):
    """The expression of a class of functions that never ran, as they have no hash where a part of them has none."""
    root, key = env.root, ("unhashable", name)
    if key not in root.functions:
        root.functions[key] = names.identifier(name)
        found = ast.parse(_UNHASHABLE.format(name=root.functions[key])).body[0]
        found.within = ()
        root.body.insert(0, found)
    return ast.Name(root.functions[key], ast.Load())
