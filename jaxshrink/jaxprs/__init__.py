"""jaxprs as Python source and as bytes; what a function closes over.

    from jaxshrink import jaxprs

    text = jaxprs.to_source(jax.make_jaxpr(fun)(*args))
    fun = jaxprs.from_source(text)
    data = jaxprs.dumps(jax.make_jaxpr(fun)(*args))     # bytes, without pickle
    closed_jaxpr = jaxprs.loads(data)
    pure, values = jaxprs.closure_convert(fun, *args)   # pure(*args, *values) is fun(*args)

Runs in the user's process.
"""

from __future__ import annotations

from jaxshrink.jaxprs.compare import equivalent as equivalent
from jaxshrink.jaxprs.decode import loads as loads
from jaxshrink.jaxprs.encode import dumps as dumps
from jaxshrink.jaxprs.errors import CorruptJaxpr as CorruptJaxpr
from jaxshrink.jaxprs.errors import Inexpressible as Inexpressible
from jaxshrink.jaxprs.errors import JaxprError as JaxprError
from jaxshrink.jaxprs.source import from_source as from_source
from jaxshrink.jaxprs.source import to_source as to_source
from jaxshrink.jaxprs.tracing import Traced as Traced
from jaxshrink.jaxprs.tracing import closure_convert as closure_convert
from jaxshrink.jaxprs.tracing import trace as trace

__all__ = [
    "CorruptJaxpr",
    "Inexpressible",
    "JaxprError",
    "Traced",
    "closure_convert",
    "dumps",
    "equivalent",
    "from_source",
    "loads",
    "to_source",
    "trace",
]
