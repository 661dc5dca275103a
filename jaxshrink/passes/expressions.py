"""Smaller expressions: a part in place of the whole, fewer elements, plain values."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.arrays import in_shape
from jaxshrink.tree import Edit
from jaxshrink.view import View

SHORT = 2
"""Nodes of a name or a constant."""

LONG = 12
"""Nodes of an expression that is worth its observed value; shorter ones get a plain value as well."""


def constants(view: View) -> Iterator[Edit]:
    """Put a plain value in the place of an expression."""
    for node in view.all(ast.expr):
        if trees.extent(node) > (1 if view.thorough else SHORT) and replaceable(view, node):
            for plain in _plain_values(view, node):
                yield Edit.replace(node, trees.expression(plain))


def hoist(view: View) -> Iterator[Edit]:
    """Put one of its parts in the place of an expression."""
    for node in view.all(ast.expr):
        if replaceable(view, node):
            for part in parts(node):
                if _is_class(view, part):
                    continue  # in place of an instance it would puzzle
                if view.thorough or trees.extent(part) > SHORT or isinstance(part, ast.Name):
                    yield Edit.replace(node, part)


def sums(view: View) -> Iterator[Edit]:
    """Put `x + x` in the place of a call that is given `x`, where something must be computed of it."""
    for call in view.all(ast.Call) if view.thorough else ():
        for arg in call.args if replaceable(view, call) else ():
            binding = view.binding(arg)
            if binding is not None and all(isinstance(each, ast.arg | ast.Name) for each in binding.definitions):
                yield Edit.replace(call, ast.BinOp(arg, ast.Add(), trees.clone(arg)))


def hoist_deep(view: View) -> Iterator[Edit]:
    """Put any expression below it in the place of what a statement computes, or of an argument of what it tests."""
    for statement in trees.walk_statements(view.tree):
        for value in _computed(statement):
            direct = set(parts(value))
            for node in ast.walk(value):
                if isinstance(node, ast.expr) and node is not value and node not in direct and _is_value(node):
                    yield Edit.replace(value, node)


def elements(view: View) -> Iterator[Edit]:
    """Delete arguments, elements of displays, keys, decorators, bases, defaults, conditions, imports, handlers."""
    for node in view.nodes:
        for child in _elements(node):
            yield Edit.delete(child)


def materialise(view: View) -> Iterator[Edit]:
    """Put the value that was observed in the place of a long expression, or of what is taken of something."""
    for node in view.all(ast.expr):
        if (_is_taken(node) or trees.extent(node) > LONG) and replaceable(view, node):
            value = view.rendered(node)
            if value is not None:
                yield Edit.replace(node, value)


def _is_taken(node: ast.expr) -> bool:
    """Whether an expression gives what another holds or makes, without saying anything of it."""
    match node:
        case ast.Attribute() | ast.Subscript() | ast.Call(args=[], keywords=[]) | ast.Call(func=ast.Name(id="next")):
            return True
    return False


def empty_functions(view: View) -> Iterator[Edit]:
    """Let a function, or a branch of a conditional expression, do nothing."""
    for node in view.all(ast.FunctionDef, ast.AsyncFunctionDef):
        yield Edit.delete(*node.body)
    for function in view.all(ast.Lambda):
        for arg in function.args.args:
            yield Edit.replace(function.body, ast.Name(arg.arg, ast.Load()))


def parts(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions directly below one that could stand in its place."""
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            yield from (arg.value if isinstance(arg, ast.Starred) else arg for arg in args)
            yield from (keyword.value for keyword in keywords)
            if isinstance(func, ast.Attribute):
                yield func.value
            yield func
        case ast.Dict(values=values):
            yield from values
        case ast.ListComp(elt=elt) | ast.SetComp(elt=elt) | ast.GeneratorExp(elt=elt):
            yield from (elt, *(generator.iter for generator in node.generators))
        case ast.DictComp(value=value):
            yield from (value, *(generator.iter for generator in node.generators))
        case ast.JoinedStr(values=values):
            yield from (piece.value for piece in values if isinstance(piece, ast.FormattedValue))
        case ast.Attribute(value=value):
            yield value
            yield from _given(value)
        case ast.Subscript(value=value, slice=index):
            yield value
            yield from _given(value)
            if not isinstance(index, ast.Slice | ast.Tuple):
                yield index
        case _:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield child.value if isinstance(child, ast.Starred) else child


