"""Values as Python expressions."""

import ast
import enum
import sys

from . import placement
from .numbers import nested, number

INLINE = 8
"""Elements up to which an array is written down; larger ones are filled (see `Fill`)."""

_SETS = ("jax.experimental.checkify",)
"""Modules that have sets of private things."""

EXACT = 256
"""The same where the data is wanted; larger ones go to a file."""


class Unwritable(Exception):
    """There is no expression for a value."""


class Constants:
    """Writes values. `fill` is what arrays are filled with: ones, integers (small, all sorts) or exact.

    `data` has the arrays that are too large for the text, by name.
    """

    def __init__(self, fill, public):
        self.fill, self.public, self.data = fill, public, {}

    def source(self, value):
        """An expression for the value. Raises Unwritable."""
        kind = type(value)
        for write in (_scalar, _type, _array, _jax_object, _enum, _container):
            text = write(self, value, kind)
            if text is not None:
                return text
        name = self.public(value)
        if name is not None:
            return name
        own = f" {value.__qualname__}" if callable(value) and hasattr(value, "__qualname__") else ""
        raise Unwritable(f"{kind.__module__}.{kind.__qualname__}{own}")

    def of_part(self, value):
        """The same of tuples, lists and dicts too."""
        if type(value) is tuple:
            return "(" + "".join(self.of_part(one) + ", " for one in value) + ")"
        if type(value) is list:
            return "[" + ", ".join(map(self.of_part, value)) + "]"
        if type(value) is dict:
            return "{" + ", ".join(f"{self.of_part(k)}: {self.of_part(v)}" for k, v in value.items()) + "}"
        return self.source(value)

    def keep(self, array):
        """A large array goes to the file beside the program."""
        name = f"array_{len(self.data)}"
        self.data[name] = array
        return f"data[{name!r}]"


def _scalar(constants, value, kind):
    if kind.__module__ == "jax._src.literals" and issubclass(kind, (int, float, complex)):  # JAX has typed it
        value = next(base for base in (int, float, complex) if isinstance(value, base))(value)
        kind = type(value)
    if value is None or value is Ellipsis or kind in (bool, int, str, bytes):
        return "..." if value is Ellipsis else repr(value)
    if kind is float:
        return repr(value) if abs(value) < float("inf") else f'float("{value}")'
    if kind is complex:
        return number(value)
    return None


def _type(constants, value, kind):
    import numpy as np

    if isinstance(value, np.dtype):
        return _dtype(value)
    if isinstance(value, type) and value in (bool, int, float, complex, str, tuple, list, dict):
        return value.__name__
    if isinstance(value, type) and issubclass(value, np.generic):
        return f"np.{value.__name__}" if getattr(np, value.__name__, None) is value else _dtype(np.dtype(value))
    if type(value).__name__ == "_ScalarMeta":
        return f"jnp.{value.dtype.name}"
    return None


def _dtype(dtype):
    jnp = sys.modules["jax.numpy"]
    name = "bool_" if dtype.name == "bool" else dtype.name
    if hasattr(jnp, name):
        return "jnp." + name
    return repr(dtype.name)


def _array(constants, value, kind):
    import jax
    import numpy as np

    if issubclass(kind, np.generic):
        return f"{_type(constants, kind, type)}({number(value.item())})" if value.dtype.kind in "biufc" else None
    if issubclass(kind, np.ndarray):
        return _filled(constants, "np", value, value.shape, value.dtype, lambda: value)
    if kind.__module__ == "jax._src.literals":  # an array that JAX has put into a jaxpr
        value = np.asarray(value)
        return _filled(constants, "jnp", value, value.shape, value.dtype, lambda: value)
    if issubclass(kind, jax.core.Tracer):
        return hole(value.aval)
    if not isinstance(value, jax.Array):
        return None
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return _exact_keys(constants, value)
    if value.is_deleted():
        return hole(value.aval)
    raw = _raw_key(constants, value)
    if raw is not None:
        return raw
    if not value.is_fully_addressable:
        return _ones("jnp", value.shape, value.dtype)
    text = _on_device(constants, value)
    return _placed(constants, value, text)


def _placed(constants, value, text):
    """An array that has been put somewhere, where there is more than one place."""
    import jax

    sharding = value.sharding
    if not getattr(value, "committed", getattr(value, "_committed", False)):
        return text
    if len(sharding.device_set) == 1:
        device = next(iter(sharding.device_set))
        return text if len(jax.devices()) == 1 else f"jax.device_put({text}, jax.devices()[{device.id}])"
    try:
        return f"jax.device_put({text}, {constants.source(sharding)})"
    except Unwritable:
        return text


