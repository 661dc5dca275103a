"""Recorded calls as a program."""

import ast
import sys

from . import names
from .calls import Attribute, Call, Function, Method, Node, Operator, Ref, leaves
from .constants import Unwritable, expression, hole, is_float
from .definitions import arguments, canonical, definition, own_class, raised, stub, unhashable_class, unused_rule
from .env import Env, differentiable, has_refs, linked, placeholder, reached, whole_of
from .head import imports
from .layout import tidied
from .naming import named
from .operators import applied
from .values import is_tracer

RESERVED = {"jax", "jnp", "np", "lax", "pl", "pltpu", "P", "data", "os", "operator", *names.RESERVED}
"""Names that no variable of a jaxpr gets; a program may use them itself."""

_ALIASES = (("jax.numpy.", "jnp."), ("jax.lax.", "lax."), ("jax.experimental.pallas.", "pl."))


class Writer:
    """Writes the program of a call. `notes` tells what cannot be expressed."""

    def __init__(self, needed, constants, settings=((), ())):
        self.needed, self.constants, self.settings = needed, constants, settings
        self.notes, self.open, self.count, self.lists = [], [], 0, {}

    def program(self, calls):
        """The module that makes these calls of the outermost level."""
        env = Env()
        calls = [*(call for call in self.needed.before if call not in calls), *calls]
        for call in calls:
            self.statement(call, env, is_last=call is calls[-1])
        module = ast.Module(tidied(env.body), [])
        head = imports(module.body, self.settings)  # what it reads is told from its own names by these being not final
        module = named(module)
        module.body[:0] = head
        return ast.fix_missing_locations(module)

    def new_name(self, wanted):
        self.count += 1
        return placeholder(wanted, self.count)

    # ---- statements

    def statement(self, call, env, is_last=False):
        before = env.within
        within = (*call.home.around, *call.within) if env.parent is None else call.within
        env.within = tuple(filter(self._counts, within))
        for context in env.within:
            context.written = self.expression(context.expression, env, call)
        value = self.called(call, env)
        if isinstance(value, ast.stmt):
            env.add(value)
        elif env.scope is not None and env.scope in self.needed.failing and call is env.scope.failing:
            env.add(ast.Return(value))  # it may fail not before its result is used
        else:
            target = self._target(call, env) if not is_last else None
            env.add(ast.Expr(value) if target is None else ast.Assign([target], value))
        env.within = before

    def _counts(self, context):
        """Whether a context is written: names in the compiled module are not what a failure is about."""
        func = getattr(context.expression, "func", None)
        return self.needed.everything or getattr(func, "name", None) != "jax.named_scope"

    def _target(self, call, env):
        """The names for what a call gives."""
        if call.error is not None or call.result is None or not has_refs(call.result):
            return None
        wanted = names.of_place(call.place)
        if isinstance(call.result, Node) and call.result.kind in (tuple, list) and call.result.items:
            count = len(call.result.items)
            wanted = wanted if isinstance(wanted, list) and len(wanted) == count else [None] * count
            env.known[call] = [self.new_name(one) for one in wanted]
            return ast.Tuple([ast.Name(name, ast.Store()) for name in env.known[call]], ast.Store())
        env.known[call] = self.new_name(wanted if isinstance(wanted, str) else None)
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
            if _is_deleted(part.value):
                return self._deleted(part, env)
            if is_tracer(part.value):
                return self._hole(Ref(None, (), part.value.aval), env)
            return expression(self.constants.source(part.value))
        except Unwritable as error:
            self._note(f"{error} is not written down")
            return self._opaque(part.value, env)

    def _opaque(self, value, env):
        """An object that stands for one of the program's own: JAX has seen nothing of it but its class."""
        kind = type(value)
        if kind.__module__.partition(".")[0] in ("builtins", "jax", "jaxlib", "numpy"):
            return ast.Constant(None)
        return ast.Call(own_class(kind, env, self.constants.public), [], [])

    def _deleted(self, part, env):
        """An array that was donated, or deleted."""
        name = ast.Name(self.new_name(None), ast.Load())
        env.root.add(ast.Assign([ast.Name(name.id, ast.Store())], expression(hole(part.value.aval))))
        env.root.add(ast.Expr(ast.Call(ast.Attribute(name, "delete", ast.Load()), [], [])))
        return name

    def _note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def _public(self, part, env, call):
        return expression(conventional(part.name))

    def _ref(self, part, env, call):
        found = reached(part, env)
        if found is None and part.like is None and isinstance(part.source, Call) and part.source not in self.open:
            self.open.append(part.source)  # no array that could stand for it: the call that made it
            before, env.root.within = env.root.within, env.root.within
            self.statement(part.source, env.root)
            env.root.within = before
            self.open.pop()
            found = reached(part, env)
        return found or self._hole(part, env)

    def _hole(self, part, env):
        """An array like the one that is out of reach; it depends on what the function is given, as that may count."""
        try:
            array = expression(hole(part.like))
            if part.source is None or self.needed.everything:
                self._note(f"where a value of type {_short(part.like)} comes from: ones stand for it")
            given = differentiable(env) if self.needed.skeleton and is_float(part.like) else None
            return array if given is None else linked(array, part.like, *given)
        except Unwritable as error:
            self._note(f"{error} is out of reach and not written down")
            return ast.Constant(None)

    def _leaked(self, part, env, call):
        """What has left its function by a list."""
        if part.ref not in self.lists:
            return self._hole(part.ref, env)
        return ast.Subscript(ast.Name(self.lists[part.ref], ast.Load()), ast.Constant(0), ast.Load())

    def _leak(self, source, env):
        """Have the values of a source that others read when its function has ended leave it, each by a list."""
        for ref in self.needed.leaks.get(source, ()):
            if ref not in self.lists:
                self.lists[ref] = self.new_name("leaked")
                env.root.body.insert(0, ast.Assign([ast.Name(self.lists[ref], ast.Store())], ast.List([], ast.Load())))
                env.root.body[0].within = ()
            add = ast.Attribute(ast.Name(self.lists[ref], ast.Load()), "append", ast.Load())
            env.add(ast.Expr(ast.Call(add, [reached(ref, env)], [])))

    def _node(self, part, env, call):
        whole = whole_of(part)
        found = reached(whole, env) if whole is not None else None
        if found is not None:
            return found
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
        self._note(f"what the host function {part.name} gives: ones stand for it")
        shapes = self.expression(call.args[1], env, call)
        body = ast.Call(
            expression("jax.tree.map"), [expression("lambda like: np.ones(like.shape, like.dtype)"), shapes], []
        )
        function = expression("lambda *args, **kwargs: None")
        function.body = body
        return function

    def _raising(self, part, env):
        name = self.new_name(names.identifier(part.name))
        body = [self.raised(part.error, env)]
        env.root.add(definition(name, expression("lambda *args, **kwargs: None").args, body))
        return ast.Name(name, ast.Load())

    def raised(self, error, env):
        return raised(error, env, self.constants, self.constants.public)

    # ---- functions

    def _function(self, part, env, call):
        scope = self.needed.scope_of(part, call)
        if scope is None and part.unhashable is not None:
            return ast.Call(unhashable_class(part.name, env), [self.expression(part.unhashable, env, call)], [])
        if scope is None or scope in self.open:
            return self._stub(part, env)
        name = env.find(lambda env: env.functions.get(scope))
        if name is None:
            self.open.append(scope)
            inner = self.body(scope, env)
            self.open.pop()
            body, given = tidied(inner.body), arguments(scope, inner)
            value = _only_value(body)
            if value is not None and part.name == "<lambda>":
                return ast.Lambda(given, value)
            home = env if inner.is_closure else env.root
            name = home.functions[scope] = self._defined(part, home, given, body)
        return ast.Name(name, ast.Load())

    def _stub(self, part, env):
        """What stands for a function that was never called."""
        if part.name == "<lambda>":
            return ast.Lambda(stub(part, self.new_name), ast.Constant(None))
        name = env.root.functions.get(part)
        if name is None:
            name = env.root.functions[part] = self._defined(part, env.root, stub(part, self.new_name), [])
        return ast.Name(name, ast.Load())

    def _primal(self, part, env, call):
        """The function that has rules. If only its forward rule ever ran, it is what that gives first."""
        forward = next((args[0] for name, args, _ in part.definitions if name == "defvjp" and args), None)
        known = getattr(forward, "signature", None) and self.needed.scope_of(forward, call)
        if part.fun.__class__ is not Function or self.needed.scope_of(part.fun, call) is not None or known is None:
            return self.expression(part.fun, env, call)
        given = stub(part.fun, self.new_name)
        if given.vararg or given.kwarg or given.kwonlyargs or known in self.needed.failing:
            return self.expression(part.fun, env, call)
        names_of = [ast.Name(one.arg, ast.Load()) for one in given.args]
        value = ast.Subscript(ast.Call(self.expression(forward, env, call), names_of, []), ast.Constant(0), ast.Load())
        return ast.Name(self._defined(part.fun, env, given, [ast.Return(value)]), ast.Load())

    def _options(self, given, named, call):
        """Options of rules, such as for symbolic zeros: what stands for rules that never ran heeds none."""
        ran = [each for each in given if isinstance(each, Function) and self.needed.scope_of(each, call) is not None]
        return list(named.items()) if ran else []

    def _rule(self, method, index, part, name, env, call):
        """A rule of the function `name`; one that never ran gives what that gives, and nothing besides."""
        if isinstance(part, Function) and self.needed.scope_of(part, call) is None:
            given = stub(part, self.new_name)
            value = unused_rule(method, index, name, given)
            if value is not None:
                return ast.Name(self._defined(part, env, given, [ast.Return(value)]), ast.Load())
        return self.expression(part, env, call)

    def _defined(self, part, home, given, body):
        found = definition("", given, body)
        key = part, canonical(found)
        if key not in home.texts:  # else it was traced twice
            found.name = home.texts[key] = self.new_name(names.identifier(part.name))
            home.add(found)
        return home.texts[key]

    def body(self, scope, env):
        """The statements of a traced function."""
        inner = Env(scope, env)
        for name, _, _ in scope.params:
            inner.params[name] = self.new_name(name)
        self._leak(scope, inner)
        only = self.needed.only[1] if scope is self.needed.only[0] else None
        for call in scope.calls if only is None else [only]:
            if call in self.needed.calls and self._is_before_failure(scope, call):
                self.statement(call, inner)
                self._leak(call, inner)
        if only is not None:
            self._total(only, inner)
        elif scope not in self.needed.failing:
            inner.add(ast.Return(self.expression(scope.result, inner, None)))
        elif scope.failing is None:
            inner.add(self.raised(scope.error, inner))
        return inner

    def _total(self, call, env):
        """Return a number that depends on what a call gives."""
        known = list(leaves(call.result)) if call.result is not None else []
        leaf = next((leaf for leaf in known if is_float(leaf.like)), known[0] if known else None)
        value = reached(leaf, env) if leaf is not None else None
        if value is not None:
            env.add(ast.Return(ast.Call(expression("jnp.sum"), [value], [])))

    def _is_before_failure(self, scope, call):
        return call.error is None or call is scope.failing

    def _rules(self, part, env, call):
        """A function with rules: decorated, then its rules defined."""
        key = part, self.needed.rule_scopes(part, call)
        name = env.find(lambda env: env.functions.get(key) or env.functions.get(part))
        if name is not None:
            return ast.Name(name, ast.Load())
        args = [self.expression(each, env, call) for each in part.args]
        kwargs = [ast.keyword(key, self.expression(each, env, call)) for key, each in part.kwargs.items()]
        primal = self._primal(part, env, call)
        maker = expression(conventional(part.name))
        home = env
        if args or kwargs or not _is_decorated(primal, env, maker):
            name = self.new_name(names.identifier(getattr(part.fun, "name", "f").rpartition(".")[2]))
            env.add(ast.Assign([ast.Name(name, ast.Store())], ast.Call(maker, [primal, *args], kwargs)))
        else:
            name = primal.id
            home = next(each for each in (env, env.root) if name in each.texts.values())
            home.forget(name)
        home.functions[key] = home.functions[part] = name  # its rules may call it
        rules = [
            (method, [self._rule(method, i, each, name, home, call) for i, each in enumerate(given)],
             [ast.keyword(key, self.expression(each, home, call)) for key, each in self._options(given, named, call)])
            for method, given, named in part.definitions
        ]  # fmt: skip
        for method, given, named_ in rules:
            function = ast.Attribute(ast.Name(name, ast.Load()), method, ast.Load())
            home.add(ast.Expr(ast.Call(function, given, named_)))
        del home.functions[part]
        return ast.Name(name, ast.Load())


def _only_value(body):
    """What a function of these statements gives, where they say nothing else."""
    is_kept = len(body) == 2 and isinstance(body[0], ast.Expr) and _is_append(body[0].value)
    if is_kept and _is_none(body[1].value):
        return body[0].value
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _is_append(value):
    return isinstance(value, ast.Call) and getattr(value.func, "attr", None) == "append"


def _is_decorated(primal, env, maker):
    """Decorate a function that has just been defined and has no other use."""
    for each in (env, env.root):
        last = each.body[-1] if each.body else None
        if isinstance(last, ast.FunctionDef) and isinstance(primal, ast.Name) and last.name == primal.id:
            last.decorator_list.append(maker)
            return True
    return False


def conventional(name):
    """A public name as people write it."""
    for full, short in _ALIASES:
        if name.startswith(full) and "." not in name[len(full) :]:
            return short + name[len(full) :]
    return name


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _short(aval):
    return aval.str_short() if hasattr(aval, "str_short") else f"{aval.dtype}{list(aval.shape)}"


def _is_deleted(value):
    return isinstance(value, sys.modules["jax"].Array) and not hasattr(value, "_trace") and value.is_deleted()
