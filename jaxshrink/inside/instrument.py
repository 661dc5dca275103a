"""Source text → a tree that notes which statements ran and what its expressions gave.

`x = f(a)` becomes, with all positions kept,

    __jaxshrink_ran__[7] = 1
    x = __jaxshrink_13__(None, f(__jaxshrink_12__(None, a)))

and a module ends with `__jaxshrink_finished__(its name)`. Where the process is expected to die, there stands also
`__jaxshrink_snapshot__(whether it is expected right here)`. These names are looked up among the builtins,
so that no namespace of the program changes.
What must not change either: how often and where truth values are taken (tests are compiled to
jumps, so `and`, `or`, `not` and comparisons stay bare there), assignment targets,
patterns, annotations, docstrings and `from __future__`, class bodies with a metaclass.

Runs in the target interpreter.
"""

import ast

_PREFIX = "__jaxshrink_"
RAN = "__jaxshrink_ran__"
SNAPSHOT = "__jaxshrink_snapshot__"
FINISHED = "__jaxshrink_finished__"

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_RECORDED = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp,
    ast.JoinedStr, ast.Await, ast.ListComp, ast.SetComp, ast.DictComp, *_DISPLAYS,
)  # fmt: skip
_HARMLESS = (*_FUNCTIONS, ast.ClassDef, ast.Pass)
_UNRECORDED_CALLS = {"super", "locals", "globals", "vars", "dir", "print"}


class Sites:
    """The numbered places of all instrumented files."""

    def __init__(self):
        self.values = []  # (file, line, column, end line, end column) of each recorded expression
        self.expressions = []  # its node
        self.lines = []  # (file, first lines) of each statement; several where one mark stands for all
        self.functions = {}  # (file, first line with decorators, name) -> [Definition]
        self.classes = {}  # (file, qualified name) -> span
        self.deadly = None  # (file, line) of statements that may end the process; None: no snapshots are taken


class Definition:
    """Where a `def` or `lambda` stands, and what tells it from others on its line."""

    def __init__(self, file, node):
        of = node.args
        self.span = _span(file, node)
        self.decorated = bool(getattr(node, "decorator_list", ()))
        self.parameters = tuple(
            one.arg for one in (*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg) if one
        )


def instrument(tree, file, name, sites, local):
    """Instrument the tree of module `name`. `local(name)` says whether a top-level module is the program's own."""
    _Instrument(file, sites, _static_names(tree, local)).module(tree, name)
    return tree


def site_name(site):
    """The name of the function that the code at a site calls with (None, value), and which returns the value."""
    return f"{_PREFIX}{site}__"


def names_read(node):
    """Names that an (instrumented) expression reads; some may be its own, of a lambda or a comprehension."""
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)}
    return {name for name in names if not name.startswith(_PREFIX)}


