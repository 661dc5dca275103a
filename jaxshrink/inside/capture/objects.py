"""Objects that JAX gives: what their methods do is noted."""

import functools
import sys

from .calls import Attribute

_CLASSES = (
    ("jax._src.stages", "Traced", ("lower",)),
    ("jax._src.stages", "Lowered", ("compile",)),
    ("jax._src.stages", "Compiled", ("__call__",)),
    ("jax._src.export._export", "Exported", ("call", "vjp", "serialize")),
    ("jax._src.checkify", "Error", ("throw",)),
    ("jax._src.api", "VJP", ("__call__",)),
    ("jax._src.tree_util", "Partial", ("__call__",)),
)


def install(session):
    """Watch the methods of those classes that are there."""
    for module, name, methods in _CLASSES:
        cls = getattr(sys.modules.get(module), name, None)
        for method in methods if cls is not None else ():
            if hasattr(cls, method) and not hasattr(getattr(cls, method), "_jaxshrink_method"):
                setattr(cls, method, _method(session, method, getattr(cls, method)))


def _method(session, name, method):
    @functools.wraps(method)
    def called(self, *args, **kwargs):
        ref = None if session.is_idle else session.guard(None, session.reference, self)
        if ref is None:
            return method(self, *args, **kwargs)
        expression = ref if name == "__call__" else Attribute(ref, name)
        return session.call(expression, functools.partial(method, self), args, kwargs)

    called._jaxshrink_method = True
    return called
