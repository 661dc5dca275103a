"""What may let a program fail in one run and not in the next: random numbers without a seed, clocks, threads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jaxshrink import tree as trees
from jaxshrink.tree import Edit
from jaxshrink.view import View

TRIES = 8
"""Runs of a program that may fail by chance, before it counts as one that does not fail."""

_NAMES = frozenset({
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "now", "today", "utcnow",
    "urandom", "getrandbits", "token_bytes", "token_hex", "randbelow", "uuid1", "uuid4", "getpid", "SystemRandom",
    "randint", "randrange", "choice", "choices", "shuffle", "sample", "uniform", "gauss", "random",
    "Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "Pool", "Process", "fork", "as_completed",
})  # fmt: skip
"""Last parts of the names of functions and classes whose results differ from run to run."""

SEEDS = 8
"""Seeds that are tried where a generator has none."""

_SEEDED = frozenset({"default_rng", "RandomState", "Random", "seed", "SeedSequence"})


def takes_part(texts: Iterable[str]) -> bool:
    """Whether a program calls something by whose result two of its runs may differ."""
    return any(is_source(node) for text in texts for node in ast.walk(ast.parse(text)))


def pinned(view: View) -> Iterator[ast.Module]:
    """The program with the clock's and the system's answers as they were in the observed run, and seeds for generators.

    One for each seed, if generators take part; nothing where nothing can be pinned.
    """
    calls = [node for node in view.all(ast.Call) if is_source(node)]
    generators = [call for call in calls if _name(call) in _SEEDED]
    known = [(call, view.rendered(call)) for call in calls]
    answers = [Edit.replace(call, value) for call, value in known if isinstance(value, ast.Constant)]
    for seed in range(SEEDS if generators else bool(answers)):
        seeded = [Edit.replace(call, ast.Call(call.func, [ast.Constant(seed)], [])) for call in generators]
        yield trees.apply(view.tree, [*answers, *seeded])


def is_source(node: ast.AST) -> bool:
    """Whether a node is a call whose result may differ from run to run."""
    if not isinstance(node, ast.Call):
        return False
    name = _name(node)
    if name in _SEEDED:
        return not node.args and not node.keywords
    of_jax = isinstance(node.func, ast.Attribute) and "jax" in ast.unparse(node.func.value)
    return name in _NAMES and not of_jax


def _name(call: ast.Call) -> str:
    """The last part of the name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
