"""Subclasses of `threading.Thread`, as plain classes of which a thread runs a method: then they can be dissolved."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.passes.classes import making_call
from jaxshrink.tree import DELETE, Edit, Replacement
from jaxshrink.view import View


def threads(view: View) -> Iterator[Edit]:
    """`class C(Thread)` is `class C`, and `c.start()` is `threading.Thread(target=c.run, daemon=True).start()`."""
    for cls in view.all(ast.ClassDef):
        bases = [base for base in cls.bases if ast.unparse(base) in ("threading.Thread", "Thread")]
        binding = view.binding(cls)
        starts = [start for use in binding.uses for start in _starts(view, use)] if binding is not None else []
        if not bases or not starts:
            continue
        changes: dict[ast.AST, Replacement] = dict.fromkeys(bases, DELETE)
        for call in view.all(ast.Call):
            if view.inside(call, cls) and ast.unparse(call.func) in ("super().__init__", "threading.Thread.__init__"):
                changes[view.statement(call)] = DELETE
        for start in starts:
            run = ast.Attribute(start.value, "run", ast.Load())
            daemon = ast.keyword("daemon", ast.Constant(True))
            thread = ast.Call(trees.expression("threading.Thread"), [], [ast.keyword("target", run), daemon])
            changes[start] = ast.Attribute(thread, "start", ast.Load())
        yield Edit(changes, 4, ("thread", trees.identity(cls)))


def _starts(view: View, use: ast.Name) -> Iterator[ast.Attribute]:
    """Where a thread that is made of the class is started."""
    making = making_call(view, use)
    above = view.parents[making] if making is not None else None
    match above:
        case ast.Attribute(attr="start"):
            yield above
        case ast.Assign(targets=[ast.Name() as target]):
            binding = view.binding(target)
            for read in binding.uses if binding is not None else ():
                start = view.parents[read]
                if isinstance(start, ast.Attribute) and start.attr == "start":
                    yield start
