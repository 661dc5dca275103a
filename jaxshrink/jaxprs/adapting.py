"""Equations of another release of JAX, as this one has them.

Releases differ in the options of primitives, and in what primitives are called. What they are here is not looked up:
the function of a primitive is traced, for the same operands, and its equation shows what this release binds. Options
that this release does not have must say nothing; those that it has in addition are as in that equation. A primitive
that is not there becomes a compiled function that does the same.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxshrink.jaxprs import internals, kinds, restoring
from jaxshrink.jaxprs.errors import Inexpressible

_HINTS = {"resource_env", "ctx_mesh", "copy_semantics", "inline"}
"""Options about how and where: to go without them changes no numbers."""


class Adapter:
    """Remembers for each kind of equation how it is bound here. `release` is the JAX that the equations are of."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.known: dict[Any, tuple[Any, Mapping[str, Any]]] = {}

    def adapted(self, eqn: Any) -> Any:
        """An equation of this JAX. Raises Inexpressible, which names the primitive and its option."""
        for name, value in eqn.params.items():
            if name not in _HINTS and (unknown := _unknown(value)) is not None:
                raise self._inexpressible(eqn, f"has the option {name}={unknown}, which is not there")
        told = frozenset(name for name, value in eqn.params.items() if not kinds.is_neutral(value))
        key = (eqn.primitive.name, frozenset(eqn.params), told, len(eqn.invars), len(eqn.outvars))
        if key not in self.known:
            sample = next(_samples(eqn), None)
            if sample is None:
                return self._replaced(eqn) if restoring.is_elsewhere(eqn.primitive) else self._checked(eqn)
            self.known[key] = sample.primitive, sample.params
        primitive, params = self.known[key]
        made = {name: _like(eqn.params[name], one, name) if name in eqn.params else one for name, one in params.items()}
        for name in told - params.keys() - _HINTS:
            raise self._inexpressible(eqn, f"has no option {name} here, and it says {eqn.params[name]}")
        return eqn.replace(primitive=primitive, params=made)

    def _replaced(self, eqn: Any, why: str = "is not there") -> Any:
        """The call of a compiled function in place of a primitive that is not there, or another one."""
        types = [(var.aval.shape, var.aval.dtype) for var in eqn.outvars]
        for fun in _functions(eqn, is_whole=True):
            call = next(_attempted(eqn, jax.jit(_flat(fun)), "jit", "pjit"), None)
            if call is not None and [(var.aval.shape, var.aval.dtype) for var in call.outvars] == types:
                return eqn.replace(primitive=call.primitive, params=call.params)
        raise self._inexpressible(eqn, why)

    def _checked(self, eqn: Any) -> Any:
        """An equation whose primitive has no function that is known: with those options with which it can be bound."""
        params = dict(eqn.params)
        while (refusal := _refusal(eqn.replace(params=params))) is not None:
            named = set(re.findall(r"'(\w+)'", str(refusal)))
            surplus = {name for name in named & params.keys() if kinds.is_neutral(params[name])}
            lacking = named - params.keys() if "missing" in str(refusal) else set()
            if not surplus and not lacking:
                return self._replaced(eqn, f"is bound in another way: {refusal}")
            params = {name: value for name, value in params.items() if name not in surplus} | dict.fromkeys(lacking)
        return eqn.replace(params=params)

    def _inexpressible(self, eqn: Any, why: str) -> Inexpressible:
        return Inexpressible(f"the primitive {eqn.primitive.name} of JAX {self.release} {why} (JAX {jax.__version__})")


def _unknown(value: Any) -> str | None:
    """What is not known of an option."""
    if isinstance(value, (tuple, list)):
        return next(filter(None, map(_unknown, value)), None)
    return value.text if isinstance(value, kinds.Unknown) else None


def _like(value: Any, sample: Any, name: str) -> Any:
    """An option in the form that it has here."""
    if internals.is_jaxpr(value) and internals.is_jaxpr(sample):
        return internals.in_form_of(sample, value)
    if _unknown(value) is not None:
        return sample
    if type(value) in (tuple, list) and type(sample) in (tuple, list):
        return type(sample)(value)
    is_usual = name in _HINTS or (kinds.is_neutral(value) and kinds.is_neutral(sample))
    return sample if is_usual and type(value) is not type(sample) else value


# -- how this JAX binds a primitive


