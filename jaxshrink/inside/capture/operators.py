"""Calls of special methods as operators, of methods as methods."""

import ast

from .calls import Attribute, Method, Operator
from .constants import expression

_BINARY = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod,
    "pow": ast.Pow, "matmul": ast.MatMult, "and": ast.BitAnd, "or": ast.BitOr, "xor": ast.BitXor,
    "lshift": ast.LShift, "rshift": ast.RShift,
}  # fmt: skip
_UNARY = {"neg": ast.USub, "pos": ast.UAdd, "invert": ast.Invert}
_COMPARE = {"eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE}
_CALLS = {"index": "operator.index", "array": "np.asarray"}


def applied(func, noted, args, kwargs):
    """`noted` called with these arguments; `func` is its expression, where it has one of its own."""
    if isinstance(noted, Operator):
        return _operator(noted.name, args, kwargs)
    if isinstance(noted, Method):
        if noted.is_property:
            return ast.Attribute(args[0], noted.name, ast.Load())
        return _call(ast.Attribute(args[0], noted.name, ast.Load()), args[1:], kwargs)
    if isinstance(noted, Attribute) and isinstance(noted.base, Operator):  # x.at[i].set(y)
        at = ast.Subscript(ast.Attribute(args[0], "at", ast.Load()), args[1], ast.Load())
        return _call(ast.Attribute(at, noted.name, ast.Load()), args[2:], kwargs)
    return _call(func, args, kwargs)


def _call(func, args, kwargs):
    args = [_as_argument(arg) for arg in args]
    return ast.Call(func, args, [ast.keyword(name, _as_argument(value)) for name, value in kwargs.items()])


def _as_argument(node):
    """A slice outside a subscript is a call."""
    if isinstance(node, ast.Slice):
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return ast.Call(ast.Name("slice", ast.Load()), parts, [])
    return node


def _operator(name, args, kwargs):
    if name in _BINARY and len(args) == 2:
        return ast.BinOp(args[0], _BINARY[name](), args[1])
    if name.startswith("r") and name[1:] in _BINARY:
        return ast.BinOp(args[1], _BINARY[name[1:]](), args[0])
    if name in _UNARY:
        return ast.UnaryOp(_UNARY[name](), args[0])
    if name in _COMPARE:
        return ast.Compare(args[0], [_COMPARE[name]()], [args[1]])
    if name == "getitem":
        return ast.Subscript(args[0], args[1], ast.Load())
    if name == "setitem":
        return ast.Assign([ast.Subscript(args[0], args[1], ast.Store())], args[2])
    if name == "contains":
        return ast.Compare(args[1], [ast.In()], [args[0]])
    if name == "rdivmod":
        return _call(ast.Name("divmod", ast.Load()), args[::-1], kwargs)
    return _call(expression(_CALLS.get(name, name)), args, kwargs)
