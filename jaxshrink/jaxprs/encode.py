"""A jaxpr as bytes."""

from __future__ import annotations

import base64
import collections
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxshrink.jaxprs import internals, keeping, kinds, rules, wire
from jaxshrink.jaxprs.compare import ORDERS, Memo, key_of
from jaxshrink.jaxprs.errors import Inexpressible
from jaxshrink.jaxprs.expanding import expanded

_DROPPED = frozenset((
    "jvp_jaxpr_fun", "jvp_jaxpr_thunk", "fwd_jaxpr_thunk", "bwd", "out_trees", "computation", "symbolic_zeros",
))  # fmt: skip
"""Options that `loads` makes again: rules of their own, and what follows from the rest."""

_OF_SCAN = frozenset(("ft_in", "ft_out", "num_consts", "num_carry", "linear"))


def dumps(closed_jaxpr: Any, allow_missing: bool = False) -> bytes:
    """A jaxpr as bytes that `loads` reads, in a plain format (see `wire`) that has a version, without pickle.

    Kept are equations, types, constants, derivative rules of `custom_jvp` and `custom_vjp` functions (as jaxprs),
    effects, names of arguments and results, names of scopes, and for each equation the user's frame: file, line and
    function. Primitives are kept by the name under which a module has them.

    JAX's own high-level primitives are kept as the equations that they stand for. Where derivative rules call ever new
    functions with rules, as those of `odeint` do, derivatives up to the order `compare.ORDERS` are kept.

    Raises Inexpressible, which names what cannot be kept: callbacks on the host, primitives that no imported module
    has, derivative rules that cannot be traced any more. With `allow_missing`, an equation that raises when it is
    called stands in its place.
    """
    encoder = _Encoder(allow_missing)
    main = encoder.jaxpr(internals.closed(closed_jaxpr))
    encoder.rules()
    document = {
        "jax": jax.__version__, "main": main, "jaxprs": encoder.jaxprs, "types": encoder.types.rows,
        "arrays": encoder.arrays, "customs": encoder.customs, "frames": encoder.frames.rows,
        "primitives": encoder.primitives.rows, "contexts": encoder.contexts.rows,
    }  # fmt: skip
    return wire.packed(document, b"".join(encoder.blob))


