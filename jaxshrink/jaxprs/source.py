"""Jaxprs as Python source, and source as functions."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import linecache
import sys
from collections.abc import Callable, Iterator
from typing import Any

from jaxshrink.inside.capture import names
from jaxshrink.inside.capture.constants import Unwritable, hole
from jaxshrink.inside.capture.head import imports
from jaxshrink.inside.capture.layout import tidied
from jaxshrink.inside.capture.naming import named
from jaxshrink.inside.capture.writer import RESERVED
from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.contexts import inner_mesh
from jaxshrink.jaxprs.errors import Inexpressible
from jaxshrink.jaxprs.lines import laid_out
from jaxshrink.jaxprs.texts import text
from jaxshrink.jaxprs.writer import Writer

_count = itertools.count(1)


def to_source(closed_jaxpr: Any, name: str = "f", called: bool = False) -> str:
    """Readable Python that computes what a jaxpr does.

    The text is a module: a function of this name, which takes the jaxpr's arguments one by one and returns its result,
    or a tuple of them; before it the functions that it calls; large constants at the end, as bytes. Tracing it gives
    the same jaxpr, but for names, equations whose results nothing reads and the order of closed-over values.
    Expressions are operators and functions of `jax.numpy` where these are traced to the very same equations under
    JAX's present settings, of `jax.lax` otherwise; a primitive that has no function is bound itself. What JAX has
    traced under `jax.set_mesh` must be called under that mesh.

    With `called` the text is a program: it ends with a call on arrays of ones, compiled as a whole.

    Raises Inexpressible for what has no form as source, such as callbacks.
    """
    writer = Writer()
    module = writer.module()
    module.define(internals.closed(closed_jaxpr), name, exact=name)
    call = _call(closed_jaxpr, name) if called else []
    written = writer.finished()
    lines = [*writer.arrays.lines, *written, *writer.arrays.data, *call]
    whole = "\n".join(lines)
    tree = ast.parse(whole)
    _tidy(tree.body, whole.splitlines())
    tree.body[:0] = imports(tree.body, ((), _settings(closed_jaxpr)))
    modules = _modules(tree)
    tree.body[:0] = [ast.Import([ast.alias(one)]) for one in sorted(modules)]
    named(tree, RESERVED | {name} | {module.partition(".")[0] for module in modules})
    return laid_out(tree)


def from_source(source: str) -> Callable[..., Any]:
    """The function that a text of `to_source` defines: the last of its functions. The text is executed.

    Raises SyntaxError, ValueError where it defines no function, and what the text raises.
    """
    functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    if not functions:
        raise ValueError("the source defines no function")
    file = f"<jaxpr {next(_count)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # for tracebacks
    namespace: dict[str, Any] = {"__name__": "jaxpr"}
    exec(compile(source, file, "exec"), namespace)
    made: Callable[..., Any] = namespace[functions[-1]]
    return made


def _call(jaxpr: Any, name: str) -> list[str]:
    """A call that runs all of it, on devices if it is for a mesh of these."""
    ones = ", ".join(_ones(var.aval) for var in internals.opened(jaxpr).invars)
    call = f"jax.block_until_ready(jax.jit({name})({ones}))"
    mesh = inner_mesh(jaxpr)
    made = "" if mesh is None else text(mesh)
    devices = made.removesuffix(".abstract_mesh")
    return [call] if devices == made else [f"with jax.set_mesh({devices}):", f"    {call}"]


def _ones(aval: Any) -> str:
    try:
        return str(hole(aval))
    except Unwritable as error:
        raise Inexpressible(f"there is no array of the type {error}") from None


def _tidy(body: list[ast.stmt], lines: list[str]) -> None:
    """Values that only the next statement of the same scope reads stand in it, in all functions."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            _tidy(statement.body, lines)
            statement.body = tidied(_unblocked(statement.body, ()), in_order=True)
        elif isinstance(statement, ast.With):
            _tidy(statement.body, lines)
        elif statement.lineno == statement.end_lineno:
            statement.length = len(names.plain(lines[statement.lineno - 1].strip()))  # type: ignore[attr-defined]


@dataclasses.dataclass(frozen=True, eq=False)
class _Context:
    """A context of statements, as `layout` wants it."""

    written: ast.expr


def _unblocked(body: list[ast.stmt], within: tuple[_Context, ...]) -> list[Any]:
    """Statements, each with the contexts that it stands in, without the blocks of these."""
    found: list[Any] = []
    for statement in body:
        if isinstance(statement, ast.With):
            found += _unblocked(statement.body, (*within, _Context(statement.items[0].context_expr)))
        else:
            statement.within = within  # type: ignore[attr-defined]
            found.append(statement)
    return found


def _modules(tree: ast.Module) -> set[str]:
    """Modules that are read by their whole names, but for JAX's own: those of the standard library, those that have
    primitives."""
    found = {ast.unparse(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {name for name in found & sys.modules.keys() if name.partition(".")[0] != "jax"}


def _settings(jaxpr: Any) -> list[str]:
    """64 bits, where the jaxpr has them."""
    wide = ("int64", "uint64", "float64", "complex128")
    found = any(str(getattr(var.aval, "dtype", "")) in wide for var in _variables(jaxpr, set()))
    return ["jax.config.update('jax_enable_x64', True)"] if found else []


def _variables(jaxpr: Any, seen: set[int]) -> Iterator[Any]:
    """All variables of a jaxpr and of those in it, each jaxpr once."""
    if id(jaxpr) in seen:
        return
    seen.add(id(jaxpr))
    parts = internals.opened(jaxpr)
    yield from (*parts.invars, *parts.constvars)
    for eqn in parts.eqns:
        yield from eqn.outvars
        for part in internals.called(eqn.params):
            yield from _variables(part, seen)