def _on_device(constants, value):
    import numpy as np

    weak = bool(getattr(value.aval, "weak_type", False))
    return _filled(constants, "jnp", value, value.shape, value.dtype, lambda: np.asarray(value), weak)


def hole(aval):
    """An array of a shape and type that stands for one that is out of reach. Raises Unwritable."""
    import jax

    inner = getattr(aval, "inner_aval", None)
    if inner is not None and hasattr(jax, "new_ref"):
        return f"jax.new_ref({hole(inner)})"
    if not hasattr(aval, "shape") or not hasattr(aval, "dtype"):
        raise Unwritable(str(aval))
    if jax.dtypes.issubdtype(aval.dtype, jax.dtypes.extended):
        return _keys(aval.shape)
    if not all(isinstance(size, int) for size in aval.shape):
        raise Unwritable(str(aval))
    if not aval.shape and getattr(aval, "weak_type", False):
        return {"f": "jnp.array(1.0)", "b": "jnp.array(False)"}.get(aval.dtype.kind, "jnp.array(1)")
    if aval.dtype.kind == "b":
        return f"jnp.zeros({_shape(aval.shape)}, bool)"  # a loop that asks it comes to its end
    return _ones("jnp", aval.shape, aval.dtype)


def is_float(aval):
    """Whether an array of this type has derivatives."""
    return getattr(getattr(aval, "dtype", None), "kind", None) in ("f", "c", "V")


def _keys(shape):
    key = "jax.random.key(0)"
    return f"jax.random.split({key}, {_shape(shape)})" if shape else key


def _exact_keys(constants, value):
    """Keys by their numbers, where these are wanted or small."""
    import jax
    import numpy as np

    data = np.asarray(jax.random.key_data(value))
    if value.shape == () and data.shape == (2,) and data[0] == 0 and data[1] < 1 << 31:
        return f"jax.random.key({int(data[1])})"
    if constants.fill != "exact":
        return _keys(value.shape)
    return f"jax.random.wrap_key_data({literal('jnp', data, data.dtype)})"


def _raw_key(constants, value):
    """Old keys: what `PRNGKey` makes of a small number."""
    import numpy as np

    if value.shape == (2,) and value.dtype == np.uint32:
        high, low = np.asarray(value).tolist()
        if high == 0 and low < 1 << 31:
            return f"jax.random.PRNGKey({low})"
        return "jax.random.PRNGKey(0)" if constants.fill != "exact" else None
    return None


def _filled(constants, lib, value, shape, dtype, read, weak=False):
    import numpy as np

    size = int(np.prod(shape))
    if dtype.kind in "OUS" and size <= EXACT:
        plain = [constants.of_part(one) for one in read().ravel().tolist()]
        return f"np.array([{', '.join(plain)}], {dtype.str!r}).reshape({_tuple(shape)})"
    if dtype.kind not in "biufcV" or dtype.fields:
        raise Unwritable(f"an array of {dtype}")
    if not shape and weak:
        return f"jnp.array({number(read().item())})"
    limit = EXACT if constants.fill == "exact" else INLINE
    if size <= limit:
        return literal(lib, read(), dtype)
    if constants.fill == "exact":
        return constants.keep(read())
    if constants.fill == "integers" and dtype.kind in "iufcV":
        return f"({lib}.arange({size}).reshape({_shape(shape)}) % 7){_astype(lib, dtype)}"
    return _ones(lib, shape, dtype)


def literal(lib, array, dtype):
    """All elements of an array, as a call of `jnp` or `np`."""
    import numpy as np

    plain = array.astype(np.float32) if dtype.kind == "V" else array
    if not array.shape:
        only = number(plain.item())
        name = _dtype(dtype) if lib == "jnp" else _name(lib, dtype)
        return f"{name}({only})" if "." in name else f"{lib}.array({only}, {name})"
    if array.size and _all_ones(plain):
        return _ones(lib, array.shape, dtype)
    if array.size and not plain.any() and dtype.kind != "b":
        return f"{lib}.zeros({_shape(array.shape)}{_of(lib, dtype)})"
    if array.size > 1 and bool((plain == plain.flat[0]).all()):
        of = _of(lib, dtype) if lib == "np" else ", " + _name(lib, dtype)  # else it would be of a weak type
        return f"{lib}.full({_shape(array.shape)}, {number(plain.flat[0].item())}{of})"
    if not array.size:
        return f"{lib}.zeros({_shape(array.shape)}{_of(lib, dtype)})"
    default = np.asarray(plain.tolist()).dtype
    if lib == "jnp":
        default = sys.modules["jax"].dtypes.canonicalize_dtype(default)
    return f"{lib}.array({nested(plain.tolist())}{'' if dtype == default else ', ' + _name(lib, dtype)})"


