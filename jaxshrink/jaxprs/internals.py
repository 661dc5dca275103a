"""What is read from jaxprs (parts, primitives), and tracing for given types."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.extend.core
import numpy as np

from jaxshrink.inside.capture import names as names_
from jaxshrink.jaxprs.private import ClosedJaxpr as ClosedJaxpr
from jaxshrink.jaxprs.private import DropVar as DropVar
from jaxshrink.jaxprs.private import Jaxpr as Jaxpr
from jaxshrink.jaxprs.private import Literal as Literal
from jaxshrink.jaxprs.private import Primitive as Primitive
from jaxshrink.jaxprs.private import ShapedArray as ShapedArray
from jaxshrink.jaxprs.private import Var as Var
from jaxshrink.jaxprs.private import api_util, check_vma, core, linear_util, partial_eval, source_info_util
from jaxshrink.jaxprs.private import no_effects as no_effects

SIGN = names_.SIGN
SHARD_MAP = "jax.shard_map" if hasattr(jax, "shard_map") else "jax.experimental.shard_map.shard_map"


@dataclasses.dataclass(frozen=True)
class Opened:
    """A jaxpr, closed or not, in parts. `closed`: whether it is a value of the class for closed ones."""

    jaxpr: Any
    constvars: tuple[Any, ...]
    consts: tuple[Any, ...]
    invars: tuple[Any, ...]
    outvars: tuple[Any, ...]
    eqns: tuple[Any, ...]


def is_jaxpr(value: Any) -> bool:
    """Whether a value is a jaxpr, closed or not."""
    return isinstance(value, (Jaxpr, ClosedJaxpr))


def called(params: Mapping[str, Any]) -> list[Any]:
    """The jaxprs in the options of an equation."""
    return _jaxprs(tuple(params.values()))


def _jaxprs(value: Any) -> list[Any]:
    if is_jaxpr(value):
        return [value]
    return [one for part in value for one in _jaxprs(part)] if isinstance(value, (tuple, list)) else []


def opened(jaxpr: Any) -> Opened:
    """The parts of a jaxpr; of one that is not closed, constants are variables like others."""
    inner = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
    constvars, invars = tuple(inner.constvars), tuple(inner.invars)
    consts = tuple(map(_as_typed, jaxpr.consts, constvars)) if isinstance(jaxpr, ClosedJaxpr) else ()
    if not consts:
        constvars, invars = (), constvars + invars
    return Opened(inner, constvars, consts, invars, tuple(inner.outvars), tuple(inner.eqns))


def _as_typed(value: Any, var: Any) -> Any:
    """A constant with the dtype of its variable: older releases of JAX keep 64 bits where they mean 32."""
    is_other = isinstance(value, np.ndarray) and value.dtype != getattr(var.aval, "dtype", value.dtype)
    return value.astype(var.aval.dtype) if is_other else value


def closed(jaxpr: Any, consts: Sequence[Any] = ()) -> Any:
    """A closed jaxpr of one that may be open."""
    if isinstance(jaxpr, ClosedJaxpr) and not consts:
        return jaxpr
    return ClosedJaxpr(jaxpr, list(consts))


def in_form_of(sample: Any, jaxpr: Any) -> Any:
    """A jaxpr, closed or open as another one is."""
    if isinstance(sample, ClosedJaxpr):
        return closed(jaxpr)
    is_closed = isinstance(jaxpr, ClosedJaxpr) and not jaxpr.consts
    return jaxpr.jaxpr if is_closed else jaxpr


def function(jaxpr: Any) -> Callable[..., list[Any]]:
    """A jaxpr as a function of flat arguments, with a flat list of results."""
    made: Callable[..., list[Any]] = jax.extend.core.jaxpr_as_fun(closed(jaxpr))
    return made


def key_data(keys: Any) -> np.ndarray:
    """The numbers of keys."""
    return np.asarray(jax.random.key_data(keys))


def is_no_sharding(value: Any) -> bool:
    """Whether a value is a sharding on no devices, which says as much as None."""
    return isinstance(value, jax.sharding.NamedSharding) and bool(value.mesh.empty)


def is_keys(value: Any) -> bool:
    """Whether a value is an array of typed random keys."""
    return isinstance(value, jax.Array) and is_key_type(value.dtype)


def is_key_type(dtype: Any) -> bool:
    """Whether a dtype is that of typed random keys."""
    return bool(jax.numpy.issubdtype(dtype, jax.dtypes.prng_key))


def is_scalar_type(value: Any) -> bool:
    """Whether a value is a class of numbers, which JAX takes for their dtype."""
    is_of_numpy = isinstance(value, type) and issubclass(value, np.generic)
    return is_of_numpy or type(value).__name__ == "_ScalarMeta"


def is_identity(eqn: Any) -> bool:
    """Whether an equation converts to the type that its operand has: JAX leaves such out where it traces them."""
    if eqn.primitive.name != "convert_element_type" or isinstance(eqn.outvars[0], DropVar):
        return False
    given, made = eqn.invars[0].aval, eqn.outvars[0].aval
    return bool(given.dtype == made.dtype and given.weak_type == made.weak_type)


def without_identities(parts: Opened) -> Opened:
    """A jaxpr without equations that convert to the type that is there: what reads their results reads what they are
    given, so that a literal is seen to be one."""
    return _replaced(parts, {}) if any(map(is_identity, parts.eqns)) else parts


def with_literals(parts: Opened, given: Sequence[Any]) -> Opened:
    """A jaxpr that has the literals among what its first arguments are where it reads them."""
    pairs = zip(parts.invars, given, strict=False)
    literals = {var: Literal(atom.val, var.aval) for var, atom in pairs if isinstance(atom, Literal)}
    return _replaced(parts, literals) if literals else parts


def _replaced(parts: Opened, known: dict[Any, Any]) -> Opened:
    """A jaxpr with other atoms in place of variables that are known; identities make more of these."""

    def read(atom: Any) -> Any:
        return atom if isinstance(atom, Literal) else known.get(atom, atom)

    eqns = []
    for eqn in parts.eqns:
        if is_identity(eqn):
            known[eqn.outvars[0]] = read(eqn.invars[0])
        else:
            eqns.append(eqn.replace(invars=[read(atom) for atom in eqn.invars]))
    return dataclasses.replace(parts, eqns=tuple(eqns), outvars=tuple(map(read, parts.outvars)))


def is_reference(aval: Any) -> bool:
    """Whether a type is that of a mutable reference."""
    return type(aval).__name__ == "AbstractRef"


# -- names

_RESULT = "result"
"""What paths of results begin with: not in JAX 0.4."""

_TAKES_TRACEBACK = "source_info" not in inspect.signature(source_info_util.user_frame).parameters


def names(jaxpr: Any) -> tuple[list[str], list[str]]:
    """The names of the arguments and the paths of the results, as the debug info has them: `x`, `y['hi']`; "" where
    there is none."""
    parts = opened(jaxpr)
    info = getattr(parts.jaxpr, "debug_info", None)
    found = []
    for listed, count in (("arg_names", len(parts.invars)), ("result_paths", len(parts.outvars))):
        given = getattr(info, listed, None)
        given = [str(name or "") for name in given] if isinstance(given, (list, tuple)) else []
        found.append(given if len(given) == count else [""] * count)
    return found[0], [_RESULT + path.removeprefix(_RESULT) if path else "" for path in found[1]]


def function_name(jaxpr: Any) -> str:
    """The name of the function that was traced; "" where it is not known."""
    info = getattr(opened(jaxpr).jaxpr, "debug_info", None)
    words = str(getattr(info, "func_src_info", None) or "").split()
    return words[0] if words and words[0] not in ("<unknown>", "None") else ""


def frame(eqn: Any) -> tuple[str, int, str] | None:
    """The user's frame that an equation comes from: file, line and function."""
    given = eqn.source_info.traceback if _TAKES_TRACEBACK else eqn.source_info
    found = source_info_util.user_frame(given)
    return None if found is None else (found.file_name, found.start_line, found.function_name)


