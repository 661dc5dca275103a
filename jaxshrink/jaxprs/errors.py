"""What can go wrong with jaxprs.

    ValueError
    └── JaxprError
        ├── Inexpressible     what is in a jaxpr has no form as Python, or as bytes
        └── CorruptJaxpr      bytes that `dumps` has not made
"""

from __future__ import annotations


class JaxprError(ValueError):
    """Base of the errors of `jaxshrink.jaxprs`."""


class Inexpressible(JaxprError):
    """Something in a jaxpr has no form as Python source, or as bytes. The message names it."""


class CorruptJaxpr(JaxprError):
    """Bytes that are not a jaxpr as `dumps` writes it: truncated, altered, of another kind or a newer version."""
