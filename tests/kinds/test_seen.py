"""What is told of a failure: its kind, type, message and place."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from jaxshrink import kinds
from jaxshrink.failure import Failure
from jaxshrink.kinds import KINDS, Needs
from jaxshrink.options import Options
from jaxshrink.outcome import Compile, End, Frame, Outcome, Tier

HERE = Frame("repro.py", "<module>", 1, 1, 0, 5, True)
WAITS = (HERE, Frame("threading.py", "wait", 327))
FATAL = "F1129 19:29:11.488070   30623 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --no_flag"
AGAIN = tuple(Compile("f", reason) for reason in ("never seen function", "static argument", "static argument"))


def seen(outcome: Outcome, **given: Any) -> Failure | None:
    return kinds.failure(outcome, Options.of("repro.py", given), "{}[0]")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcome", "options", "failure"),
    [
        (
            Outcome(End.EXCEPTION, "KeyError", "0", (HERE,)),
            {},
            Failure("exception", "KeyError", "0", "user", frozenset({"subscript"})),
        ),
        (
            Outcome(End.EXCEPTION, "TypeError", "no", (HERE, Frame("jax/_src/lax/lax.py", "dot", 7))),
            {"match": "nan"},
            Failure("exception", "TypeError", "no", "jax._src.lax.lax:dot:7"),
        ),
        (
            Outcome(End.SIGNAL, signal=11, stack=(HERE, Frame("jax/_src/compiler.py", "backend_compile", 9))),
            {},
            Failure("crash", "SIGSEGV", "Segmentation fault", "jax._src.compiler:backend_compile:9"),
        ),
        (
            Outcome(End.SIGNAL, signal=6, stderr="double free or corruption (!prev)\n", native=True),
            {},
            Failure("crash", "SIGABRT", "double free or corruption (!prev)", "native"),
        ),
        (
            Outcome(End.EXIT, code=1, stderr=f"log\n{FATAL}\n"),
            {},
            Failure("crash", "exit 1", FATAL.partition("30623 ")[2], "user"),
        ),
        (
            Outcome(End.EXIT, code=0, descendant_signal=11),
            {},
            Failure("crash", "SIGSEGV", "Segmentation fault", "user"),
        ),
        (
            Outcome(End.TIMEOUT, stack=WAITS),
            {"hang": 2.5},
            Failure("hang", "hang", "still running after 2.5 s", "threading:wait:327"),
        ),
        (
            Outcome(End.MEMORY),
            {"memory": 2},
            Failure("memory", "memory", "takes more than 2 GiB", "user"),
        ),
        (
            Outcome(End.EXCEPTION, "jax.errors.JaxRuntimeError", "RESOURCE_EXHAUSTED: Out of memory", WAITS),
            {},
            Failure("memory", "jax.errors.JaxRuntimeError", "RESOURCE_EXHAUSTED: Out of memory", "threading:wait:327"),
        ),
        (
            Outcome(End.EXIT, code=0, stdout="step 1\nloss  nan \n", stderr="nan"),
            {"match": "n.n"},
            Failure("output", "output", "loss  nan", "user"),
        ),
        (
            Outcome(End.EXIT, code=0, stderr="/usr/lib/python3.11/site-packages/jax/core.py:7: UserWarning: x\n"),
            {"match": "Warn"},
            Failure("output", "output", "jax/core.py:7: UserWarning: x", "user"),
        ),
        (
            Outcome(End.EXIT, code=0, compiles=(*[Compile("of_jax")] * 4, *AGAIN)),
            {"recompiles": 3},
            Failure("recompile", "f", "compiled 3 times: static argument", "exit"),
        ),
        (
            Outcome(End.EXCEPTION, "KeyError", "0", compiles=(Compile("g"), Compile("g"), *AGAIN)),
            {"recompiles": "g:2"},
            Failure("recompile", "g", "compiled 2 times: a function of JAX's own", "exception"),
        ),
        (Outcome(End.EXIT, code=0), {"test": "true"}, Failure("test", "test", "true", "user")),
    ],
)
def test_seen(outcome: Outcome, options: dict[str, Any], failure: Failure) -> None:
    assert seen(outcome, **options) == failure


@pytest.mark.parametrize(
    ("outcome", "options"),
    [
        (Outcome(End.EXIT, code=0), {}),
        (Outcome(End.EXIT, code=1, stderr="Traceback: no fatal line"), {}),
        (Outcome(End.TIMEOUT, stack=WAITS), {}),
        (Outcome(End.EXIT, code=1, stdout="nan"), {"match": "nan"}),
        (Outcome(End.EXIT, code=0, stdout="none"), {"match": "nan"}),
        (Outcome(End.EXIT, code=0, compiles=AGAIN), {"recompiles": 4}),
        (Outcome(End.EXIT, code=0, compiles=AGAIN), {"recompiles": "g:2"}),
        (Outcome(End.EXIT, code=1), {"test": "true"}),
        (Outcome(End.TIMEOUT, descendant_signal=11), {}),
        (Outcome(End.SYNTAX, "SyntaxError", "no"), {}),
    ],
)
def test_not_seen(outcome: Outcome, options: dict[str, Any]) -> None:
    assert seen(outcome, **options) is None


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_says_what_it_needs(name: str) -> None:
    options = Options.of("repro.py", {"hang": 3, "match": "a", "recompiles": 2})
    signature = kinds.signature(Failure(name, "f", "m", "user"), options, "x = 1")
    assert type(signature) is KINDS[name] and signature.failure.kind == name
    assert signature.needs == {
        "exception": Needs(floor=Tier.ABSTRACT),
        "crash": Needs(cache=False, finish=True),
        "hang": Needs(sizes=False, hang=3.0),
        "memory": Needs(sizes=False),
        "output": Needs(finish=True),
        "recompile": Needs(compiles=True),  # for a reason that abstract runs do not know
        "test": Needs(floor=Tier.COLD),
    }[name]


@pytest.mark.parametrize(
    ("kind", "site", "cache"),
    [
        ("hang", "jax._src.compiler:backend_compile_and_load:372", False),
        ("hang", "jax._src.array:_value:644", True),
        ("crash", "jax._src.compiler:backend_compile_and_load:372", False),
        ("crash", "native", True),
    ],
)
def test_where_the_compiler_is_at_work_nothing_comes_from_a_cache(kind: str, site: str, cache: bool) -> None:
    options = Options.of("repro.py", {"hang": 3})
    assert kinds.signature(Failure(kind, "SIGSEGV", "", site), options, "x = 1").needs.cache == cache


# -- matching, on outcomes that are made up


def matches(failing: Outcome, candidate: Outcome, **given: Any) -> bool:
    options = Options.of("repro.py", given)  # type: ignore[arg-type]
    failure = kinds.failure(failing, options, "{}[0]")
    assert failure is not None
    return kinds.signature(failure, options, "{}[0]").matches(candidate, "{}[0]")


SEGFAULT = Outcome(End.SIGNAL, signal=11, stack=(HERE, Frame("jax/_src/compiler.py", "backend_compile", 9)))
CHECK = "F0101 10:00:00.0 7 hlo.cc:12] Check failed: rank == {} (7 vs. {})"


@pytest.mark.parametrize(
    ("failing", "candidate", "same"),
    [
        (SEGFAULT, Outcome(End.SIGNAL, signal=11, stack=(Frame("jax/_src/compiler.py", "backend_compile", 8),)), True),
        (SEGFAULT, Outcome(End.SIGNAL, signal=11, stack=(Frame("jax/_src/compiler.py", "compile", 9),)), False),
        (SEGFAULT, Outcome(End.SIGNAL, signal=11, native=True, stack=SEGFAULT.stack), False),
        (SEGFAULT, Outcome(End.SIGNAL, signal=9, stack=SEGFAULT.stack), False),
        (SEGFAULT, Outcome(End.SIGNAL, signal=11, stack=SEGFAULT.stack, stderr="malloc(): corrupted"), False),
        (SEGFAULT, Outcome(End.MEMORY), False),
        (SEGFAULT, Outcome(End.TIMEOUT, stack=SEGFAULT.stack), False),
        (
            Outcome(End.SIGNAL, signal=6, stderr=CHECK.format(7, 8)),
            Outcome(End.SIGNAL, signal=6, stderr=CHECK.format(1, 2).replace("10:", "11:")),
            True,
        ),
        (
            Outcome(End.SIGNAL, signal=6, stderr=CHECK.format(7, 8)),
            Outcome(End.SIGNAL, signal=6, stderr=CHECK.format(7, 8).replace("rank", "size")),
            False,
        ),
        (Outcome(End.SIGNAL, signal=6, stderr=CHECK), Outcome(End.EXIT, code=1, stderr=CHECK), False),
        (Outcome(End.EXIT, code=1, stderr=CHECK), Outcome(End.EXIT, code=1), False),
    ],
)
def test_crashes(failing: Outcome, candidate: Outcome, same: bool) -> None:
    assert matches(failing, candidate) == same


@pytest.mark.parametrize(
    ("candidate", "same"),
    [
        (Outcome(End.TIMEOUT, stack=(HERE, Frame("threading.py", "wait", 331))), True),
        (Outcome(End.TIMEOUT, stack=(HERE, Frame("threading.py", "join", 327))), False),
        (Outcome(End.TIMEOUT, stack=WAITS[:1]), False),
        (Outcome(End.TIMEOUT), False),
        (Outcome(End.EXIT, code=0, stack=WAITS), False),
        (Outcome(End.SIGNAL, signal=6, stack=WAITS), False),
    ],
)
def test_hangs(candidate: Outcome, same: bool) -> None:
    assert matches(Outcome(End.TIMEOUT, stack=WAITS), candidate, hang=3) == same


@pytest.mark.parametrize(
    ("candidate", "same"),
    [
        (Outcome(End.EXIT, code=0, compiles=AGAIN + AGAIN), True),
        (Outcome(End.EXIT, code=0, compiles=AGAIN[:2]), False),
        (Outcome(End.EXIT, code=0, compiles=tuple(Compile("g", each.reason) for each in AGAIN)), False),
        (Outcome(End.EXIT, code=0, compiles=(AGAIN[0], Compile("f", "weak type"), Compile("f", "weak type"))), False),
        (Outcome(End.EXIT, code=1, compiles=AGAIN), False),
        (Outcome(End.EXCEPTION, "KeyError", "0", (HERE,), compiles=AGAIN), False),
    ],
)
def test_recompilations(candidate: Outcome, same: bool) -> None:
    assert matches(Outcome(End.EXIT, code=0, compiles=AGAIN), candidate, recompiles="f:3") == same


def test_where_a_stack_ends_does_not_matter() -> None:
    """Of a stack at its end faulthandler shows a part, and the innermost function is ever another."""
    deep = "Fatal Python error: Segmentation fault\n\nStack (most recent call first):\n  File a\n  ...\n"
    first, second = (
        Outcome(End.SIGNAL, signal=11, stderr=deep, stack=(Frame(name, "f", 1),)) for name in ("a.py", "b.py")
    )
    failure = seen(first)
    assert failure is not None and failure.site == "deep in a recursion"
    signature = kinds.signature(failure, Options.of("repro.py", {}), "")
    assert signature.matches(second, "")
    assert not signature.matches(dataclasses.replace(first, stderr=""), "")
