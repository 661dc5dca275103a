"""Where arrays are, as source: meshes of devices, kinds of memory."""


def mesh(value):
    """A mesh of devices."""
    shape, names = value.devices.shape, value.axis_names
    types = [str(one).rpartition(".")[2] for one in getattr(value, "axis_types", None) or ()]
    size = shape[0] if len(shape) == 1 else tuple(shape)
    more = _axis_types(types) if any(one != "Auto" for one in types) else ""
    return f"jax.sharding.Mesh(np.reshape({_devices(value.devices)}, {size}), {names!r}{more})"


def _axis_types(types):
    """The kinds of axes as an argument, where these are known."""
    if len(types) > 1 and len(set(types)) == 1:
        return f", axis_types=(jax.sharding.AxisType.{types[0]},) * {len(types)}"
    return ", axis_types=({},)".format(", ".join("jax.sharding.AxisType." + one for one in types)) if types else ""


def memory(sharding):
    """The kind of memory as an argument, where it is not the one that arrays are in anyway."""
    import jax

    kind = sharding.memory_kind
    usual = (None, "device", jax.devices()[0].default_memory().kind)
    return "" if kind in usual else f", memory_kind={kind!r}"


def _devices(found):
    """Devices by their places among all."""
    import jax

    all_ = jax.devices()
    places = [all_.index(device) if device in all_ else i for i, device in enumerate(found.ravel())]
    first, end = places[0], places[0] + len(places)
    if places != list(range(first, end)):
        return f"np.take(jax.devices(), {places})"
    return f"jax.devices()[{first or ''}:{end}]"


def abstract_mesh(value):
    """One that knows what its devices are is one of devices."""
    types = [str(one).rpartition(".")[2] for one in getattr(value, "axis_types", None) or ()]
    given = f"{tuple(value.axis_sizes)!r}, {value.axis_names!r}{_axis_types(types)}"
    if getattr(value, "abstract_device", None) is None:
        return f"jax.sharding.AbstractMesh({given})"
    return f"jax.make_mesh({given}).abstract_mesh"
