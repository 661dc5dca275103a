"""Recorded calls as a program."""

import ast
import inspect

from . import names
from .calls import Attribute, Call, Method, Node, Operator, Ref, leaves
from .constants import Unwritable, expression, hole, is_float
from .head import imports
from .layout import tidied
from .operators import applied

_ALIASES = (("jax.numpy.", "jnp."), ("jax.lax.", "lax."), ("jax.experimental.pallas.", "pl."))


class Env:
    """Where statements are written: the module, or the body of a function (of one trace, `scope`)."""

    def __init__(self, scope=None, parent=None):
        self.scope, self.parent = scope, parent
        self.body, self.known, self.functions, self.own = [], {}, {}, set()
        self.params = {}
        self.is_closure = False
        self.shadowed = set()  # names of parameters that stand for something else outside, which is needed here

    @property
    def root(self):
        return self if self.parent is None else self.parent.root

    def taken(self):
        env, found = self, set()
        while env is not None:
            found |= env.own
            env = env.parent
        return found

    def new_name(self, wanted):
        name = names.free(wanted, self.taken())
        self.own.add(name)
        return name

    def find(self, get):
        """What `get` finds in this environment or one around it; those on the way are closures then."""
        env, passed = self, []
        while env is not None:
            found = get(env)
            if found is not None:
                for each in passed:
                    each.is_closure = each.is_closure or env.parent is not None
                    each.shadowed |= {found} & set(each.params.values()) if isinstance(found, str) else set()
                return found
            passed.append(env)
            env = env.parent
        return None