class _Instrument:
    def __init__(self, file, sites, static):
        self.file, self.sites, self.static = file, sites, static
        self.is_deadly = False  # whether the process may die in the statements of this function or module
        self.path = []  # of the enclosing classes and functions, as in __qualname__

    def module(self, tree, name):
        self.is_deadly = self.sites.deadly is not None and name == "__main__"
        tree.body = self.block(tree.body, docstring=True)
        tree.body += ast.parse(f"{FINISHED}({name!r})").body

    # ---- statements

    def block(self, body, docstring=False):
        """The statements with a mark before each; what must stay first is marked behind."""
        first = 0
        if docstring and _is_docstring(body[:1]):
            first = 1
        while first < len(body) and isinstance(body[first], ast.ImportFrom) and body[first].module == "__future__":
            first += 1
        result = [*body[:first], *(self.mark(node, node.lineno) for node in body[:first])]
        for node in body[first:]:
            lines = _all_lines(node) if isinstance(node, ast.ClassDef) and node.keywords else [node.lineno]
            result += [self.mark(node, *lines), *self.snapshot(node)]
            self.statement(node)
            result.append(node)
        return result

    def mark(self, node, *lines):
        target = ast.Subscript(_name(RAN), ast.Constant(len(self.sites.lines)), ast.Store())
        self.sites.lines.append((self.file, lines))
        mark = ast.Assign([target], ast.Constant(1))
        for part in ast.walk(mark):
            _place(part, node)
        mark.lineno = mark.end_lineno = node.lineno
        return mark

    def may_die_in(self, function):
        """Whether one of the statements in which the process may die is this function's (or of one in it)."""
        lines = range(function.lineno, function.end_lineno + 1)
        return any(file == self.file and line in lines for file, line in self.sites.deadly or ())

    def snapshot(self, node):
        """A snapshot before a statement that may end the process."""
        if not self.is_deadly or isinstance(node, _HARMLESS):
            return []
        expected = any((self.file, line) in self.sites.deadly for line in _own_lines(node))
        call = ast.Call(_name(SNAPSHOT), [ast.Constant(expected)], [])
        snapshot = ast.Expr(call)
        for part in ast.walk(snapshot):
            _place(part, node)
        return [snapshot]

    def statement(self, node):
        if isinstance(node, _FUNCTIONS):
            self.function(node)
        elif isinstance(node, ast.ClassDef):
            self.class_(node)
        elif isinstance(node, ast.Expr):
            node.value = self.inside(node.value)
        elif type(node).__name__ != "TypeAlias":
            for field, value in ast.iter_fields(node):
                by = _FIELDS.get(field)
                if by and value:
                    setattr(node, field, by(self, value))

    def function(self, node, whole=True):
        """`whole`: with the decorators and defaults, which are evaluated outside."""
        self.define(node, node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)]))
        if whole:
            node.decorator_list = [self.inside(one) for one in node.decorator_list]
            self.defaults(node.args)
        self.path += [node.name, "<locals>"]
        outside, self.is_deadly = self.is_deadly, self.may_die_in(node)
        node.body = self.block(node.body, docstring=True)
        self.is_deadly = outside
        del self.path[-2:]

    def class_(self, node):
        qualified = ".".join([*self.path, node.name])
        self.sites.classes[self.file, qualified] = _span(self.file, node)
        node.decorator_list = [self.inside(one) for one in node.decorator_list]
        node.bases = [self.inside(one) for one in node.bases]
        self.path.append(node.name)
        if node.keywords:  # a metaclass may give a namespace that looks names up in its own way
            for one in node.body:
                if isinstance(one, _FUNCTIONS):
                    self.function(one, whole=False)
        else:
            node.body = self.block(node.body, docstring=True)
        self.path.pop()

    def define(self, node, name, first_line):
        definition = Definition(self.file, node)
        self.sites.functions.setdefault((self.file, first_line, name), []).append(definition)

    def defaults(self, arguments):
        arguments.defaults = [self.value(one) for one in arguments.defaults]
        arguments.kw_defaults = [one and self.value(one) for one in arguments.kw_defaults]

    def handlers(self, handlers):
        for handler in handlers:
            handler.body = self.block(handler.body)
        return handlers

    def cases(self, cases):
        for case in cases:
            case.guard = case.guard and self.test(case.guard)
            case.body = self.block(case.body)
        return cases

    def items(self, items):
        for item in items:
            item.context_expr = self.value(item.context_expr)
        return items

    def plain(self, node):
        """The value of a statement: recorded where the statement uses it."""
        return self.value(node) if isinstance(node, ast.expr) else node

    # ---- expressions

    def value(self, node):
        """`node` recorded, and all below it."""
        return self.record(self.inside(node)) if self.worth_recording(node) else self.inside(node)

    def test(self, node):
        """`node` where only its truth counts."""
        jumps = isinstance(node, (ast.BoolOp, ast.IfExp, ast.Compare))
        if jumps or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            return self.inside(node, test=True)
        return self.value(node)

    def worth_recording(self, node):
        if not isinstance(node, _RECORDED) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return False
        if isinstance(node, ast.Call):
            return not (isinstance(node.func, ast.Name) and node.func.id in _UNRECORDED_CALLS)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return _root(node) not in self.static
        return not _is_constant(node)

    def record(self, node):
        wrapper = ast.Call(_name(site_name(len(self.sites.values))), [], [])
        wrapper.args = [ast.Constant(None), node]
        for part in (wrapper, wrapper.func, wrapper.args[0]):
            _place(part, node)
        self.sites.values.append(_span(self.file, node))
        self.sites.expressions.append(node)
        return wrapper

    def inside(self, node, test=False):
        """`node` itself, with what is below it recorded."""
        kind = type(node)
        part = self.test if test else self.value
        if kind is ast.Call:
            node.func = self.callee(node.func)
            node.args = [self.value(one) for one in node.args]
            for keyword in node.keywords:
                keyword.value = self.value(keyword.value)
        elif kind is ast.Attribute:
            if _root(node) is None:
                node.value = self.value(node.value)
        elif kind is ast.Lambda:
            self.define(node, "<lambda>", node.lineno)
            self.defaults(node.args)
            node.body = self.value(node.body)
        elif kind is ast.BoolOp:
            node.values = [self.test(one) for one in node.values]
        elif kind is ast.IfExp:
            node.test, node.body, node.orelse = self.test(node.test), part(node.body), part(node.orelse)
        elif kind is ast.UnaryOp:
            node.operand = (self.test if isinstance(node.op, ast.Not) else self.value)(node.operand)
        elif kind is ast.Subscript:
            node.value = self.value(node.value)
            node.slice = self.subscript(node.slice)
        elif kind in _COMPREHENSIONS:
            self.comprehension(node)
        elif kind is not ast.JoinedStr and kind.__name__ != "TemplateStr":  # positions there differ by version
            for field, child in ast.iter_fields(node):
                if isinstance(child, ast.expr) and field != "target":
                    setattr(node, field, self.value(child))
                elif isinstance(child, list):
                    setattr(node, field, [self.value(one) if isinstance(one, ast.expr) else one for one in child])
        return node

    def callee(self, node):
        """What is called: a name or attribute is none of the values, the receiver of a method is."""
        if isinstance(node, ast.Attribute) and _root(node) not in self.static:
            node.value = self.value(node.value)
            return node
        return node if isinstance(node, (ast.Name, ast.Attribute)) else self.value(node)

    def subscript(self, node):
        """An index; displays and slices there are syntax and not values."""
        if isinstance(node, (ast.Tuple, ast.Slice)):
            for field, child in ast.iter_fields(node):
                if isinstance(child, list):
                    setattr(node, field, [self.subscript(one) for one in child])
                elif isinstance(child, ast.expr):
                    setattr(node, field, self.value(child))
            return node
        return self.value(node)

    def comprehension(self, node):
        for generator in node.generators:
            generator.iter = self.value(generator.iter)
            generator.ifs = [self.test(one) for one in generator.ifs]
        for field in ("elt", "key", "value"):
            if getattr(node, field, None) is not None:
                setattr(node, field, self.value(getattr(node, field)))


