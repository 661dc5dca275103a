"""Pytrees as tuples, lists and dicts, one level at a time."""

from .values import is_array, is_of_jax


def children(value):
    """(kind, keys, items) of a container, None for a leaf. Named tuples become tuples, registered classes dicts of
    their attributes, or tuples where these have no names."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, list(range(len(value))), list(value)
    if kind is dict:
        return dict, list(value), list(value.values())
    if kind is slice:
        return slice, [0, 1, 2], [value.start, value.stop, value.step]
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        if is_of_jax(kind) and not any(map(is_array, value)):
            return None  # an option, such as the dimension numbers of a convolution
        return tuple, list(range(len(value))), list(tuple.__iter__(value))
    if kind.__module__ == "builtins":
        return None
    return _registered(value)


def _registered(value):
    """The children of an instance of a class that JAX knows as a pytree."""
    from jax import tree_util

    try:
        if tree_util.all_leaves((value,)):
            return None
        pairs = tree_util.tree_flatten_with_path(value, is_leaf=lambda part: part is not value)[0]
    except Exception:  # a flattening function of the program may raise anything
        return None
    keys = [_key(path[0]) if path else 0 for path, _ in pairs]
    items = [item for _, item in pairs]
    if keys and all(isinstance(key, str) for key in keys) and len(set(keys)) == len(keys):
        return dict, keys, items
    if keys and _are_literals(keys) and len(set(keys)) == len(keys) and keys != list(range(len(keys))):
        return dict, keys, items
    return tuple, list(range(len(items))), items


def _key(entry):
    for name in ("name", "key", "idx"):
        if hasattr(entry, name):
            key = getattr(entry, name)
            return key if isinstance(key, (str, int)) else str(key)
    return str(entry)


def _are_literals(keys):
    return all(isinstance(key, (str, int)) for key in keys)
