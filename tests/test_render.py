"""Values of a failing program as recipes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from jaxshrink.observation import (
    Array,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Literal,
    Made,
    Make,
    Member,
    Method,
    Observation,
    Opaque,
    Partial,
    Public,
    Recipe,
    Struct,
    Wrapped,
)
from tests.observing import local, observe

PROGRAM = '''
import argparse, collections, dataclasses, enum, functools, logging, pathlib, queue, sys, threading, types, typing
import jax
import jax.numpy as jnp
import numpy as np

class Mode(enum.Enum):
    TRAIN = "train"

class State(typing.NamedTuple):
    step: int
    params: dict

Pair = collections.namedtuple("Pair", "a b")

@dataclasses.dataclass
class Layer:
    width: int
    act: typing.Any = jnp.tanh
    kind: list[int] = dataclasses.field(default_factory=list)
    made: int = dataclasses.field(init=False, default=0)
    states: list = dataclasses.field(default_factory=list, kw_only=True)

class Hostile:
    __slots__ = ("value", "__dict__")
    def __init__(self): self.value, self.other = 1.5, self
    def __getattribute__(self, name): raise SystemError(name)
    def __eq__(self, other): raise SystemError("eq")
    def __repr__(self): raise SystemError("repr")
    __hash__ = None

class Worker(threading.Thread):
    def __init__(self, n):
        super().__init__(daemon=True)
        self.n = n

class Model:
    def __init__(self, scale):
        self.scale = scale
    def apply(self, x, *, y=jnp.arange(2)):
        return x * self.scale

class Numbers(list): pass

def make(i, table=np.ones(2)):
    fns = []
    for j in range(2):
        def fn(x): return x + i + j
        fns.append(fn)
    return fns + [lambda x: x * i, lambda y: y - i]

@jax.jit
def decorated(x): return x

@jax.custom_vjp
def derived(x): return x

def make_optimizer(rate):
    return jax.tree_util.Partial(jnp.multiply, rate)

def traced(t):
    raise KeyError("end")

def main():
    none, flag, text, number = None, True, "naïve", -3
    inf, nan, cplx, raw, dots = float("inf"), float("nan"), 1 + 2j, b"ab", ...
    span, cut, cut2 = range(3), slice(1, None), slice(0, np.int32(2))
    f32 = jnp.ones((2, 3), jnp.bfloat16)
    small = jnp.array([0.1, jnp.nan, 2.0])
    weak = jnp.asarray(1.0) * 2
    big = np.zeros((300, 400))
    ints = np.arange(70).reshape(7, 10)
    bools = np.array([[True, False]])
    scalar = np.float32(0.5)
    key = jax.random.key(0)
    old_key = jax.random.PRNGKey(3)
    struct = jax.ShapeDtypeStruct((4,), jnp.int8)
    deleted = jnp.ones(3); deleted.delete()
    objects = np.array([object(), None])
    dtypes = [jnp.bfloat16, np.float32, np.dtype("int8"), jnp.float32, f32.dtype, bool]
    shared = [1]
    nested = {"a": (shared, shared), 2: [{3}, frozenset([4])]}
    cyclic = []; cyclic.append(cyclic)
    ordered = collections.OrderedDict(x=1)
    default = collections.defaultdict(list, y=[2])
    proxy = types.MappingProxyType({"z": 1})
    member, state, pair = Mode.TRAIN, State(1, {"w": jnp.ones(2)}), Pair(1, b=2)
    layer = Layer(3, states=[state])
    hostile = Hostile()
    worker = Worker(4)
    model = Model(2.0)
    method, jitted_method = model.apply, jax.jit(model.apply)
    numbers = Numbers([1, 2])
    fns = make(5)
    lock, log, q = threading.Lock(), logging.getLogger("x"), queue.Queue()
    path, spaces = pathlib.Path("a/b"), argparse.Namespace(lr=0.1)
    alias, module, out = list[int], np.linalg, sys.stdout
    library = [jnp.tanh, jax.nn.relu, jax.lax.add, np.matmul, np.asarray, functools.reduce, len, jax.nn.gelu, np.add]
    partial = functools.partial(jnp.sum, axis=0)
    jitted = jax.jit(lambda x, n: x, static_argnums=(1,))
    listed = [jax.vmap(Model.apply)]
    tree_partial = make_optimizer(0.1)
    rng = np.random.default_rng(7)
    generator = (n for n in range(3))
    many = list(range(5000))
    long = "x" * 5000
    exception = ValueError("no", 1)
    jax.jit(traced)(small)

main()
'''


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Observation:
    return observe(tmp_path_factory.mktemp("render"), PROGRAM)


def var(seen: Observation, name: str) -> Recipe:
    return local(seen, name, frame=1)


def test_literals(seen: Observation) -> None:
    expected = {
        "none": "None", "flag": "True", "text": "'naïve'", "number": "-3", "inf": 'float("inf")', "nan": 'float("nan")',
        "cplx": "(1+2j)", "raw": "b'ab'", "dots": "...", "span": "range(0, 3)", "cut": "slice(1, None, None)",
    }  # fmt: skip
    assert {name: var(seen, name) for name in expected} == {name: Literal(text) for name, text in expected.items()}
    assert isinstance(var(seen, "cut2"), Make)
    assert var(seen, "long") == Opaque("builtins.str")


def test_arrays(seen: Observation) -> None:
    assert var(seen, "f32") == Array("jax", (2, 3), "bfloat16", data=[[1.0] * 3] * 2, min=1.0)
    small = var(seen, "small")
    assert isinstance(small, Array)
    assert (small.data[0], small.data[2], small.nan) == (0.1, 2.0, True)
    assert var(seen, "weak") == Array("jax", (), "float32", weak=True, data=2.0, min=2.0)
    assert var(seen, "big") == Array("numpy", (300, 400), "float64", min=0.0)
    assert var(seen, "ints") == Array("numpy", (7, 10), "int64", min=0)
    assert var(seen, "bools") == Array("numpy", (1, 2), "bool", data=[[True, False]], min=False)
    assert var(seen, "scalar") == Array("numpy", (), "float32", scalar=True, data=0.5, min=0.5)
    assert var(seen, "key") == Array("jax", (), "key<fry>", key=True)
    assert getattr(var(seen, "old_key"), "data", None) == [0, 3]
    assert var(seen, "struct") == Struct((4,), "int8")
    assert var(seen, "deleted") == Array("jax", (3,), "float32", deleted=True)
    assert local(seen, "t") == Array("jax", (3,), "float32", tracer=True)
    assert isinstance(var(seen, "objects"), Made)


def test_dtypes_are_public_names(seen: Observation) -> None:
    names = ["jax.numpy.bfloat16", "numpy.float32", "jax.numpy.int8", "jax.numpy.float32", "jax.numpy.bfloat16", "bool"]
    assert _items(seen, var(seen, "dtypes")) == [Public(name) for name in names]


def test_containers_keep_sharing_and_cycles(seen: Observation) -> None:
    nested = var(seen, "nested")
    assert isinstance(nested, Dictionary)
    pair, rest = (seen.objects[ref] for ref in nested.items)
    assert isinstance(pair, Collection) and pair.items[0] == pair.items[1]
    assert [getattr(one, "type", None) for one in _items(seen, rest)] == ["set", "frozenset"]
    assert var(seen, "cyclic") == Collection("list", (_ref(seen, "cyclic"),))
    kinds = [getattr(var(seen, name), "type", None) for name in ("ordered", "default", "proxy")]
    assert kinds == ["collections.OrderedDict", "collections.defaultdict", "types.MappingProxyType"]
    assert var(seen, "many") == Opaque("builtins.list")


def test_objects_by_constructor(seen: Observation) -> None:
    assert isinstance(var(seen, "member"), Member)
    layer = var(seen, "layer")
    assert isinstance(layer, Make)
    assert isinstance(seen.objects[layer.cls], Class)
    assert [seen.objects[ref] for ref in layer.args] == [Literal("3")]
    assert set(layer.kwargs) == {"kind", "states"}  # `act` has its default, `made` is no parameter
    state = var(seen, "state")
    assert isinstance(state, Make) and len(state.args) == 2
    pair = var(seen, "pair")
    assert isinstance(pair, Make) and isinstance(seen.objects[pair.cls], Made)
    for name, text in {"path": "'a/b'", "numbers": None}.items():
        made = var(seen, name)
        assert isinstance(made, Make) and text in (None, getattr(seen.objects[made.args[0]], "source", ""))
    spaces = var(seen, "spaces")
    assert isinstance(spaces, Make) and seen.objects[spaces.cls] == Public("argparse.Namespace")
    assert isinstance(var(seen, "exception"), Make)


def test_objects_by_attributes_without_calling_them(seen: Observation) -> None:
    hostile = var(seen, "hostile")
    assert isinstance(hostile, Instance)
    assert seen.objects[hostile.attrs["value"]] == Literal("1.5")
    assert hostile.attrs["other"] == _ref(seen, "hostile")
    model = var(seen, "model")
    assert isinstance(model, Instance) and set(model.attrs) == {"scale"}


def test_functions(seen: Observation) -> None:
    lines = PROGRAM.splitlines()
    functions = _items(seen, var(seen, "fns"))
    starts = []
    for function in functions:
        assert isinstance(function, Function)
        starts.append(lines[function.span.line - 1][function.span.column :].split(":")[0])
    assert starts == ["def fn(x)", "def fn(x)", "lambda x", "lambda y"]
    assert isinstance(functions[0], Function)
    assert {name: seen.objects[ref] for name, ref in functions[0].closure.items()} == {
        "i": Literal("5"), "j": Literal("1")
    }  # fmt: skip
    make = local(seen, "make", frame=2)
    assert isinstance(make, Function) and isinstance(seen.objects[make.defaults[0]], Array)
    method = var(seen, "method")
    assert method == Method(_ref(seen, "model"), "apply")
    assert getattr(local(seen, "decorated", frame=2), "name", "") == "decorated"
    assert getattr(local(seen, "derived", frame=2), "name", "") == "derived"
    assert isinstance(var(seen, "partial"), Partial)


def test_library_objects(seen: Observation) -> None:
    jaxs, others = "jax.numpy.tanh jax.nn.relu jax.lax.add", "numpy.matmul numpy.asarray functools.reduce len"
    names = f"{jaxs} {others} jax.nn.gelu numpy.add".split()
    assert _items(seen, var(seen, "library")) == [Public(name) for name in names]
    found = {name: var(seen, name) for name in ("alias", "module", "out")}
    assert found == {"alias": Public("list"), "module": Public("numpy.linalg"), "out": Public("sys.stdout")}


def test_objects_that_calls_made(seen: Observation) -> None:
    lines = PROGRAM.splitlines()
    expected = {
        "jitted": "jax.jit(lambda x, n: x, static_argnums=(1,))",
        "jitted_method": "jax.jit(model.apply)",
        "rng": "np.random.default_rng(7)",
        "lock": "threading.Lock()",
        "log": 'logging.getLogger("x")',
        "q": "queue.Queue()",
        "worker": "Worker(4)",
    }
    for name, text in expected.items():
        made = var(seen, name)
        assert isinstance(made, Made), name
        line = lines[made.span.line - 1].encode()
        assert line[made.span.column : made.span.end_column].decode() == text
    jitted_method = var(seen, "jitted_method")
    assert isinstance(jitted_method, Made) and jitted_method.names == {"model": _ref(seen, "model")}
    tree_partial = var(seen, "tree_partial")
    assert isinstance(tree_partial, Make) and len(tree_partial.args) == 2
    assert isinstance(var(seen, "generator"), Opaque)


def test_where_a_frame_hides_how_it_was_made_the_wrapper_is_named(tmp_path: Path) -> None:
    program = """
        import jax
        def f(x): return x
        exec("wrapped = jax.jit(f)")
        wrapped(1)["no"]
    """
    observation = observe(tmp_path, textwrap.dedent(program))
    wrapped = local(observation, "wrapped")
    assert isinstance(wrapped, Wrapped) and wrapped.how == "jax.jit"
    assert isinstance(observation.objects[wrapped.function], Function)


def test_a_huge_program_is_told_in_part(tmp_path: Path) -> None:
    program = """
        class Node:
            def __init__(self, left, right): self.left, self.right = left, right
        def tree(n): return Node(tree(n - 1), tree(n - 1)) if n else None
        deep = None
        for i in range(10_000): deep = [deep]
        big = tree(14)
        big.nope
    """
    observation = observe(tmp_path, textwrap.dedent(program))
    assert isinstance(local(observation, "big"), Instance)
    assert isinstance(local(observation, "deep"), Collection)
    assert len(observation.objects) < 10_000


def _ref(seen: Observation, name: str) -> int:
    return seen.frames[1].locals[name]


def _items(seen: Observation, recipe: Recipe) -> list[Recipe]:
    assert isinstance(recipe, Collection)
    return [seen.objects[ref] for ref in recipe.items]