def scopes(eqn: Any) -> tuple[str, ...]:
    """The names of the scopes (`jax.named_scope`) of an equation, outermost first; of transformations nothing."""
    stack = getattr(eqn.source_info.name_stack, "stack", ())
    return tuple(entry.name for entry in stack if type(entry).__name__ == "Scope")


def context_mesh(eqn: Any) -> Any:
    """The abstract mesh under which an equation was traced; None where there is none."""
    mesh = getattr(eqn.ctx, "cur_abstract_mesh", None)
    return None if mesh is None or mesh.empty else mesh


# -- tracing


def debug_info_class() -> Any:
    """The class of what jaxprs know of their function, with names of arguments and results; None in JAX 0.4."""
    return getattr(linear_util, "DebugInfo", None)


def traced(fun: Callable[..., Sequence[Any]], avals: Sequence[Any], arg_names: Sequence[str] | None = None) -> Any:
    """The closed jaxpr of a function of flat arguments of exactly these types, with a flat list of results."""
    kind = debug_info_class()
    if kind is not None:
        arg_names = [""] * len(avals) if arg_names is None else arg_names
        info = kind("jaxprs", getattr(fun, "__name__", "f"), tuple(arg_names), None)
        wrapped = linear_util.wrap_init(fun, debug_info=info)
    else:
        wrapped = linear_util.wrap_init(fun)  # JAX 0.4
    jaxpr, _, consts, *_ = partial_eval.trace_to_jaxpr_dynamic(wrapped, tuple(avals))
    return ClosedJaxpr(jaxpr, list(consts))