class _Table:
    """Rows, each once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.known: dict[Any, int] = {}

    def index(self, key: Any, row: Any) -> int:
        if key not in self.known:
            made = row() if callable(row) else row  # which may need rows itself
            self.known[key] = len(self.rows)
            self.rows.append(made)
        return self.known[key]


class _Encoder:
    def __init__(self, allow_missing: bool) -> None:
        self.allow_missing = allow_missing
        self.jaxprs: list[Any] = []
        self.arrays: list[Any] = []
        self.customs: list[Any] = []
        self.blob: list[bytes] = []
        self.types, self.frames, self.primitives, self.contexts = _Table(), _Table(), _Table(), _Table()
        self.known: dict[int, tuple[Any, int]] = {}
        self.known_arrays: dict[int, tuple[Any, int]] = {}
        self.known_customs: dict[Any, int] = {}
        self.waiting: collections.deque[tuple[dict[str, Any], Any, int]] = collections.deque()
        self.order = 1
        self.places: dict[Any, int | None] = {}
        self.offset = 0
        self.memo: Memo = {}

    # -- jaxprs

    def jaxpr(self, jaxpr: Any) -> int:
        if id(jaxpr) in self.known:
            return self.known[id(jaxpr)][1]
        parts = expanded(internals.opened(jaxpr))
        numbers: dict[Any, int] = {}
        for var in (*parts.constvars, *parts.invars):
            numbers[var] = len(numbers)
        row: dict[str, Any] = {
            "closed": isinstance(jaxpr, internals.ClosedJaxpr) or bool(parts.consts),
            "consts": [[self.type(var.aval), self.array(value)] for var, value in
                       zip(parts.constvars, parts.consts, strict=True)],
            "args": [self.type(var.aval) for var in parts.invars],
            "eqns": [self.equation(eqn, numbers) for eqn in parts.eqns],
            "outs": [self.atom(atom, numbers) for atom in parts.outvars],
            "names": internals.names(jaxpr),
            "function": keeping.function_info(jaxpr),
            "effects": self.effects(parts.jaxpr.effects, numbers, "the jaxpr", follow=True),
        }  # fmt: skip
        self.jaxprs.append(row)
        self.known[id(jaxpr)] = jaxpr, len(self.jaxprs) - 1
        return len(self.jaxprs) - 1

    def atom(self, atom: Any, numbers: dict[Any, int]) -> Any:
        if not isinstance(atom, internals.Literal):
            return numbers[atom]
        number = keeping.typed_number(atom.val)
        kept = self.value(atom.val if number is None else number, "a literal")
        return [self.type(atom.aval), kept, number is not None]

    def equation(self, eqn: Any, numbers: dict[Any, int]) -> Any:
        atoms = [self.atom(atom, numbers) for atom in eqn.invars]
        try:
            made = self.primitive(eqn.primitive), self.params(eqn)
            calls = bool(internals.called(eqn.params))
            effects = self.effects(eqn.effects, numbers, eqn.primitive.name, follow=calls)
        except Inexpressible:
            if not self.allow_missing:
                raise
            made, effects = (self.missing(eqn.primitive.name), {}), []
        outs = []
        for var in eqn.outvars:
            is_dropped = isinstance(var, internals.DropVar)
            outs.append([self.type(var.aval)] if is_dropped else self.type(var.aval))
            if not is_dropped:
                numbers[var] = len(numbers)
        return [*made, effects, atoms, outs, self.frame(eqn), self.context(eqn)]

    def primitive(self, primitive: Any) -> int:
        name = internals.primitive_name(primitive)
        if name is None or name.startswith("__main__."):
            raise Inexpressible(
                f"the primitive {primitive.name} cannot be kept: no module has it from which it can be imported"
            )
        return self.primitives.index(name, [name, primitive.name])

    def missing(self, name: str) -> int:
        return self.primitives.index(("missing", name), [None, name])

    def frame(self, eqn: Any) -> int | None:
        key = keeping.frame_key(eqn)
        if key not in self.places:
            place = None if key is None else internals.frame(eqn)
            self.places[key] = None if place is None else self.frames.index(place, list(place))
        return self.places[key]

    def context(self, eqn: Any) -> int:
        scopes = internals.scopes(eqn)
        settings = keeping.settings(eqn)

        def row() -> Any:
            return [list(scopes), {name: self.value(value, name) for name, value in settings.items()}]

        return self.contexts.index((scopes, eqn.ctx), row)

    def effects(self, effects: Any, numbers: dict[Any, int], owner: str, follow: bool) -> list[Any]:
        """Those of an owner. Where they `follow` from what it calls, they may be missing with what has them."""
        found = []
        for effect in effects:
            row = keeping.effect_row(effect, numbers)
            if row is None and follow and self.allow_missing:
                continue
            if row is None:
                raise Inexpressible(f"{owner} cannot be kept: its effect is {effect}")
            found.append(row)
        return sorted(found, key=repr)

    # -- options

    def params(self, eqn: Any) -> dict[str, Any]:
        name = eqn.primitive.name
        dropped = _DROPPED | _OF_SCAN if name == "scan" else _DROPPED
        found = {key: self.value(value, f"{name}, its option {key},")
                 for key, value in eqn.params.items() if key not in dropped}  # fmt: skip
        if name == "scan":
            found["@scan"] = list(internals.scan_counts(eqn.params, len(eqn.invars)))
        if "computation" in eqn.params:
            found["@computation"] = True
        if name in ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"):
            found["call_jaxpr"] = found.pop("fun_jaxpr", found.get("call_jaxpr"))
            found["@custom"] = self.custom(eqn)
        return found

    def custom(self, eqn: Any) -> int:
        """A function with derivative rules. The rules come after all that calls it, nearest first: see `rules`."""
        key = key_of(eqn, self.memo)
        if key in self.known_customs:
            return self.known_customs[key]
        jaxpr = eqn.params.get("call_jaxpr") or eqn.params.get("fun_jaxpr")
        row: dict[str, Any] = {"args": [], "reverse": eqn.primitive.name != "custom_jvp_call"}
        self.customs.append(row)
        self.known_customs[key] = index = len(self.customs) - 1
        row["args"] = [self.type(var.aval) for var in _own_args(eqn)]
        row["outs"] = [self.type(atom.aval) for atom in internals.opened(jaxpr).outvars]
        row["name"] = internals.function_name(jaxpr)
        self.waiting.append((row, eqn, self.order))
        return index

    def rules(self) -> None:
        """The derivative rules of all functions, in the order of the derivatives that they are needed for."""
        while self.waiting:
            row, eqn, order = self.waiting.popleft()
            self.order = order + 1
            if order > ORDERS:
                row["error"] = f"it is for derivatives of order {order}"
            else:
                self.rule(row, eqn, [var.aval for var in _own_args(eqn)])

    def rule(self, row: dict[str, Any], eqn: Any, avals: Sequence[Any]) -> None:
        """The derivative rules of a function, as it is called by an equation, whose arguments have these types."""
        try:
            if eqn.primitive.name == "custom_jvp_call":
                row["rules"] = [
                    {"rule": self.jaxpr(one.jaxpr), "given": list(one.given), "zeros": list(one.zeros),
                     "whole": one.is_whole} for one in rules.jvp_rules(eqn.params, avals)
                ]  # fmt: skip
            else:
                found = rules.vjp_rule(eqn.params, avals)
                row |= {"forward": self.jaxpr(found.forward), "backward": self.jaxpr(found.backward),
                        "forwarded": list(found.forwarded), "zeros": list(found.zeros),
                        "given": list(found.given), "whole": found.is_whole}  # fmt: skip
        except Exception as error:  # a rule is the user's, and may raise anything
            if isinstance(error, (Inexpressible, jax.errors.UnexpectedTracerError)) and not self.allow_missing:
                raise Inexpressible(
                    f"the derivative rule of {row['name'] or 'a function'} cannot be kept: tracing it raises "
                    f"{type(error).__name__}: {error}"
                ) from error
            row["error"] = f"tracing it raised {type(error).__name__}: {error}"

    def value(self, value: Any, owner: str) -> Any:
        """An option as JSON: plain values as they are, others as a list that begins with their kind."""
        if value is None or type(value) in (bool, int, str):
            return value
        if isinstance(value, np.integer) and owner != "a literal":
            return int(value)
        if type(value) is float:
            return ["float", value.hex() if value == value else "nan"]
        if type(value) is complex:
            return ["complex", self.value(value.real, owner), self.value(value.imag, owner)]
        if type(value) is bytes:
            return ["bytes", base64.b85encode(value).decode()]
        if type(value) in (tuple, list, set, frozenset):
            items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
            return [type(value).__name__, [self.value(one, owner) for one in items]]
        if isinstance(value, Mapping) and type(value) is dict:
            return ["dict", [[self.value(key, owner), self.value(one, owner)] for key, one in value.items()]]
        if type(value) is slice:
            return ["slice", [self.value(one, owner) for one in (value.start, value.stop, value.step)]]
        if internals.is_jaxpr(value):
            return ["jaxpr", self.jaxpr(value)]
        return self.object(value, owner)

    def object(self, value: Any, owner: str) -> Any:
        if isinstance(value, np.dtype) or internals.is_scalar_type(value):
            return ["dtype", np.dtype(value).name]
        if isinstance(value, internals.Primitive):
            return ["primitive", self.primitive(value)]
        if keeping.is_extended(value):
            return ["keys", keeping.generator(value)]
        if type(value).__name__ == "PRNGImpl":
            return ["impl", value.name]
        if isinstance(value, (np.ndarray, np.generic, jax.Array)) or keeping.is_typed_array(value):
            return ["array" if np.ndim(value) or isinstance(value, (np.ndarray, jax.Array)) else "number",
                    self.array(value)]  # fmt: skip
        if isinstance(value, jax.core.AbstractValue):
            return ["type", self.type(value)]
        if isinstance(value, jax.tree_util.PyTreeDef):
            return ["tree", self.tree(value, owner)]
        member = kinds.member(value)
        if member is not None:
            return ["member", *member]
        name = kinds.name_of(type(value))
        parts = None if name is None else kinds.fields(value)
        if parts is not None:
            return ["data", name, {field: self.value(part, owner) for field, part in parts.items()}]
        sharding = keeping.sharding_parts(value)
        if sharding is not None:
            return [sharding[0], [self.value(part, owner) for part in sharding[1]]]
        policy = keeping.policy_parts(value)
        if policy is not None:
            return ["policy", policy[0], None if policy[1] is None else self.value(policy[1], owner)]
        raise Inexpressible(f"{owner} cannot be kept: it is {_described(value)}")

    def tree(self, tree: Any, owner: str) -> Any:
        data = tree.node_data()
        if data is None:
            return None if tree.num_leaves == 0 else 0
        kind, aux = data
        name = kinds.node_name(kind)
        if name is None:
            raise Inexpressible(f"{owner} cannot be kept: it has a pytree of {kind.__module__}.{kind.__qualname__}")
        return [name, self.value(aux, owner), [self.tree(child, owner) for child in tree.children()]]

    # -- types and arrays

    def type(self, aval: Any) -> int:
        return self.types.index(aval, lambda: self._type(aval))

    def _type(self, aval: Any) -> Any:
        if internals.is_reference(aval):
            return ["ref", self.type(aval.inner_aval), self.value(aval.memory_space, "a reference")]
        if type(aval) is internals.ShapedArray:
            owner = f"an array of type {aval}"
            dtype = ["float0"] if aval.dtype == jax.dtypes.float0 else self.object(aval.dtype, owner)
            more = {name: self.value(value, owner) for name, value in keeping.type_extras(aval).items()}
            return ["array", [self.value(size, owner) for size in aval.shape], dtype, bool(aval.weak_type), more]
        if type(aval).__name__ == "AbstractToken":
            return ["token"]
        raise Inexpressible(f"a value of type {aval} ({type(aval).__name__}) cannot be kept")

    def array(self, value: Any) -> int:
        if id(value) not in self.known_arrays:
            self.arrays.append(self._array(value))
            self.known_arrays[id(value)] = value, len(self.arrays) - 1
        return self.known_arrays[id(value)][1]

    def _array(self, value: Any) -> Any:
        if internals.is_keys(value):
            return ["keys", str(jax.random.key_impl(value)), self.array(np.asarray(jax.random.key_data(value)))]
        weak = bool(getattr(getattr(value, "aval", None), "weak_type", False))
        array = np.asarray(value)
        if array.dtype == jax.dtypes.float0:
            return ["float0", list(array.shape)]
        if array.dtype.name not in wire.DTYPES:
            raise Inexpressible(f"a constant of dtype {array.dtype} cannot be kept")
        data = np.ascontiguousarray(array).tobytes()
        start, self.offset = self.offset, self.offset + len(data)
        self.blob.append(data)
        return [array.dtype.name, list(array.shape), start, weak]


def _own_args(eqn: Any) -> Sequence[Any]:
    """The arguments of a function with derivative rules, without what it closes over."""
    jaxpr = eqn.params.get("call_jaxpr") or eqn.params.get("fun_jaxpr")
    args: Sequence[Any] = internals.opened(jaxpr).invars[eqn.params.get("num_consts", 0) :]
    return args


def _described(value: Any) -> str:
    kind = type(value)
    where = f"{getattr(value, '__module__', kind.__module__)}.{getattr(value, '__qualname__', kind.__qualname__)}"
    return f"the function {where}" if callable(value) else f"of class {kind.__module__}.{kind.__qualname__}"
