"""An equation of a primitive as an expression that is traced to exactly this equation."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.ad_checkpoint
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec

from jaxshrink.jaxprs import internals
from jaxshrink.jaxprs.compare import Memo, normal_equation
from jaxshrink.jaxprs.spelling import proposals
from jaxshrink.jaxprs.texts import VALUES, Call

Spell = Callable[[Any], str]
"""Writes a literal."""


@dataclasses.dataclass(frozen=True)
class Spelled:
    """An expression with operands `_0`, `_1`, …

    `is_sequence`: it gives its results as one; `spell` writes literals.
    """

    text: str
    is_sequence: bool
    spell: Spell

    def of(self, eqn: Any, operands: Callable[[Any], str]) -> str:
        """The expression of an equation, with the expressions of its variables."""
        return substituted(self.text, [self.spell(atom) if isinstance(atom, internals.Literal) else operands(atom)
                                       for atom in eqn.invars])  # fmt: skip


class Speller:
    """Finds expressions for equations, each kind once. `axes` are the names of mapped axes, with their sizes; `varying`
    tells whether types tell along which of them arrays vary."""

    def __init__(self) -> None:
        self.axes: list[tuple[Any, int]] = []
        self.varying = False
        self.memo: Memo = {}
        self.known: dict[Any, Spelled | None] = {}
        self.idioms: dict[Any, internals.Opened | None] = {}
        self.forms: dict[int, tuple[internals.Opened, Any]] = {}  # of what idioms are traced to

    @contextlib.contextmanager
    def among(self, axes: Iterable[tuple[Any, int]], varying: bool = False) -> Iterator[None]:
        """With these names of mapped axes too."""
        before = self.axes, self.varying
        self.axes, self.varying = [*self.axes, *axes], varying
        try:
            yield
        finally:
            self.axes, self.varying = before

    def spelled(self, eqn: Any) -> Spelled | None:
        """The nicest expression; None where there is none."""
        key = self._key(eqn)
        if key not in self.known:
            self.known[key] = self._find(eqn)
        return self.known[key]

    def _key(self, eqn: Any) -> Any:
        operands = tuple(map(_operand_key, eqn.invars))
        key = (eqn.primitive, tuple(eqn.params.items()), operands, eqn.ctx, self.varying)
        try:
            hash(key)
        except TypeError:
            return (eqn.primitive, repr(eqn.params), operands, eqn.ctx, self.varying)
        return key

    def _find(self, eqn: Any) -> Spelled | None:
        wanted = None
        for proposal in proposals(eqn):
            wanted = wanted or normal_equation(eqn, self.memo)
            text = proposal if isinstance(proposal, str) else proposal.text
            for spell in _spells(eqn):
                is_sequence = self._is_exact(_put_in(text, eqn, spell), eqn, wanted)
                if is_sequence is not None:
                    short = text if isinstance(proposal, str) else self._shortest(proposal, spell, eqn, wanted)
                    return Spelled(short, is_sequence, spell)
        return None

    def _shortest(self, call: Call, spell: Spell, eqn: Any, wanted: Any) -> str:
        """The call without the options that may be left out."""
        for option in call.options:
            less = call._replace(options=tuple(one for one in call.options if one is not option))
            if self._is_exact(_put_in(less.text, eqn, spell), eqn, wanted) is not None:
                call = less
        return call.text

    def _is_exact(self, text: str, eqn: Any, wanted: Any) -> bool | None:
        """Whether an expression that is traced to the equation gives a sequence; None where it is not."""
        places = [i for i, atom in enumerate(eqn.invars) if not isinstance(atom, internals.Literal)]
        gives_reference = any(internals.is_reference(var.aval) for var in eqn.outvars)  # no function may return one
        sequences: list[bool] = []
        made: list[Any] = []
        try:
            fun = eval(f"lambda {', '.join(f'_{i}' for i in places)}: {text}", dict(NAMESPACE))

            def flat(*args: Any) -> list[Any]:
                value = fun(*args)
                sequences.append(isinstance(value, (tuple, list)))
                found = list(value) if sequences[-1] else [value]
                made.extend(found)  # nothing is dropped before its time
                return [] if gives_reference else found

            with internals.within(eqn, self.axes, self.varying):
                found = internals.opened(internals.traced(flat, [eqn.invars[i].aval for i in places]))
            if len(found.eqns) != 1 or found.outvars != (() if gives_reference else tuple(found.eqns[0].outvars)):
                return None
            is_same = _orders(found, eqn) and normal_equation(found.eqns[0], self.memo) == wanted
            return sequences[-1] if is_same else None
        except Exception:  # what is proposed may fail in any way: then it is not what was meant
            return None


def _orders(found: internals.Opened, eqn: Any) -> bool:
    """Whether the operands come in the order of the arguments."""
    given = [atom for atom in found.eqns[0].invars if not isinstance(atom, internals.Literal)]
    return not found.consts and given == list(found.invars)


_PLACEHOLDER = re.compile(r"\b_\d+\b")

NAMESPACE: dict[str, Any] = {"importlib": importlib, "jax": jax, "jnp": jnp, "np": np, "lax": lax, "P": PartitionSpec}


def _operand_key(atom: Any) -> Any:
    if not isinstance(atom, internals.Literal):
        return atom.aval
    if atom.aval.dtype == jax.dtypes.float0:
        return ("literal", atom.aval)
    value = np.asarray(atom.val).astype(np.complex128 if atom.aval.dtype.kind == "c" else np.float64)
    magnitude = 0 if value == 0 else 1 if value == 1 else 2 if abs(value) < 1 << 31 else 3  # as expressions may differ
    return ("literal", magnitude, type(atom.val), atom.aval)


def _spells(eqn: Any) -> tuple[Spell, ...]:
    """Literals are plain numbers, where JAX gives these the same type, or numbers of their type."""
    has_any = any(isinstance(atom, internals.Literal) for atom in eqn.invars)
    return (plain_number, typed_number) if has_any else (plain_number,)


def _put_in(text: str, eqn: Any, spell: Spell) -> str:
    literals = {i: atom for i, atom in enumerate(eqn.invars) if isinstance(atom, internals.Literal)}
    return substituted(text, {i: spell(atom) for i, atom in literals.items()}) if literals else text


def substituted(text: str, operands: dict[int, str] | Sequence[str]) -> str:
    """An expression with its operands put in; those that are not given stay."""
    pairs = operands.items() if isinstance(operands, dict) else enumerate(operands)
    found = {f"_{i}": operand for i, operand in pairs}
    return _PLACEHOLDER.sub(lambda match: found.get(match.group(), match.group()), text)


def plain_number(atom: Any) -> str:
    """A literal as Python's number, as short as its type has it; JAX gives it this type. Where JAX has kept Python's
    number, which may be no number of this type, as that is."""
    dtype = atom.aval.dtype
    if dtype == jax.dtypes.float0:
        return "np.zeros((), jax.dtypes.float0)"
    value = np.asarray(atom.val).astype(dtype)
    if dtype.kind in "fV":
        number = float(value)
        if not np.isfinite(number):
            return "jnp.nan" if number != number else "jnp.inf" if number > 0 else "(-jnp.inf)"
        if isinstance(atom.val, float) and float(atom.val) != number:
            return _enclosed(VALUES.source(float(atom.val)))
        short = float(str(value))
        return _enclosed(VALUES.source(short if np.asarray(short).astype(dtype) == value else number))
    return _enclosed(VALUES.source(value.item()))


def typed_number(atom: Any) -> str:
    """A literal by its own type; Python's number where JAX may change the type."""
    if getattr(atom.aval, "weak_type", False) or atom.aval.dtype == jax.dtypes.float0:
        return plain_number(atom)
    return str(VALUES.source(np.asarray(atom.val)))


def _enclosed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text
