"""What raised in a function that JAX called back.

A compiled program calls it, so none of its frames are on the failing stack, but JAX's message quotes them.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.observation import Observation, UserFrame
from jaxshrink.settle import CONVENTIONAL
from jaxshrink.tree import Edit

DIRECT = """
def {function}():
    ...
{call}
"""

COMPILED = """
def {function}():
    ...
jax.jit(lambda: {call})()
"""

PURE = """
def {function}({x}):
    ...
jax.jit(lambda {x}: jax.pure_callback({function}, {x}, {x}))(1)
"""

LATER = """
def {function}({x}):
    if {x}:
        ...
    return {x}
{jitted} = jax.jit(lambda {x}: jax.pure_callback({function}, {x}, {x}))
{jitted}(0)
{jitted}(1)
"""
"""The first call of a compiled function goes through Python, later ones do not, and raise other exceptions."""

KINDS = {
    "pure": ("jax.pure_callback({function}, None)", (DIRECT, PURE, LATER)),
    "io": ("jax.experimental.io_callback({function}, None)", (DIRECT, COMPILED)),
    "debug": ("jax.debug.callback({function})", (DIRECT, COMPILED)),
}
"""The plainest call of each kind, and programs that are worth a try; with effects, later calls are like the first."""

_KIND = re.compile(r"in (pure|io|debug)_callback_impl$", re.MULTILINE)
"""In a message: which of the calls it was."""


def called_by_jax(module: ast.Module, frame: UserFrame, observation: Observation) -> Iterator[ast.Module]:
    """Programs in which JAX calls back a function that does what the module's last statement does."""
    kind = _KIND.search(observation.outcome.message or "")
    if kind is None:
        return  # the exception in the callback was not what the program failed with
    *before, last = module.body
    name = frame.function if frame.function.isidentifier() and not frame.function.startswith("__") else "callback"
    names = _fresh({"x": "x", "function": name, "jitted": "f"}, module)
    call, templates = KINDS[kind[1]]
    names["call"] = call.format(**names)
    for template in templates:
        program = ast.parse(template.format(**names))
        place = next(each for each in trees.walk_statements(program) if ast.unparse(each) == "...")
        after = trees.rewrite(program, Edit.replace(place, trees.clone(last))).body
        imports = trees.statements("import jax.experimental" if kind[1] == "io" else "")
        yield ast.Module([*imports, *before, *after], [])


def _fresh(wanted: dict[str, str], module: ast.Module) -> dict[str, str]:
    """The wanted names, numbered where the module has them."""
    taken = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)} | CONVENTIONAL.keys()
    found: dict[str, str] = {}
    for use, name in wanted.items():
        numbered = itertools.chain([name], (f"{name}{i}" for i in itertools.count(1)))
        found[use] = next(each for each in numbered if each not in taken)
        taken.add(found[use])
    return found