class Writer:
    """Writes the program of a call. `notes` tells what cannot be expressed."""

    def __init__(self, needed, constants, settings=((), ())):
        self.needed, self.constants, self.settings = needed, constants, settings
        self.notes, self.open = [], []

    def program(self, calls):
        """The module that makes these calls of the outermost level."""
        env = Env()
        env.own |= {"jax", "jnp", "np", "lax", "pl", "P", "data", *names.RESERVED}
        for call in calls:
            self.statement(call, env, is_last=call is calls[-1])
        body = tidied(env.body)
        return ast.fix_missing_locations(ast.Module([*imports(body, self.settings), *body], []))

    # ---- statements

    def statement(self, call, env, is_last=False):
        value = self.called(call, env)
        if isinstance(value, ast.stmt):
            env.body.append(value)
            return
        target = self._target(call, env) if not is_last else None
        env.body.append(ast.Expr(value) if target is None else ast.Assign([target], value))

    def _target(self, call, env):
        """The names for what a call gives."""
        if call.error is not None or call.result is None or not _has_refs(call.result):
            return None
        wanted = names.of_place(call.place)
        if isinstance(call.result, Node) and call.result.kind in (tuple, list) and call.result.items:
            count = len(call.result.items)
            wanted = wanted if isinstance(wanted, list) and len(wanted) == count else [None] * count
            env.known[call] = [env.new_name(one) for one in wanted]
            return ast.Tuple([ast.Name(name, ast.Store()) for name in env.known[call]], ast.Store())
        env.known[call] = env.new_name(wanted if isinstance(wanted, str) else None)
        return ast.Name(env.known[call], ast.Store())

    def called(self, call, env):
        """The expression or statement of a call."""
        args = [self.expression(argument, env, call) for argument in call.args]
        kwargs = {name: self.expression(argument, env, call) for name, argument in call.kwargs.items()}
        return applied(self.function_expression(call.func, env, call), call.func, args, kwargs)

    def function_expression(self, func, env, call):
        if isinstance(func, (Operator, Method)) or (isinstance(func, Attribute) and isinstance(func.base, Operator)):
            return None
        return self.expression(func, env, call)

    # ---- expressions

    def expression(self, part, env, call):
        return getattr(self, "_" + type(part).__name__.lower())(part, env, call)

    def _constant(self, part, env, call):
        try:
            return expression(self.constants.source(part.value))
        except Unwritable as error:
            self._note(f"{error} is not written down")
            return ast.Constant(None)

    def _note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def _public(self, part, env, call):
        return expression(conventional(part.name))

    def _ref(self, part, env, call):
        return _reached(part, env) or self._hole(part, env)

    def _hole(self, part, env):
        """An array like the one that is out of reach; it depends on what the function is given, as that may count."""
        try:
            array = expression(hole(part.like))
            given = _differentiable(env) if self.needed.skeleton and is_float(part.like) else None
            return array if given is None else _linked(array, part.like, *given)
        except Unwritable as error:
            self._note(f"{error} is out of reach and not written down")
            return ast.Constant(None)

    def _node(self, part, env, call):
        whole = whole_of(part)
        reached = _reached(whole, env) if whole is not None else None
        if reached is not None:
            return reached
        items = [self.expression(item, env, call) for item in part.items]
        if part.kind is slice:
            start, stop, step = (None if _is_none(item) else item for item in items)
            return ast.Slice(start, stop, step)
        if part.kind is dict:
            return ast.Dict([ast.Constant(key) for key in part.keys], items)
        return ast.Tuple(items, ast.Load()) if part.kind is tuple else ast.List(items, ast.Load())

    def _made(self, part, env, call):
        args = [self.expression(argument, env, call) for argument in part.args]
        kwargs = {name: self.expression(argument, env, call) for name, argument in part.kwargs.items()}
        return applied(self.function_expression(part.func, env, call), part.func, args, kwargs)

    def _attribute(self, part, env, call):
        return ast.Attribute(self.expression(part.base, env, call), part.name, ast.Load())

    def _host(self, part, env, call):
        """A function that gives what the call says it gives, or raises as the original did."""
        if part.error is not None:
            return self._raising(part, env)
        name = getattr(call.func, "name", "")
        if name == "jax.debug.callback" or len(call.args) < 2:
            return expression("lambda *args, **kwargs: None")
        shapes = self.expression(call.args[1], env, call)
        body = ast.Call(
            expression("jax.tree.map"), [expression("lambda like: np.ones(like.shape, like.dtype)"), shapes], []
        )
        function = expression("lambda *args, **kwargs: None")
        function.body = body
        return function

    def _raising(self, part, env):
        name = env.root.new_name(names.identifier(getattr(part.fun, "__name__", "callback")))
        body = [self.raised(part.error)]
        env.root.body.append(_definition(name, expression("lambda *args, **kwargs: None").args, body))
        return ast.Name(name, ast.Load())

    def raised(self, error):
        """A statement that raises an error of the program's own again."""
        kind = type(error)
        if kind.__module__ != "builtins":
            self._note(f"{kind.__module__}.{kind.__qualname__} is raised as RuntimeError")
        name = kind.__name__ if kind.__module__ == "builtins" else "RuntimeError"
        args = [ast.Constant(arg) for arg in error.args if isinstance(arg, (str, int, float, type(None)))]
        if len(args) != len(error.args):
            args = [ast.Constant(str(error))]
        return ast.Raise(ast.Call(ast.Name(name, ast.Load()), args, []), None)

    # ---- functions

    def _function(self, part, env, call):
        scope = self.needed.scope_of(part, call)
        if scope is None or scope in self.open:
            self._note(f"{part.name} was never called")
            return expression("lambda *args, **kwargs: args")
        name = env.find(lambda env: env.functions.get(scope))
        if name is None:
            inner = self.body(scope, env)
            if inner.shadowed:
                inner = self.body(scope, env, inner.shadowed)
            body = tidied(inner.body)
            arguments = self.arguments(scope, inner)
            if len(body) == 1 and isinstance(body[0], ast.Return) and part.name == "<lambda>":
                return ast.Lambda(arguments, body[0].value)
            name = self._defined(part, scope, env, inner, arguments, body)
        return ast.Name(name, ast.Load())

    def _defined(self, part, scope, env, inner, arguments, body):
        home = env if inner.is_closure else env.root
        definition = _definition("", arguments, body)
        definition.function, text = part, ast.dump(definition)
        for old in home.body:
            if getattr(old, "function", None) is part and old.text == text:  # traced twice
                return old.name
        name = definition.name = home.new_name(names.identifier(part.name))
        definition.text = text
        home.body.append(definition)
        home.functions[scope] = name
        return name

    def body(self, scope, env, avoided=frozenset()):
        """The statements of a traced function. Its parameters keep their names, those `avoided` excepted."""
        self.open.append(scope)
        inner = Env(scope, env)
        for name, _, _ in scope.params:
            inner.params[name] = inner.new_name(name) if name in avoided else name
            inner.own.add(inner.params[name])
        only = self.needed.only[1] if scope is self.needed.only[0] else None
        for call in scope.calls if only is None else [only]:
            if call in self.needed.calls and self._is_before_failure(scope, call):
                self.statement(call, inner)
        if only is not None:
            inner.body += self._total(only, inner)
        elif scope not in self.needed.failing:
            inner.body.append(ast.Return(self.expression(scope.result, inner, None)))
        elif scope.failing is None:
            inner.body.append(self.raised(scope.error))
        self.open.pop()
        return inner

    def _total(self, call, env):
        """Return a number that depends on what a call gives."""
        known = list(leaves(call.result)) if call.result is not None else []
        leaf = next((leaf for leaf in known if is_float(leaf.like)), known[0] if known else None)
        return [] if leaf is None else [ast.Return(ast.Call(expression("jnp.sum"), [_reached(leaf, env)], []))]

    def _is_before_failure(self, scope, call):
        return call.error is None or call is scope.failing

    def arguments(self, scope, env):
        """The parameters of a function, as it was called."""
        arguments = ast.arguments([], [], None, [], [], None, [])
        for name, kind, _ in scope.params:
            argument = ast.arg(env.params[name])
            if kind == inspect.Parameter.VAR_POSITIONAL:
                arguments.vararg = argument
            elif kind == inspect.Parameter.VAR_KEYWORD:
                arguments.kwarg = argument
            elif kind == inspect.Parameter.KEYWORD_ONLY:
                arguments.kwonlyargs.append(argument)
                arguments.kw_defaults.append(None)
            else:
                arguments.args.append(argument)
        return arguments

    def _rules(self, part, env, call):
        """A function with rules: decorated, then its rules defined."""
        name = env.find(lambda env: env.functions.get(part))
        if name is not None:
            return ast.Name(name, ast.Load())
        args = [self.expression(each, env, call) for each in (part.fun, *part.args)]
        kwargs = [ast.keyword(key, self.expression(each, env, call)) for key, each in part.kwargs.items()]
        rules = [
            (method, [self.expression(each, env, call) for each in given],
             [ast.keyword(key, self.expression(each, env, call)) for key, each in named.items()])
            for method, given, named in part.definitions
        ]  # fmt: skip
        name = env.new_name(names.identifier(getattr(part.fun, "name", "f").rpartition(".")[2]))
        env.functions[part] = name
        env.body.append(
            ast.Assign([ast.Name(name, ast.Store())], ast.Call(expression(conventional(part.name)), args, kwargs))
        )
        for method, given, named in rules:
            env.body.append(
                ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), method, ast.Load()), given, named))
            )
        return ast.Name(name, ast.Load())