@contextlib.contextmanager
def within(eqn: Any, axes: Iterable[tuple[Any, int]], varying: bool = False) -> Iterator[None]:
    """The settings under which an equation was traced, with these names of mapped axes. `varying`: whether types tell
    along which axes arrays vary, as in `shard_map`."""
    manager = getattr(eqn.ctx, "manager", None)
    with contextlib.ExitStack() as stack:
        if manager is not None:
            stack.enter_context(manager)
        stack.enter_context(named_axes(axes))
        if varying and check_vma is not None:
            stack.enter_context(check_vma(True))
        yield


@contextlib.contextmanager
def named_axes(axes: Iterable[tuple[Any, int]]) -> Iterator[None]:
    """Names of mapped axes, with their sizes."""
    axes = list(axes)
    if not axes:
        yield
    elif hasattr(core, "extend_axis_env_nd"):
        with core.extend_axis_env_nd(axes):
            yield


# -- primitives


@functools.cache
def _primitives(modules: int) -> dict[int, str]:
    """Primitives by identity, with the name under which a module has them; public modules first."""
    found: dict[int, str] = {}
    order = ("jax.lax", "jax.lax.linalg", "jax.custom_derivatives", "jax.random", "jax.extend", "jax", "", "jax._src")
    for module in sorted(sys.modules, key=lambda name: (_place(name, order), name)):
        for name, value in list(getattr(sys.modules[module], "__dict__", {}).items()):
            if isinstance(value, Primitive):
                found.setdefault(id(value), f"{module}.{name}")
    return found


def primitives_of_jax() -> Iterator[Any]:
    """All primitives of JAX's own modules that are imported, public modules first."""
    for dotted in _primitives(len(sys.modules)).values():
        module, _, name = dotted.rpartition(".")
        if module.partition(".")[0] == "jax":
            yield getattr(sys.modules[module], name)


def _place(module: str, order: Sequence[str]) -> int:
    """The index of the longest start of a module's name."""
    starts = [start for start in order if not start or f"{module}.".startswith(f"{start}.")]
    return order.index(max(starts, key=len))


def primitive_source(primitive: Any) -> str | None:
    """An expression for a primitive, or None. A package may have something else under the name of a module of its."""
    dotted = primitive_name(primitive)
    if dotted is None:
        return None
    module, _, name = dotted.rpartition(".")
    first, _, rest = module.partition(".")
    try:
        is_there = not rest or operator.attrgetter(rest)(sys.modules[first]) is sys.modules[module]
    except AttributeError:
        is_there = False
    return dotted.replace("jax.lax.", "lax.") if is_there else f"importlib.import_module({module!r}).{name}"


def primitive_name(primitive: Any) -> str | None:
    """The dotted name under which a module that is imported has a primitive, or None."""
    return _primitives(len(sys.modules)).get(id(primitive))


# -- control flow


def scan_counts(params: Mapping[str, Any], operands: int) -> tuple[int, int]:
    """How many of a scan's operands are closed over, and how many are carried."""
    if "num_carry" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = (len(list(part)) for part in params["ft_in"].unpack())
    return consts, carry


def type_of(value: Any) -> Any:
    """The type of an array, number, tracer, or of what only has a shape and a dtype."""
    home = core if hasattr(core, "shaped_abstractify") else api_util
    return home.shaped_abstractify(value)


def hoisted(jaxpr: Any, first: Sequence[Any] | None = None) -> Any:
    """A jaxpr without constants: their variables are its first arguments, alone or with others among them."""
    parts = opened(jaxpr)
    first = parts.constvars if first is None else first
    info = getattr(parts.jaxpr, "debug_info", None)
    if info is not None and hasattr(info, "_replace") and info.arg_names is not None:
        info = info._replace(arg_names=("",) * len(first) + tuple(info.arg_names)[-len(parts.invars) :])
    return Jaxpr((), [*first, *parts.invars], parts.outvars, parts.eqns, parts.jaxpr.effects, info)


def with_values(jaxpr: Any, values: Sequence[Any]) -> Any:
    """A closed jaxpr whose first arguments are values: constants behind those that it has."""
    if not values:
        return jaxpr
    parts = opened(jaxpr)
    constvars, invars = [*parts.constvars, *parts.invars[: len(values)]], parts.invars[len(values) :]
    info = getattr(parts.jaxpr, "debug_info", None)
    if info is not None and hasattr(info, "_replace") and info.arg_names is not None:
        info = info._replace(arg_names=tuple(info.arg_names)[len(info.arg_names) - len(invars) :])
    made = Jaxpr(constvars, invars, parts.outvars, parts.eqns, parts.jaxpr.effects, info)
    return ClosedJaxpr(made, [*parts.consts, *values])


def read_consts(jaxpr: Any) -> list[bool]:
    """For each constant of a jaxpr, whether anything reads it."""
    parts = opened(jaxpr)
    read = {atom for eqn in parts.eqns for atom in eqn.invars if not isinstance(atom, Literal)}
    read |= {atom for atom in parts.outvars if not isinstance(atom, Literal)}
    return [var in read for var in parts.constvars]
