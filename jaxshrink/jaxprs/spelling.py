"""The ways in which the equation of a primitive may be written: operators, `jnp`, `lax`.

Rules only propose, the nicest first; `equations` takes the first that is traced to exactly that equation. So a rule
need not know when `jnp` promotes types, or what a release of JAX has changed. Operands stand as `_0`, `_1`, …
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import jax

from jaxshrink.inside.capture.constants import Unwritable
from jaxshrink.jaxprs import collectives as collectives  # they add their rules
from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs import operations as operations
from jaxshrink.jaxprs.proposing import RULES
from jaxshrink.jaxprs.texts import Call, text

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "and": "&", "or": "|", "xor": "^", "eq": "==",
    "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "shift_left": "<<", "shift_right_arithmetic": ">>",
    "dot_general": "@",
}  # fmt: skip
_PREFIX = {"neg": "-", "not": "~"}
_NUMPY = {
    "max": "maximum", "min": "minimum", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "is_finite": "isfinite", "dot_general": "dot",
    "population_count": "bitwise_count",
}  # fmt: skip
"""Primitives that have another name in `jax.numpy`."""

_HOMES = ("lax", "lax.linalg", "jax.random", "jax.nn", "jax.scipy.special")
"""Where functions named like primitives are."""


def proposals(eqn: Any) -> Iterator[str | Call]:
    """Expressions that may be an equation, the nicest first; the last is the primitive itself.

    The last may not be there, where an option cannot be written.
    """
    name = eqn.primitive.name.replace("-", "_")
    operands = [f"_{i}" for i in range(len(eqn.invars))]
    if name in CALLS:
        yield from _functions(eqn, operands)
        return
    if name in INFIX and len(operands) == 2:
        yield f"_0 {INFIX[name]} _1"
    if name in _PREFIX:
        yield f"{_PREFIX[name]}_0"
    yield from _ruled(name, eqn)
    home = _NUMPY.get(name, name)
    if not _told(eqn.params) and hasattr(jax.numpy, home):
        yield f"jnp.{home}({', '.join(operands)})"
    yield from _likenamed(name, operands, eqn.params)
    bound = _bound(eqn, operands)
    if bound is not None:
        yield bound


def _ruled(name: str, eqn: Any) -> Iterator[str | Call]:
    try:
        yield from filter(None, RULES[name](eqn, eqn.params) if name in RULES else ())
    except Unwritable:  # an option that only the primitive itself takes
        return


def _told(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None and value is not False}


def _likenamed(name: str, operands: list[str], params: dict[str, Any]) -> Iterator[Call]:
    """The public function of the primitive's name, with those options that it has too."""
    for home in _HOMES:
        fun = _found(f"{home}.{name}")
        if not callable(fun):
            continue
        try:
            known = inspect.signature(fun).parameters
            given = ((_OPTIONS[key] if _OPTIONS.get(key) in known else key, value) for key, value in params.items())
            options = tuple(_written({key: value for key, value in given if key in known}))
        except (TypeError, ValueError):
            continue
        if operands:
            yield Call(f"{home}.{name}({', '.join(operands)}", options)


def _written(options: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Those options that can be written."""
    for key, value in options.items():
        with contextlib.suppress(Unwritable):
            yield key, _plain(value)


_OPTIONS = {"sharding": "out_sharding"}
"""Options of primitives that have another name in functions."""


_MODES = {"FILL_OR_DROP": "fill", "CLIP": "clip", "PROMISE_IN_BOUNDS": "promise_in_bounds"}


def _plain(value: Any) -> str:
    """An option as functions take it: a partition, where the mesh is that around; a mode by its name."""
    is_around = isinstance(value, jax.sharding.NamedSharding) and type(value.mesh).__name__ == "AbstractMesh"
    if isinstance(value, jax.lax.GatherScatterMode) and value.name in _MODES:
        return repr(_MODES[value.name])
    return text(value.spec if is_around else value)


CALLS = ("jit", "pjit", "custom_jvp_call", "custom_vjp_call")
"""Primitives that call a function, which may be one of JAX's."""

_LIBRARY = (
    "jnp", "jax.nn", "jax.random", "jnp.linalg", "jnp.fft", "lax", "lax.linalg", "jax.scipy.special",
    "jax.scipy.linalg",
)  # fmt: skip
"""Where functions are that JAX compiles as a whole, or that have derivative rules of their own."""


def _functions(eqn: Any, operands: list[str]) -> Iterator[str]:
    """Functions of JAX's that are named like the one that is called."""
    jaxpr = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr")
    name = (eqn.params.get("name") or internals.function_name(jaxpr)).strip("_")
    for home in _LIBRARY:
        if name.isidentifier() and callable(_found(f"{home}.{name}")):
            yield f"{home}.{name}({', '.join(operands)})"
            if home == "jax.random" and len(eqn.outvars) == 1:
                out = eqn.outvars[0].aval
                yield f"{home}.{name}({', '.join([operands[0], text(tuple(out.shape)), *operands[1:]])})"


def _found(dotted: str) -> Any:
    value: Any = jax
    for part in dotted.replace("jnp", "numpy").removeprefix("jax.").split("."):
        value = getattr(value, part, None)
    return value


def _bound(eqn: Any, operands: list[str]) -> str | None:
    name = internals.primitive_source(eqn.primitive)
    if name is None:
        return None
    try:
        options = [f"{key}={text(value)}" for key, value in eqn.params.items()]
    except Unwritable:
        return None
    return f"{name}.bind({', '.join([*operands, *options])})"
