"""What raised in a function that JAX called back.

A compiled program calls the function, so no frame of it is on the failing stack; but the message quotes the traceback.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.lift.mentioned import collect
from jaxshrink.observation import Observation, Ref, Span, UserFrame
from jaxshrink.settle import CONVENTIONAL
from jaxshrink.tree import Edit
from jaxshrink.view import View

CALLS = {
    "pure": "jax.pure_callback({function}, {x}, {x})",
    "io": "jax.experimental.io_callback({function}, {x}, {x})",
    "debug": "jax.debug.callback({function}, {x})",
}
"""A call of each kind, which gives the function one array."""

IMPORTS = {"io": "import jax.experimental"}

ALONE = """
def {function}({x}):
    ...
{x} = jnp.ones(())
{call}
"""

COMPILED = """
def {function}({x}):
    ...
jax.jit(lambda {x}: {call})(1)
"""

LATER = """
def {function}({x}):
    if {x}:
        ...
    return {x}
{jitted} = jax.jit(lambda {x}: {call})
{jitted}(0)
{jitted}(1)
"""
"""The first call of a compiled function goes through Python, later ones do not, and raise other exceptions."""

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_KIND = re.compile(r"in (pure|io|debug)_callback_impl$", re.MULTILINE)


def called_back(view: View, observation: Observation) -> Iterator[UserFrame]:
    """The innermost frame of the program in the function called back; what it reads has the values observed there."""
    message = observation.outcome.message or ""
    kind = _KIND.search(message)
    for file, line, name in reversed(_FRAME.findall(message[kind.end() :]) if kind else ()):
        statement = _statement_at(view, file, int(line))
        if statement is not None:
            values: dict[str, Ref] = {}
            collect(view, observation, statement, values, set())
            span = Span(*statement.origin)  # type: ignore[attr-defined]
            yield UserFrame(len(observation.outcome.frames), name, "__main__", span, values)
            return


def called_by_jax(module: ast.Module, frame: UserFrame, observation: Observation) -> Iterator[ast.Module]:
    """Programs in which JAX calls back a function that does what the module's last statement does."""
    kind = _KIND.search(observation.outcome.message or "")
    assert kind is not None, "a frame of a function called back"
    *before, last = module.body
    name = frame.function if frame.function.isidentifier() and not frame.function.startswith("__") else "callback"
    names = _fresh({"x": "x", "function": name, "jitted": "f"}, module)
    names["call"] = CALLS[kind[1]].format(**names)
    for template in (ALONE, COMPILED, LATER):
        program = ast.parse(template.format(**names))
        place = next(each for each in trees.walk_statements(program) if ast.unparse(each) == "...")
        after = trees.rewrite(program, Edit.replace(place, trees.clone(last))).body
        yield ast.Module([*trees.statements(IMPORTS.get(kind[1], "")), *before, *after], [])


def _fresh(wanted: dict[str, str], module: ast.Module) -> dict[str, str]:
    """The wanted names, numbered where the module has them."""
    taken = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)} | CONVENTIONAL.keys()
    found: dict[str, str] = {}
    for use, name in wanted.items():
        numbered = itertools.chain([name], (f"{name}{i}" for i in itertools.count(1)))
        found[use] = next(each for each in numbered if each not in taken)
        taken.add(found[use])
    return found


def _statement_at(view: View, file: str, line: int) -> ast.stmt | None:
    """The innermost statement of the program on a line."""
    found = None
    for statement in trees.walk_statements(view.tree):
        origin = getattr(statement, "origin", None)
        if origin is not None and origin[0] == file and origin[1] <= line <= origin[3]:
            found = statement  # inner ones come later
    return found
