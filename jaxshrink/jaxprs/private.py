"""All of JAX that is not public and used here: its modules, and the classes of jaxprs.

What each is used for is checked in `tests/jaxprs/test_internals.py`, on older releases by `nox -s jax_versions`. What
differs between releases is told apart by what is there, not by version numbers.
"""

from __future__ import annotations

import importlib
from typing import Any

import jax

jax_core: Any = importlib.import_module("jax.extend.core")


def found(name: str) -> Any:
    """A module of JAX's internals, or what one has under a name (`module:name.name`); None where there is none."""
    module, _, path = name.partition(":")
    try:
        value: Any = importlib.import_module(f"jax._src.{module}" if not module.startswith("jax") else module)
        for part in filter(None, path.split(".")):
            value = getattr(value, part)
    except (ImportError, AttributeError):
        return None
    return value


ad = found("interpreters.ad")
ad_util = found("ad_util")
api_util = found("api_util")
check_vma = found("config:_check_vma")  # since JAX 0.7
core = found("core")
if not hasattr(jax_core, "Jaxpr") or not hasattr(core, "JaxprEqnContext"):
    raise ImportError(f"jaxshrink.jaxprs needs JAX 0.4.30 or newer; this is {jax.__version__}")

indexing = found("state.indexing")
lax = found("lax.lax")
linear_util = found("linear_util")
partial_eval = found("interpreters.partial_eval")
source_info_util = found("source_info_util")
state_types = found("state.types")
use_abstract_mesh = found("mesh:use_abstract_mesh") or found("mesh:set_abstract_mesh")
xla_client = found("lib:xla_client")

flattree = found("flattree")  # since JAX 0.12
literals = found("literals")  # since JAX 0.7
prng = found("random.prng") or found("prng")

Jaxpr: Any = jax_core.Jaxpr
ClosedJaxpr: Any = jax_core.ClosedJaxpr  # the same class in JAX 0.12
Literal: Any = core.Literal
Var: Any = core.Var
DropVar: Any = core.DropVar
ShapedArray: Any = core.ShapedArray
Primitive: Any = core.Primitive
no_effects: Any = core.no_effects
