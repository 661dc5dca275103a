"""Meshes, shardings and partition specs as source text. Runs in the target interpreter.

A NamedSharding cannot be weakly referenced, so where it was made is not known for long.
"""

import sys


def sharding_source(value):
    """An expression for an object that is equal to the value; None for other things, and where there is none."""
    sharding = sys.modules.get("jax.sharding")
    kind = type(value)
    if sharding is None:
        return None
    if kind is sharding.PartitionSpec and kind(*value) == value and all(map(_is_axes, value)):
        return "P({})".format(", ".join(map(repr, value)))
    if kind is sharding.NamedSharding and kind(value.mesh, value.spec) == value:
        mesh, spec = sharding_source(value.mesh), sharding_source(value.spec)
        return mesh and spec and f"jax.sharding.NamedSharding({mesh}, {spec})"
    if kind is sharding.Mesh and value.devices.size == len(sys.modules["jax"].devices()):
        shape, names = value.devices.shape, value.axis_names
        if kind(sys.modules["numpy"].reshape(sys.modules["jax"].devices(), shape), names) == value:
            return f"jax.sharding.Mesh(np.reshape(jax.devices(), {shape}), {names})"
    return None


def _is_axes(entry):
    names = entry if type(entry) is tuple else (entry,)
    return all(name is None or type(name) is str for name in names)