def _all_ones(array):
    return bool((array == 1).all()) and array.dtype.kind != "b"


def _ones(lib, shape, dtype):
    return f"{lib}.ones({_shape(shape)}{_of(lib, dtype)})"


def _of(lib, dtype):
    """The dtype argument, where it is not the default."""
    import jax
    import numpy as np

    default = np.dtype(float) if lib == "np" else jax.dtypes.canonicalize_dtype(float)
    return "" if dtype == default else ", " + _name(lib, dtype)


def _astype(lib, dtype):
    return f".astype({_name(lib, dtype)})"


def _name(lib, dtype):
    import numpy as np

    if dtype.kind == "b":
        return "bool"
    return f"np.{dtype.name}" if lib == "np" and hasattr(np, dtype.name) else _dtype(dtype)


def _shape(shape):
    if len(shape) == 1:
        return str(int(shape[0]))
    return "(" + ", ".join(str(int(size)) for size in shape) + ")"


def _jax_object(constants, value, kind):
    """Shardings, meshes, shapes and the like."""
    import jax

    sharding = jax.sharding
    if kind is jax.ShapeDtypeStruct:
        return f"jax.ShapeDtypeStruct({_sizes(value.shape)}, {_dtype(value.dtype)})"
    if kind is sharding.PartitionSpec:
        return "P({})".format(", ".join(constants.of_part(part) for part in value))
    if value is sharding.PartitionSpec.UNCONSTRAINED:
        return "P.UNCONSTRAINED"
    if kind is sharding.NamedSharding:
        memory = placement.memory(value)
        return f"jax.sharding.NamedSharding({constants.source(value.mesh)}, {constants.source(value.spec)}{memory})"
    if kind is sharding.Mesh:
        return placement.mesh(value)
    if hasattr(value, "major_to_minor"):
        more = f", tiling={value.tiling!r}" if getattr(value, "tiling", None) else ""
        return f"{constants.public(kind)}({tuple(value.major_to_minor)!r}{more})"
    if kind.__name__ == "AbstractMesh":
        return placement.abstract_mesh(value)
    if kind.__name__ == "SingleDeviceSharding":
        return f"jax.sharding.SingleDeviceSharding(jax.devices()[{next(iter(value.device_set)).id}])"
    if kind.__name__ in ("Device", "CpuDevice") and hasattr(value, "id") and hasattr(value, "platform"):
        return f"jax.devices()[{value.id}]"
    return None


def _sizes(shape):
    if all(isinstance(size, int) for size in shape):
        return _tuple(shape)
    text = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    return f"jax.export.symbolic_shape({text!r})"


def _tuple(shape):
    return repr(tuple(int(size) for size in shape))


def _enum(constants, value, kind):
    if not isinstance(value, enum.Enum):
        return None
    name = constants.public(kind)
    if name is None:
        raise Unwritable(f"{kind.__module__}.{kind.__qualname__}")
    return f"{name}.{value.name}"


def _container(constants, value, kind):
    """Sets, and the named tuples and frozen classes in which JAX takes options."""
    if kind is frozenset and value and not all(map(constants.public, value)):
        return _union(constants, value)
    if kind in (set, frozenset):
        items = sorted(constants.source(one) for one in value)
        inner = "{" + ", ".join(items) + "}" if items else ""
        return f"{kind.__name__}({inner})" if kind is frozenset or not items else inner
    if kind is range:
        return repr(value)
    if not kind.__module__.startswith("jax."):
        return None
    name = constants.public(kind)
    fields = getattr(kind, "_fields", None) or list(getattr(kind, "__dataclass_fields__", ()))
    if name is None or not fields:
        return None
    options = [(field, getattr(value, field)) for field in fields]
    given = [f"{field}={constants.of_part(part)}" for field, part in options if not _is_default(kind, field, part)]
    return f"{name}({', '.join(given)})"


def _is_default(kind, field, value):
    known = getattr(kind, "_field_defaults", None) or {
        name: one.default for name, one in getattr(kind, "__dataclass_fields__", {}).items()
    }
    return field in known and type(known[field]) is type(value) and known[field] == value


def _union(constants, value):
    """A set of JAX's own, such as of checks, as what public ones make together; None where they do not."""
    public = {name: one for module in _SETS for name, one in vars(sys.modules.get(module, object)).items()}
    parts = [one for one in public.values() if type(one) is frozenset and one and one <= value]
    found = []
    for part in sorted(parts, key=len, reverse=True):
        if not any(part <= other for other in found):
            found.append(part)
    if frozenset().union(*found) != value:
        return None
    return " | ".join(map(constants.public, found))


def expression(text):
    """The tree of an expression."""
    return ast.parse(text, mode="eval").body
