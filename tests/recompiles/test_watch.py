"""What is counted: functions jitted before, of libraries, of JAX, methods, nested jits, what is only traced."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import inspect
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import monitoring

from jaxshrink import recompiles
from jaxshrink.errors import TargetError
from jaxshrink.inside.recompiles import differences as explaining
from jaxshrink.inside.recompiles import hooks
from jaxshrink.inside.recompiles.watcher import Watcher
from jaxshrink.recompiles import Function, Report, Tree


def ignore(value: object) -> None:
    """What it is called with does not matter."""


def one(watched: Report, name: str) -> Function:
    (found,) = (each for each in watched.functions if each.name == name)
    return found


def counts(function: Function) -> tuple[int, int, int]:
    return function.compiles, function.traces, function.only_traced


def test_nothing_is_told_of_calls_that_are_in_the_cache() -> None:
    step = jax.jit(lambda x: x + 1)
    step(np.ones(3))
    with recompiles.watch() as watched:
        step(np.ones(3))
    assert watched.functions == () and watched.compiles == 0


def test_a_function_that_was_jitted_before() -> None:
    @jax.jit
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    step(np.ones(3))
    with recompiles.watch() as watched:
        step(np.ones(4))
    assert counts(one(watched, "step")) == (1, 1, 0)


def test_jit_of_one_function_again_compiles_nothing() -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    with recompiles.watch() as watched:
        for _ in range(3):
            jax.jit(step)(np.ones(3))
    assert counts(one(watched, "step")) == (1, 1, 0)


def test_nested_jits_are_only_traced() -> None:
    @jax.jit
    def inner(x: jax.Array) -> jax.Array:
        return x * 2

    @jax.jit
    def outer(x: jax.Array) -> jax.Array:
        return inner(x) + inner(x)

    with recompiles.watch() as watched:
        for size in (3, 4):
            outer(np.ones(size))
        inner(np.ones(4))
    assert counts(one(watched, "outer")) == (2, 2, 0)
    function = one(watched, "inner")
    assert counts(function) == (1, 2, 2)
    assert [miss.reason for miss in function.misses] == ["first call", "input types", "not compiled before"]
    assert [miss.outermost for miss in function.misses] == [False, False, True]
    assert function.advice == ()


def test_shapes_alone_are_only_traced() -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    with recompiles.watch() as watched:
        jax.jit(step).eval_shape(jax.ShapeDtypeStruct((3,), jnp.float32))
    assert counts(one(watched, "step")) == (0, 1, 1)


def test_ahead_of_time() -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    with recompiles.watch() as watched:
        lowered = jax.jit(step).lower(np.ones(3, np.float32))
        assert str(one(watched, "step").misses[0].signature) == "x: f32[3]"
        before = one(watched, "step").compiles
        lowered.compile()
    assert (before, one(watched, "step").compiles) == (0, 1)


def test_the_backward_pass_is_a_program_of_its_own() -> None:
    @jax.jit
    def loss(w: jax.Array) -> jax.Array:
        return jnp.sin(w).sum()

    with recompiles.watch() as watched:
        jax.grad(loss)(np.ones(3, np.float32))
    function = one(watched, "loss")
    assert counts(function) == (2, 1, 0)
    assert function.misses[-1].signature.transformations == ("backward",)


def test_methods() -> None:
    class Model:
        @functools.partial(jax.jit, static_argnums=0)
        def predict(self, x: jax.Array) -> jax.Array:
            return x + 1

    model = Model()
    with recompiles.watch() as watched:
        model.predict(np.ones(3))
        model.predict(np.ones(3))
    assert counts(one(watched, "predict")) == (1, 1, 0)


def test_functions_of_jax_count_for_each_line() -> None:
    with recompiles.watch() as watched:
        for size in (11, 12):
            jnp.sort(np.ones(size))
        jnp.sort(np.ones(13))
    many, single = (each for each in watched.functions if each.name == "sort")
    assert (many.compiles, single.compiles) == (2, 1)
    assert many.owner == "jax" and many.misses[1].reason == "input types"
    assert many in watched.worth_showing and single not in watched.worth_showing


def test_parameters_of_primitives_are_static() -> None:
    with recompiles.watch() as watched:
        for size in (21, 22):
            jnp.zeros((size, 2))
    miss = one(watched, "broadcast_in_dim").misses[1]
    assert [str(each) for each in miss.differences] == ["shape: (21, 2) → (22, 2)"]
    assert "put what is done in `test_parameters_of_primitives_are_static` into one function" in miss.advice[0]


def test_functions_of_libraries() -> None:
    optax = pytest.importorskip("optax")
    with recompiles.watch() as watched:
        jax.jit(optax.adam(0.1).init)({"w": np.ones(3)})
    assert one(watched, "init_fn").owner == "library"


def test_lines_of_the_program() -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    with recompiles.watch() as watched:
        jax.jit(step)(np.ones(3))
    line = step.__code__.co_firstlineno
    assert one(watched, "step").defined == f"{__file__}:{line}"
    (miss,) = one(watched, "step").misses
    assert (miss.at, miss.within) == (f"{__file__}:{line + 4}", "test_lines_of_the_program")
    assert one(watched, "step").lines == {miss.at: 1}


def test_names_of_arguments() -> None:
    @jax.jit
    def step(state: dict[str, list[jax.Array]], *rest: jax.Array, **more: jax.Array) -> jax.Array:
        return state["w"][0]

    with recompiles.watch() as watched:
        step({"w": [np.ones(3), 1]}, np.ones((2, 2), bool), scale=2.5)
    trees = [each for each in one(watched, "step").misses[0].signature.arguments.values() if isinstance(each, Tree)]
    leaves = {path: str(leaf) for tree in trees for path, leaf in tree.leaves.items()}
    assert leaves == {"state['w'][0]": "f32[3]", "state['w'][1]": "i32[]", "rest[0]": "bool[2,2]", "scale": "f32[]"}


def test_the_nearest_earlier_call_is_compared_with() -> None:
    @jax.jit
    def step(x: jax.Array, y: jax.Array) -> jax.Array:
        return x

    with recompiles.watch() as watched:
        step(np.ones(3), np.ones(3))
        step(np.ones(4), np.ones((4, 4)))
        step(np.ones(3), np.ones(5))
    miss = one(watched, "step").misses[2]
    assert miss.closest == 1 and [each.path for each in miss.differences] == ["y"]


def test_all_compilations_are_counted() -> None:
    told = []
    monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **more: told.append(event) if event.endswith("backend_compile_duration") else None
    )
    loss = jax.jit(lambda w: jnp.tanh(w).sum())
    with recompiles.watch() as watched:
        jax.hessian(loss)(np.ones(5, np.float32))
        jax.vmap(jax.grad(loss))(np.ones((2, 5), np.float32))
        jax.random.normal(jax.random.key(0), (3,))
    count = len(told)
    assert watched.compiles == sum(each.compiles for each in watched.functions) == count > 5


def test_time_is_counted_once() -> None:
    @jax.jit
    def outer(x: jax.Array) -> jax.Array:
        return jax.jit(lambda x: x * 2)(x)

    with recompiles.watch() as watched:
        outer(np.ones(3))
    outer_seconds, inner_seconds = (one(watched, name).seconds for name in ("outer", "<lambda>"))
    assert outer_seconds.trace > inner_seconds.trace > 0 and outer_seconds.compile > 0
    assert watched.seconds == pytest.approx(outer_seconds.total)


def test_watches_within_watches() -> None:
    step = jax.jit(lambda x: x + 1)
    with recompiles.watch() as outer:
        step(np.ones(3))
        with recompiles.watch() as inner:
            step(np.ones(4))
        step(np.ones(5))
    assert (outer.count("<lambda>"), inner.count("<lambda>")) == (3, 1)


def test_watches_that_end_in_any_order() -> None:
    step = jax.jit(lambda x: x + 1)
    first, second = recompiles.watch(), recompiles.watch()
    one, two = first.__enter__(), second.__enter__()
    step(np.ones(3))
    first.__exit__(None, None, None)
    step(np.ones(4))
    second.__exit__(None, None, None)
    step(np.ones(5))
    assert (one.count("<lambda>"), two.count("<lambda>")) == (1, 2)


def test_threads() -> None:
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    jitted = jax.jit(step)
    with recompiles.watch() as watched, concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda size: jitted(np.ones(size)), range(1, 9)))
    assert counts(one(watched, "step")) == (8, 8, 0)


def test_calls_that_are_in_the_cache_do_not_reach_python(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[str] = []

    def counted(method: Callable[..., object]) -> Callable[..., object]:
        return lambda *given: (reached.append(method.__name__), method(*given))[1]

    for name in ("tracing", "running", "executing"):
        monkeypatch.setattr(Watcher, name, counted(getattr(Watcher, name)))
    step = jax.jit(lambda x: x + 1)
    x = jnp.ones(3)
    with recompiles.watch():
        step(x)
        first = len(reached)
        for _ in range(10):
            step(x)
    assert len(reached) == first > 0


def test_caches_that_were_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "_MANY_PROGRAMS", 2)
    def step(x: jax.Array) -> jax.Array:
        return x + 1

    jitted = jax.jit(step)
    with recompiles.watch() as watched:
        for between in (1, 3):
            jitted(np.ones(3))
            for _ in range(between):
                jax.jit(lambda x: x * 2)(np.ones(3))
            jitted.clear_cache()
        jitted(np.ones(3))
    function = one(watched, "step")
    assert [miss.reason for miss in function.misses] == ["first call", "dropped", "evicted"]
    assert "so many others since that JAX's caches were full" in function.misses[2].advice[0]


@dataclasses.dataclass(frozen=True)
class Mode:
    """A pytree without leaves."""

    train: object


jax.tree_util.register_pytree_node(Mode, lambda mode: ((), mode.train), lambda train, children: Mode(train))


@pytest.mark.parametrize(
    ("values", "static", "reason"),
    [
        ([1, 2], 0, "static argument"),
        ([object(), object()], 0, "static argument by identity"),
        ([Mode(1), Mode(2)], None, "tree structure, static"),
        ([Mode(object()), Mode(object())], None, "tree structure by identity"),
        ([[1], (1,)], None, "tree structure"),
    ],
)
def test_reasons_that_a_smaller_program_must_keep(values: list[object], static: int | None, reason: str) -> None:
    watcher = Watcher()
    watcher.begin()
    try:
        for value in values:
            jax.jit(ignore, static_argnums=static)(value)
    finally:
        watcher.end()
    assert explaining.reason(watcher.notes[-1]) == reason


class Silent:
    """Says nothing of itself."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Moody:
    """A pytree that can be taken apart by JAX only."""

    def __init__(self, x: object) -> None:
        self.x = x


