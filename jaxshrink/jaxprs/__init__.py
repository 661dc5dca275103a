"""jaxprs as Python source and as bytes; what a function closes over.

    from jaxshrink import jaxprs

    text = jaxprs.to_source(jax.make_jaxpr(fun)(*args))
    fun = jaxprs.from_source(text)

Runs in the user's process.
"""

from __future__ import annotations

from jaxshrink.jaxprs.compare import equivalent as equivalent
from jaxshrink.jaxprs.errors import CorruptJaxpr as CorruptJaxpr
from jaxshrink.jaxprs.errors import Inexpressible as Inexpressible
from jaxshrink.jaxprs.errors import JaxprError as JaxprError
from jaxshrink.jaxprs.source import from_source as from_source
from jaxshrink.jaxprs.source import to_source as to_source

__all__ = ["CorruptJaxpr", "Inexpressible", "JaxprError", "equivalent", "from_source", "to_source"]
