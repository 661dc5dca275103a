"""What to do where another function object is called, or the same in another way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxshrink.recompiles.advice.case import WHAT, Case, some
from jaxshrink.recompiles.data import Callee

_ARRAY = re.compile(r"\b(bool|[a-z]+\d+|key<\w+>)\[[\d,]*\]")
"""How an array is told that a function closes over, or that is in what it closes over: its type alone."""

_MANY = 2
"""So many ways to map over an argument are told one by one."""


def eager(case: Case) -> str:
    """For functions of JAX's own."""
    where = f"in {case.where}" if case.where else "on this line"
    if case.miss.reason == "new function object":
        return (
            f"`{case.name}` is called outside of jit, with a function that is made anew each time, and compiled for "
            f"each: put what is done {where} into one function, and jit that (to define the function that it gets "
            "once, outside, is enough for scan, cond and while_loop, not for lax.map)"
        )
    return (
        f"`{case.name}` is called outside of jit, and compiled for each shape and parameter by itself: put what is "
        f"done {where} into one function, and jit that"
    )


def new_function(case: Case) -> str:
    """For another function object."""
    new, old = case.miss.signature.function, case.earlier.signature.function if case.earlier else None
    if old is not None and old.around != new.around:
        forms = [each.replace("it", f"`{case.name}`") for each in case.texts]
        return f"{', '.join(forms)} are programs of their own: that is needed once for each"
    kind = new.kind
    if kind in ("wrapped", "object") and old is not None and old.inner.number != new.inner.number:
        kind = new.inner.kind
    if kind == "function":  # by a `def` in a loop
        kind = "nested"
    held = {path: texts for path, texts in case.values("new function object").items() if path != "function"}
    if kind in ("method", "object") and "self" in held:
        return (
            f"`{case.name}` is a method of a new {new.holds['self'].split()[0]}, and jit caches by the object: jit a "
            "function outside of the class that gets what it needs, or make the object a pytree"
        )
    if held and kind in ("nested", "lambda", "wrapped", "partial"):
        verb = "is bound to" if kind == "partial" else "closes over"
        values = ", ".join(f"{path} ({some(texts)})" for path, texts in [*held.items()][:3])
        return f"`{case.name}` {verb} {values}, and is new for each: jit one function, and pass these as arguments"
    return _made_anew(case, kind, new)


def _made_anew(case: Case, kind: str, function: Callee) -> str:
    """For a function that does the same as the one before."""
    maker = f"by {case.where}" if case.where else "each time"
    jit = _jitted(function.around)
    arrays = [f"{name} ({text})" for name, text in function.holds.items() if _ARRAY.search(text)]
    if case.owner == "library" and kind in ("nested", "lambda", "partial"):
        return f"`{case.name}`, of a library, is made anew {maker}: make it once, outside, and keep {jit} of it"
    if arrays and kind in ("nested", "lambda"):
        return (
            f"`{case.name}` closes over {', '.join(arrays[:3])}, and is defined anew {maker}: define it once, "
            f"outside, with these as arguments, and keep {jit} of it"
        )
    return {
        "method": f"the method `{case.name}` is jitted anew {maker}, and JAX forgets with it: keep what jit gives",
        "lambda": f"a new lambda is made {maker}: define it once, outside, and keep {jit} of it",
        "nested": f"`{case.name}` is defined anew {maker}: define it once, outside, and keep {jit} of it",
        "partial": f"a new partial of `{case.name}` is made {maker}: keep one, or pass what it binds as arguments",
        "wrapped": f"a new function around `{case.name}` is made {maker}: make it once, outside, and keep {jit} of it",
    }.get(kind, f"another object stands for `{case.name}` each time: make it once, and jit it once")


def _jitted(around: Sequence[str]) -> str:
    """How a function under transformations is compiled: `jax.jit(jax.grad(...))`."""
    if not around:
        return "what jit makes"  # perhaps that of a library
    functions = [*(["jit"] if "pmap" not in around else []), *around]
    return "".join(f"jax.{each}(" for each in functions) + "..." + ")" * len(functions)


def options(case: Case) -> str:
    """For options of jit."""
    return (
        f"`{case.name}` is jitted twice, with another {case.first.path} ({case.first.before}, then "
        f"{case.first.after}): jit it once and use that"
    )


def transformation(case: Case) -> str:
    """For transformations from outside of jit."""
    if case.first.path != "transformations":
        if len(case.texts) > _MANY:
            ways = f"in {len(case.texts)} ways ({some(case.texts)})"
        else:
            ways = f"in another way ({case.first.before}, then {case.first.after})"
        return (
            f"vmap maps over {WHAT} {ways}: map over the same arguments and sizes each time, or put jit outermost, as "
            "in jax.jit(jax.vmap(f))"
        )
    return (
        f"`{case.name}` runs under transformations ({some(case.texts)}), and "
        "each makes another program of it: put jit outermost, as in jax.jit(jax.grad(f))"
    )