def apart(moody: Moody) -> tuple[tuple[object], None]:
    if any(frame.filename.endswith("signature.py") and "recompiles" in frame.filename for frame in inspect.stack()):
        raise RuntimeError("not for you")
    return (moody.x,), None


jax.tree_util.register_pytree_node(Moody, apart, lambda _, children: Moody(*children))


def test_objects_that_do_not_tell_what_they_are() -> None:
    with recompiles.watch() as watched:
        jax.jit(lambda x, silent: x, static_argnums=1)(np.ones(3), Silent())
        jax.jit(lambda moody: moody.x)(Moody(np.ones(3)))
    first, second = (each.misses[0].signature for each in watched.functions)
    assert str(first) == "x: f32[3], silent: <Silent, whose repr raises RuntimeError> (static)"
    assert second.options == {"not told": "RuntimeError: not for you"}


def test_what_the_program_raises_goes_through() -> None:
    @jax.jit
    def step(x: jax.Array) -> jax.Array:
        raise ValueError("of the program")

    with recompiles.watch() as watched, pytest.raises(ValueError, match="of the program"):
        step(np.ones(3))
    assert watched.count(step) == 0


def test_a_version_of_jax_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "_RUNNING", ("gone",))
    with pytest.raises(TargetError, match="no place where calls of jitted functions can be watched"):
        with recompiles.watch():
            pass
