"""Bytes as a jaxpr. Everything that the bytes say is checked: they may come from anywhere."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxshrink.jaxprs import checking, internals, kinds, restoring, ruled, wire
from jaxshrink.jaxprs.adapting import Adapter
from jaxshrink.jaxprs.checks import of_kind as _as
from jaxshrink.jaxprs.checks import row_at as _at
from jaxshrink.jaxprs.checks import size as _size
from jaxshrink.jaxprs.errors import CorruptJaxpr, Inexpressible

_DEEPEST = 100  # of options in options
_MOST = 64  # dimensions: as NumPy has it
_TOLD = 300  # characters of what JAX has to say


def loads(data: bytes, allow_missing: bool = False) -> Any:
    """The closed jaxpr that `dumps` has made into these bytes.

    Nothing in the bytes is executed: classes and functions are looked up in fixed tables of JAX's own, primitives in
    modules that are already imported. So a primitive of another library needs that library to be imported before.
    What is returned has passed JAX's own check of types. To run it is to run a program all the same: it may take all
    time and memory that there is, call whatever is registered with XLA, and meet faults of the compiler.

    Bytes that `dumps` has made with another release of JAX are read as far as this one has the same: see `adapting`.

    Raises CorruptJaxpr for bytes that `dumps` has not made, Inexpressible where a primitive, an option of one or a
    device is not there.
    With `allow_missing`, an equation whose primitive is not there raises when it is called.
    """
    document, arrays = wire.unpacked(bytes(data))
    try:
        made = _Decoder(document, arrays, allow_missing).main()
        checking.check(made)
        return made
    except (CorruptJaxpr, Inexpressible):
        raise
    except restoring.MissingDevices as error:
        raise Inexpressible(str(error)) from error
    except Exception as error:  # JAX's constructors raise all sorts of errors for what makes no sense
        why = str(error).partition("\n\n")[0][:_TOLD]  # after that, JAX shows the jaxpr
        raise CorruptJaxpr(f"the jaxpr makes no sense: {type(error).__name__}: {why}") from error


class _Decoder:
    def __init__(self, document: Any, arrays: memoryview, allow_missing: bool) -> None:
        self.document = _as(dict, document)
        self.blob, self.allow_missing = arrays, allow_missing
        self.types: list[Any] = []
        self.primitives: list[Any] = []
        self.arrays: list[Any] = []
        self.jaxprs: list[Any] = []
        self.customs: dict[int, Any] = {}
        self.calls: dict[int, Any] = {}
        release = _as(str, self.document.get("jax"))
        self.adapter = None if release == jax.__version__ else Adapter(release)

    def main(self) -> Any:
        for row in self.rows("arrays"):
            self.arrays.append(self.array(_as(list, row)))
        self.primitives = [self.primitive(*row) for row in self.rows("primitives")]  # types may be of their modules
        for row in self.rows("types"):
            self.types.append(self.type(_as(list, row)))
        self.frames = [restoring.frame(_as(str, file), _line(line), _as(str, name))
                       for file, line, name in self.rows("frames")]  # fmt: skip
        self.contexts = [self.context(*row) for row in self.rows("contexts")]
        for row in self.rows("jaxprs"):
            self.jaxprs.append(self.jaxpr(_as(dict, row)))
        main = _at(self.jaxprs, self.document.get("main"))
        if not isinstance(main, internals.ClosedJaxpr):
            raise CorruptJaxpr("the jaxpr is not closed")
        return main

    def rows(self, name: str) -> list[Any]:
        found: list[Any] = _as(list, self.document.get(name))
        return found

    # -- tables

    def array(self, row: list[Any]) -> Any:
        if row and row[0] == "keys":
            _, impl, index = row
            return jax.random.wrap_key_data(_at(self.arrays, index), impl=_as(str, impl))
        if row and row[0] == "float0":
            return np.broadcast_to(np.zeros((), jax.dtypes.float0), _shape(row[1]))
        name, shape, start, weak = row
        dtype = wire.dtype(name)
        shape = _shape(shape)
        length = math.prod(shape) * dtype.itemsize
        if _size(start) + length > len(self.blob):
            raise CorruptJaxpr("an array is longer than the bytes that are there")
        found = np.frombuffer(self.blob, np.uint8, length, start).view(dtype).reshape(shape)
        found = found.copy() if not shape else found
        return jax.numpy.asarray(found.item()) if weak is True and not shape else found

    def type(self, row: list[Any]) -> Any:
        match row:
            case ["array", list(shape), dtype, bool(weak), dict(extras)]:
                sizes = _shape([self.value(one) for one in shape])
                more = {str(key): self.value(one) for key, one in extras.items()}
                kind = jax.dtypes.float0 if dtype == ["float0"] else self.value(dtype)
                return restoring.array_type(sizes, kind, weak, more)
            case ["ref", index, memory]:
                return restoring.reference_type(_at(self.types, index), self.value(memory))
            case ["token"]:
                return restoring.token_type()
        raise CorruptJaxpr("there is no such type")

    def primitive(self, dotted: Any, name: Any) -> Any:
        found = None if dotted is None else restoring.primitive(_as(str, dotted))
        if found is not None and found.name == name:
            return found
        if dotted is not None and self.adapter is not None:
            return restoring.moved(_as(str, name)) or restoring.missing(name, not self.allow_missing)
        if dotted is not None and not self.allow_missing:
            module = dotted.rpartition(".")[0]
            raise Inexpressible(f"no module has the primitive {dotted}: import {module} before, if there is one")
        return restoring.missing(_as(str, name))

    def context(self, scopes: Any, settings: Any) -> Any:
        given = {key: self.value(value) for key, value in _as(dict, settings).items()}
        return restoring.name_stack([_as(str, one) for one in _as(list, scopes)]), restoring.context(given)

    # -- jaxprs

    def jaxpr(self, row: dict[str, Any]) -> Any:
        consts = [(_at(self.types, kind), _at(self.arrays, index)) for kind, index in _as(list, row["consts"])]
        constvars = [restoring.variable(aval) for aval, _ in consts]
        invars = [restoring.variable(_at(self.types, index)) for index in _as(list, row["args"])]
        known = [*constvars, *invars]
        eqns = [self.equation(eqn, known) for eqn in _as(list, row["eqns"])]
        outvars = [self.atom(atom, known) for atom in _as(list, row["outs"])]
        arg_names, paths = ([_as(str, one) for one in _as(list, part)] for part in row["names"])
        if len(arg_names) != len(invars) or len(paths) != len(outvars):
            raise CorruptJaxpr("there are not as many names as arguments and results")
        effects = {self.effect(one, known) for one in _as(list, row["effects"])}
        info = (_as(str, row["function"]), arg_names, paths)
        made = restoring.jaxpr(constvars, invars, outvars, eqns, effects, info)
        if row["closed"] is not True and not consts:
            return made
        return internals.ClosedJaxpr(made, [value for _, value in consts])

    def atom(self, atom: Any, known: list[Any]) -> Any:
        if type(atom) is int:
            return _at(known, atom)
        kind, value, is_typed = _as(list, atom)
        aval = _at(self.types, kind)
        found = self.value(value)
        if _as(bool, is_typed):
            found = restoring.typed_number(found, aval.dtype)
        if not isinstance(found, (bool, int, float, complex, np.generic, np.ndarray, jax.Array)) or np.ndim(found):
            raise CorruptJaxpr("a literal is no number")
        return internals.Literal(restoring.on_host(found, aval) if isinstance(found, jax.Array) else found, aval)

    def equation(self, row: Any, known: list[Any]) -> Any:
        index, params, effects, atoms, outs, frame, context = _as(list, row)
        primitive = _at(self.primitives, index)
        invars = [self.atom(atom, known) for atom in _as(list, atoms)]
        outvars = []
        for out in _as(list, outs):
            if isinstance(out, list):
                (kind,) = out
                outvars.append(internals.DropVar(_at(self.types, kind)))
            else:
                outvars.append(restoring.variable(_at(self.types, out)))
                known.append(outvars[-1])
        options = self.options(_as(dict, params), len(invars), len(outvars))
        if "@custom" in params:
            primitive, options = self.custom(params["@custom"], options)
        found = {self.effect(one, known) for one in _as(list, effects)}
        stack, ctx = _at(self.contexts, context)
        info = restoring.source(None if frame is None else _at(self.frames, frame), stack)
        made = restoring.equation(invars, outvars, primitive, options, found or internals.no_effects, info, ctx)
        if self.adapter is None or "@custom" in params or restoring.is_missing(primitive):
            return made
        return self.adapter.adapted(made)

    def effect(self, row: Any, known: list[Any]) -> Any:
        name, var, axis = _as(list, row)
        return restoring.effect(_as(str, name), None if var is None else _at(known, var), axis)

    # -- options

    def options(self, params: dict[str, Any], operands: int, results: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in params.items():
            if name == "@scan":
                counts = [_size(one) for one in _as(list, value)]
                found |= restoring.scan_params(counts, operands, results)
            elif not name.startswith("@"):
                found[name] = self.value(value)
        if params.get("@computation") is True:
            found["computation"] = internals.function(internals.closed(found["jaxpr"], found.get("consts", ())))
        return found

    def custom(self, index: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The primitive and the options of a call of a function with derivative rules: as JAX makes them, then as they
        were."""
        if index not in self.calls:
            row = _as(dict, _at(self.rows("customs"), index))
            avals = [_at(self.types, one) for one in _as(list, row["args"])]
            outs = [_at(self.types, one) for one in _as(list, row["outs"])]
            fun = ruled.function(row, outs, lambda index: internals.closed(_at(self.jaxprs, index)))
            self.calls[index] = restoring.custom_call(fun, avals)
        call = self.calls[index]
        if "fun_jaxpr" in call.params:
            given["fun_jaxpr"] = given.pop("call_jaxpr")
        options = restoring.with_consts({**call.params, **given}, given.get("num_consts", 0))
        return call.primitive, {name: options[name] for name in call.params}

    def value(self, value: Any, depth: int = 0) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if depth > _DEEPEST:
            raise CorruptJaxpr("an option is nested too deeply")
        kind, *parts = _as(list, value)
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise CorruptJaxpr(f"there is no kind of values {str(kind)[:40]!r}")
        return reader(self, depth + 1, *parts)

    def values(self, values: Any, depth: int) -> list[Any]:
        return [self.value(one, depth) for one in _as(list, values)]

    def member(self, name: str, member: str) -> Any:
        try:
            return kinds.member_of(name, member)
        except Inexpressible:
            if self.adapter is None:
                raise
            return kinds.Unknown(f"{name}.{member}")  # the option may be one that can be left out

    def tree(self, node: Any, depth: int) -> Any:
        if node is None or node == 0:
            return jax.tree_util.tree_structure(node)
        if depth > _DEEPEST:
            raise CorruptJaxpr("a pytree is nested too deeply")
        name, aux, children = _as(list, node)
        found = (kinds.nodes()[name], self.value(aux, depth))
        inner = [self.tree(child, depth + 1) for child in _as(list, children)]
        return restoring.tree(found, inner)