def conventional(name):
    """A public name as people write it."""
    for full, short in _ALIASES:
        if name.startswith(full) and "." not in name[len(full) :]:
            return short + name[len(full) :]
    return name


def whole_of(node):
    """The Ref of a container that stands in one piece in what a call gave or a function got, or None."""
    if not node.items or node.kind is slice:
        return None
    parts = [whole_of(item) if isinstance(item, Node) else item for item in node.items]
    first = parts[0]
    if not isinstance(first, Ref) or not first.path:
        return None
    source, path = first.source, first.path[:-1]
    there = _at(source, path)
    if not isinstance(there, Node) or there.kind is not node.kind or list(there.keys) != list(node.keys):
        return None
    for part, key in zip(parts, node.keys):
        if not isinstance(part, Ref) or part.source is not source or part.path != (*path, key):
            return None
    if not path and (not isinstance(source, Call) or source.result.kind in (tuple, list)):
        return None  # its parts have names
    return Ref(source, path)


def _at(source, path):
    """What stands at a path of what a call gave or a function got."""
    if isinstance(source, Call):
        tree = source.result
    else:
        if not path:
            return None
        tree = next((tree for name, _, tree in source.params if name == path[0]), None)
        path = path[1:]
    for key in path:
        if not isinstance(tree, Node) or key not in tree.keys:
            return None
        tree = tree.items[tree.keys.index(key)]
    return tree


def _reached(ref, env):
    """The expression of a Ref by the names known here, None where it is out of reach."""
    source, path = ref.source, ref.path
    if isinstance(source, Call):
        known = env.find(lambda env: env.known.get(source))
        if isinstance(known, list):
            known, path = known[path[0]], path[1:]
    else:
        known = env.find(lambda env: env.params.get(path[0]) if env.scope is source else None)
        path = path[1:]
    if known is None:
        return None
    value = ast.Name(known, ast.Load())
    for key in path:
        value = ast.Subscript(value, ast.Constant(key), ast.Load())
    return value


def _differentiable(env):
    """The first float that the innermost function is given which is given any: its expression and type."""
    while env is not None and env.scope is not None:
        for name, _, tree in env.scope.params:
            leaf = next((leaf for leaf in leaves(tree) if is_float(leaf.like)), None)
            if leaf is not None:
                value = ast.Name(env.params[name], ast.Load())
                for key in leaf.path[1:]:
                    value = ast.Subscript(value, ast.Constant(key), ast.Load())
                return value, leaf.like
        env = env.parent
    return None


def _linked(array, like, given, given_like):
    """An array that depends on another, and has its own shape."""
    if tuple(like.shape) == tuple(given_like.shape):
        return given
    total = ast.Call(expression("jnp.sum"), [given], []) if given_like.shape else given
    return ast.BinOp(array, ast.Mult(), total) if like.shape else total


def _has_refs(tree):
    return next(leaves(tree), None) is not None


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _definition(name, arguments, body):
    definition = ast.FunctionDef(name, arguments, body or [ast.Pass()], [], None, None)
    definition.type_params = []
    return definition