def _given(node: ast.expr) -> Iterator[ast.expr]:
    """What a call is given: of `C(x, y).a` it may be all that counts."""
    if isinstance(node, ast.Call):
        yield from (arg for arg in node.args if not isinstance(arg, ast.Starred))
        yield from (keyword.value for keyword in node.keywords)


def replaceable(view: View, node: ast.expr) -> bool:
    """May another expression stand where this one does?"""
    if not _is_value(node):
        return False
    parent = view.parents[node]
    match parent:
        case ast.Attribute() if isinstance(parent.value, ast.Name) and parent.value is node:
            binding = view.binding(node)  # `jnp` of `jnp.ones`
            return binding is None or not any(isinstance(each, ast.alias) for each in binding.definitions)
        case ast.JoinedStr() | ast.FormattedValue():
            return isinstance(parent, ast.FormattedValue) and parent.value is node
        case ast.keyword() | ast.Starred() | ast.expr() | ast.stmt() | ast.comprehension() | ast.withitem():
            return True
        case ast.arguments():
            return True
    return False


def _computed(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement computes, and the arguments of what it calls in its test."""
    value, test = getattr(statement, "value", None), getattr(statement, "test", None)
    if isinstance(value, ast.expr):
        yield value
    for call in ast.walk(test) if isinstance(test, ast.expr) else ():
        if isinstance(call, ast.Call):
            yield from call.args


def _is_class(view: View, node: ast.expr) -> bool:
    binding = view.binding(node)
    if binding is not None:
        return isinstance(binding.definitions[0], ast.ClassDef)
    return isinstance(node, ast.Name) and isinstance(getattr(builtins, node.id, None), type)


def _plain_values(view: View, node: ast.expr) -> tuple[str, ...]:
    """Values that are worth trying where the expression stands; none where it is called or looked into."""
    if in_shape(view, node):
        return ("1", "()")
    observed = view.stand_in(node) if view.observed(node) else None
    match view.parents[node]:
        case ast.Call(func=part) | ast.Attribute(value=part) | ast.Subscript(value=part) | ast.Expr(value=part) if (
            part is node
        ):
            return ()
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return ()
        case _ if isinstance(observed, ast.Constant) and isinstance(observed.value, bool):
            return ("False", "True", "None")
        case _ if isinstance(observed, ast.Constant):
            return (ast.unparse(observed), "None")
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return ("1.0",)
        case ast.Lambda() | ast.Return() if isinstance(node, ast.Call):  # many a function must return a pair
            return ("0", "None", "(0, 0)")
        case ast.keyword() | ast.Tuple() | ast.Dict() | ast.List():
            return ("1.0", "None")
    return ("0", "None")


def _is_value(node: ast.AST) -> bool:
    if isinstance(node, ast.Starred | ast.Slice | ast.FormattedValue):
        return False
    return isinstance(getattr(node, "ctx", None), ast.Load | None)


def _elements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Call(args=args, keywords=keywords):
            yield from args
            yield from keywords
        case ast.Tuple(elts=elts, ctx=ast.Load()) | ast.List(elts=elts, ctx=ast.Load()) | ast.Set(elts=elts):
            yield from elts
        case ast.Dict(values=values):
            yield from values
        case ast.BoolOp(values=values) | ast.JoinedStr(values=values):
            yield from values
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from node.decorator_list
        case ast.ClassDef(decorator_list=decorators, bases=bases, keywords=keywords):
            yield from (*decorators, *bases, *keywords)
        case ast.arguments():
            yield from _defaults(node)
        case ast.comprehension(ifs=conditions):
            yield from conditions
        case ast.Import(names=names) | ast.ImportFrom(names=names) if len(names) > 1:
            yield from names
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from items
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            yield from handlers
        case ast.Match(cases=cases):
            yield from cases
        case ast.Slice(lower=lower, upper=upper, step=step):
            yield from filter(None, (lower, upper, step))
        case ast.FormattedValue(format_spec=spec) if spec is not None:
            yield spec
        case ast.Raise(cause=ast.expr() as cause):
            yield cause


def _defaults(node: ast.arguments) -> Iterator[ast.AST]:
    yield from node.defaults[:1]  # a later one may not go before it
    yield from filter(None, node.kw_defaults)