def _float(decoder: _Decoder, depth: int, text: Any) -> float:
    return float.fromhex(_as(str, text))


def _dict(decoder: _Decoder, depth: int, pairs: Any) -> Any:
    return {decoder.value(key, depth): decoder.value(one, depth) for key, one in _as(list, pairs)}


def _data(decoder: _Decoder, depth: int, name: Any, parts: Any) -> Any:
    given = {field: decoder.value(part, depth) for field, part in _as(dict, parts).items()}
    return kinds.made(kinds.named(_as(str, name)), given)


def _policy(decoder: _Decoder, depth: int, name: Any, args: Any) -> Any:
    return restoring.policy(_as(str, name), None if args is None else decoder.value(args, depth))


def _number(decoder: _Decoder, depth: int, index: Any) -> Any:
    return np.asarray(_at(decoder.arrays, index))[()]


_READERS: dict[str, Callable[..., Any]] = {
    "float": _float,
    "complex": lambda decoder, depth, real, imag: complex(decoder.value(real, depth), decoder.value(imag, depth)),
    "bytes": lambda decoder, depth, text: base64.b85decode(_as(str, text)),
    "tuple": lambda decoder, depth, parts: tuple(decoder.values(parts, depth)),
    "list": lambda decoder, depth, parts: decoder.values(parts, depth),
    "set": lambda decoder, depth, parts: set(decoder.values(parts, depth)),
    "frozenset": lambda decoder, depth, parts: frozenset(decoder.values(parts, depth)),
    "dict": _dict,
    "slice": lambda decoder, depth, parts: slice(*decoder.values(parts, depth)),
    "jaxpr": lambda decoder, depth, index: _at(decoder.jaxprs, index),
    "dtype": lambda decoder, depth, name: wire.dtype(name),
    "keys": lambda decoder, depth, impl: restoring.key_type(_as(str, impl)),
    "impl": lambda decoder, depth, impl: restoring.key_impl(_as(str, impl)),
    "array": lambda decoder, depth, index: _at(decoder.arrays, index),
    "number": _number,
    "primitive": lambda decoder, depth, index: _at(decoder.primitives, index),
    "type": lambda decoder, depth, index: _at(decoder.types, index),
    "tree": lambda decoder, depth, node: decoder.tree(node, depth),
    "data": _data,
    "member": lambda decoder, depth, name, one: decoder.member(_as(str, name), _as(str, one)),
    "policy": _policy,
    **{
        name: lambda decoder, depth, parts, name=name: restoring.sharding(name, decoder.values(parts, depth))
        for name in ("P", "unconstrained", "Mesh", "AbstractMesh", "NamedSharding", "SingleDevice", "Device")
    },
}
"""By kind, what makes a value of its parts."""


def _shape(sizes: Any) -> tuple[int, ...]:
    if len(_as(list, sizes)) > _MOST:
        raise CorruptJaxpr("an array has too many dimensions")
    return tuple(map(_size, sizes))


def _line(value: Any) -> int:
    return min(_size(value), (1 << 31) - 1)