_FIELDS = {
    "body": _Instrument.block,
    "orelse": _Instrument.block,
    "finalbody": _Instrument.block,
    "handlers": _Instrument.handlers,
    "cases": _Instrument.cases,
    "items": _Instrument.items,
    "test": _Instrument.test,
    "value": _Instrument.plain,
    "iter": _Instrument.value,
    "subject": _Instrument.value,
    "msg": _Instrument.value,
    "exc": _Instrument.inside,
    "cause": _Instrument.inside,
}


def _static_names(tree, local):
    """Names that stand for library modules, functions and classes all through the file."""
    defined, stored = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                defined.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            own = node.level or local(node.module.partition(".")[0])
            (stored if own else defined).update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored.add(node.id)
        elif isinstance(node, ast.arg):
            stored.add(node.arg)
    return defined - stored


def _root(node):
    """`a` of `a.b.c`, None where the chain starts with something else than a name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_constant(node):
    if isinstance(node, ast.Dict):
        return all(key is not None and _is_constant(key) for key in node.keys) and all(map(_is_constant, node.values))
    if isinstance(node, _DISPLAYS):
        return all(map(_is_constant, node.elts))
    if isinstance(node, ast.BinOp):
        return _is_constant(node.left) and _is_constant(node.right)
    return _is_constant(node.operand) if isinstance(node, ast.UnaryOp) else isinstance(node, ast.Constant)


def _is_docstring(body):
    return bool(body) and isinstance(body[0], ast.Expr) and isinstance(getattr(body[0].value, "value", None), str)


def _all_lines(node):
    """First lines of a statement and of all those in it, functions in it excepted."""
    lines = [node.lineno]
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            lines += [child.lineno] if isinstance(child, _FUNCTIONS) else _all_lines(child)
    return lines


def _own_lines(node):
    """The lines of a statement without those of the statements in it, but for its first."""
    decorators = [one.lineno for one in getattr(node, "decorator_list", ())]
    inner = [child.lineno for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
    last = max(node.lineno, min(inner) - 1) if inner else node.end_lineno
    return range(min([node.lineno, *decorators]), last + 1)


def _span(file, node):
    return (file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _name(text):
    return ast.Name(text, ast.Load())


def _place(part, node):
    part.lineno, part.col_offset = node.lineno, node.col_offset
    part.end_lineno, part.end_col_offset = node.end_lineno, node.end_col_offset