def _samples(eqn: Any) -> Iterator[Any]:
    """Equations of this JAX that the function of a primitive is traced to."""
    names = (eqn.primitive.name, *_RENAMED.get(eqn.primitive.name, ()))
    for fun in _functions(eqn):
        yield from _attempted(eqn, fun, *names)


def _refusal(eqn: Any) -> Exception | None:
    """Why an equation cannot be bound with its options; None where these are not the reason."""
    try:
        list(_traced(eqn, lambda *args: eqn.primitive.bind(*args, **eqn.params), eqn.primitive.name))
    except (TypeError, KeyError) as error:
        return error
    except Exception:  # it is not among the axes, say, that it needs
        return None
    return None


def _attempted(eqn: Any, fun: Callable[..., Any], *names: str) -> Iterator[Any]:
    try:
        yield from _traced(eqn, fun, *names)
    except Exception:  # what is tried may fail in any way: then it is not what was meant
        return


def _traced(eqn: Any, fun: Callable[..., Any], *names: str) -> Iterator[Any]:
    """The last equation of these primitives in what a function of an equation's operands is traced to."""
    with internals.within(eqn, ()):
        found = internals.opened(internals.traced(_flat(fun), [atom.aval for atom in eqn.invars]))
    yield from [made for made in found.eqns if made.primitive.name in names][-1:]


def _flat(fun: Callable[..., Any]) -> Callable[..., list[Any]]:
    return lambda *args: jax.tree_util.tree_leaves(fun(*args))


def _functions(eqn: Any, is_whole: bool = False) -> Iterator[Callable[..., Any]]:
    """Functions of all operands of an equation that may be traced to its primitive.

    With `is_whole`, only those that are told all its options.
    """
    name = eqn.primitive.name.replace("-", "_")
    if name in _CALLED:
        yield _CALLED[name](eqn.params)
    for home in (lax, lax.linalg, jnp):
        fun = getattr(home, name, None)
        known = _parameters(fun) & eqn.params.keys()
        rest = [value for key, value in eqn.params.items() if key not in known]
        if callable(fun) and (not is_whole or all(map(kinds.is_neutral, rest))):
            yield _with(fun, {key: eqn.params[key] for key in known})


def _with(fun: Callable[..., Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    return lambda *args: fun(*args, **options)


def _parameters(fun: Any) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        return frozenset()


_RENAMED: dict[str, Sequence[str]] = {
    "jit": ["pjit"], "pjit": ["jit"], "remat2": ["checkpoint"], "remat": ["checkpoint"],
}  # fmt: skip

Options = Mapping[str, Any]

_CALLED: dict[str, Callable[[Options], Callable[..., Any]]] = {
    "jit": lambda params: jax.jit(_function(params["jaxpr"])),
    "pjit": lambda params: jax.jit(_function(params["jaxpr"])),
    "checkpoint": lambda params: jax.checkpoint(_function(params["jaxpr"])),
    "remat": lambda params: jax.checkpoint(_function(params["jaxpr"])),
    "remat2": lambda params: jax.checkpoint(_function(params["jaxpr"])),
    "cond": lambda params: _by_platform(params) if params.get("branches_platforms") else _by_index(params),
    "scan": lambda params: lambda *args: restoring.scanned(),
    "convert_element_type": lambda params: lambda x: x.astype(jnp.complex64),
    "device_put": lambda params: lambda *args: jax.device_put(args),
    "iota": lambda params: lambda *args: lax.broadcasted_iota(params["dtype"], params["shape"], params["dimension"]),
    "split": lambda params: lambda x: lax.split(x, params["sizes"], params["axis"]),
    "eval_jaxpr": lambda params: _function(params["call_jaxpr"]),
    "new_ref": lambda params: lambda x: [jax.new_ref(x)][:0],  # no function may return one
    "one_minus_square": lambda params: lambda x: 1 - x * x,
    "stack": lambda params: lambda *args: jnp.stack(args, axis=params["axis"]),
}  # fmt: skip
"""By name of a primitive: what calls its function, where that takes its options in another way."""


def _by_index(params: Options) -> Callable[..., Any]:
    return lambda index, *args: lax.switch(index, list(map(_function, params["branches"])), *args)


def _by_platform(params: Options) -> Callable[..., Any]:
    first, *_, last = map(_function, params["branches"])
    return lambda _, *args: lax.platform_dependent(*args, cpu=first, default=last)


def _function(jaxpr: Any) -> Callable[..., Any]:
    return internals.function(internals.closed(jaxpr))
