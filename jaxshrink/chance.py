"""What may let a program fail in one run and not in the next: random numbers without a seed, clocks, threads."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from jaxshrink import tree as trees
from jaxshrink.tree import Edit
from jaxshrink.view import View

TRIES = 8
"""Runs of a program that may fail by chance, before it counts as one that does not fail."""

_NAMES = frozenset({
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "now", "today", "utcnow",
    "urandom", "getrandbits", "token_bytes", "token_hex", "randbelow", "uuid1", "uuid4", "getpid", "SystemRandom",
    "Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "Pool", "Process", "fork", "as_completed",
})  # fmt: skip
"""Last parts of the names of functions and classes whose results differ from run to run."""

_DRAWS = frozenset({
    "randint", "randrange", "choice", "choices", "shuffle", "sample", "uniform", "gauss", "random", "rand", "randn",
    "normal", "standard_normal", "permutation",
})  # fmt: skip
"""Functions of modules called `random`, whose generators nothing has seeded; a method is of a generator made before."""

SEEDS = 8
"""Seeds that are tried where a generator has none."""

_SEEDED = frozenset({"default_rng", "RandomState", "Random", "seed", "SeedSequence"})

_ALL = _NAMES | _DRAWS | _SEEDED


def takes_part(texts: Iterable[str]) -> bool:
    """Whether a program calls something by whose result two of its runs may differ."""
    return any(sources(trees.parsed(text)) for text in texts)


def sources(tree: ast.Module) -> list[ast.Call]:
    """The calls whose result may differ from run to run."""
    nodes = list(ast.walk(tree))
    of_jax = {alias.asname or alias.name for node in nodes for alias in _imported_from_jax(node)}
    return [node for node in nodes if isinstance(node, ast.Call) and _is_source(node, of_jax)]


def pinned(view: View) -> Iterator[ast.Module]:
    """The program with the clock's and the system's answers as they were in the observed run, and seeds for generators.

    One for each seed, if generators take part; nothing where nothing can be pinned.
    """
    calls = sources(view.tree)
    generators = [call for call in calls if trees.last_name(call.func) in _SEEDED]
    known = [(call, view.rendered(call)) for call in calls]
    answers = [Edit.replace(call, value) for call, value in known if isinstance(value, ast.Constant)]
    for seed in range(SEEDS if generators else bool(answers)):
        seeded = [Edit.replace(call, ast.Call(call.func, [ast.Constant(seed)], [])) for call in generators]
        yield trees.apply(view.tree, [*answers, *seeded])


def _imported_from_jax(node: ast.AST) -> Sequence[ast.alias]:
    match node:
        case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == "jax":
            return names
        case ast.Import(names=names):
            return [alias for alias in names if alias.name.split(".")[0] == "jax"]
    return ()


def _is_source(call: ast.Call, of_jax: Collection[str]) -> bool:
    name = trees.last_name(call.func)
    if name not in _ALL:  # most calls: asked of every candidate
        return False
    owner = ast.unparse(call.func).rpartition(".")[0]
    if (owner or name).split(".")[0] in of_jax:
        return False
    if name in _SEEDED:
        return not call.args and not call.keywords
    return name in _NAMES or owner.split(".")[-1] in ("", "random")
