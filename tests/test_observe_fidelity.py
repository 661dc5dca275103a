"""An instrumented program behaves as the plain one: same output, same exception, same frames to the column."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any

import pytest

from tests.observing import INSIDE

sys.path.insert(0, str(INSIDE))
import instrument
import recorder

sys.path.remove(str(INSIDE))

PROGRAMS = {
    "raise in nested calls": """
        def f(x):
            return g(x)[0] + 1
        def g(x):
            return [1 / y
                    for y in x
                    if y is not None]
        print(f([1, 2]))
        f([None, 3, 0])
    """,
    "condition over several lines": """
        class Bad:
            def __bool__(self):
                raise ValueError("no truth")
        x, bad = 3, Bad()
        if (x > 2 and
                not (x < 0) and (
                    bad)):
            print("never")
    """,
    "truth is taken as often as before": """
        class Noisy:
            def __init__(self, name, value):
                self.name, self.value = name, value
            def __bool__(self):
                print("bool", self.name)
                return self.value
            def __lt__(self, other):
                print(self.name, "<", other.name)
                return Noisy(self.name + other.name, self.value)
        a, b, c = Noisy("a", True), Noisy("b", False), Noisy("c", True)
        if a and b or c: print(1)
        if not (a or b): print(2)
        while b or (a and b): print(3)
        if a < b < c: print(4)
        print([x.name for x in (a, b, c) if x and a or b])
        y = (a and b) or c
        y = not (a and b)
        y = 1 if a and (b or c) else 2
        assert a or b
        y = a < b < c
        assert not (a and c), "message " + str(1 if b or c else 2)
    """,
    "super, mangled names, slots, properties, class cell": """
        class A:
            __slots__ = ("__x", "y")
            def __init__(self, x):
                self.__x = x
                self.y = [self.__x] * 2
            @property
            def x(self):
                return self.__x
        class B(A):
            def __init__(self, x):
                super().__init__(x + 1)
                self.z = __class__.__name__
            @classmethod
            def make(cls, *args, **kwargs):
                return cls(*args, **kwargs)
            @staticmethod
            def f(a, *, b=len("ab")): return a + b
        b = B.make(*[1])
        print(b.x, b.y, b.z, B.f(1), sorted(vars(b)))
        b.missing
    """,
    "metaclass with its own name space": """
        class Names(dict):
            def __missing__(self, key):
                return "name " + key
        class Meta(type):
            @classmethod
            def __prepare__(meta, name, bases, **kw):
                return Names()
            def __new__(meta, name, bases, ns, **kw):
                print(sorted(k for k in ns if not k.startswith("_")))
                return type.__new__(meta, name, bases, dict(ns))
            def __init__(cls, *args, **kw): pass
        class Fields(metaclass=Meta):
            x
            y = (z, w)
            def method(self, a=1):
                return [a, *self.y]
        print(Fields.y, Fields().method())
        Fields().method(undefined)
    """,
    "enum, dataclass, named tuple, protocol": """
        import dataclasses, enum, typing
        class Color(enum.Enum):
            RED = enum.auto()
            BLUE = RED + 1
            def twice(self): return self.value * 2
        @dataclasses.dataclass(frozen=True, order=True)
        class P:
            x: int
            tags: list[str] = dataclasses.field(default_factory=list)
            kind: typing.ClassVar[str] = "p" * 2
            def __post_init__(self):
                if self.x < 0: raise ValueError(f"{self.x=} is {'neg' + 'ative'!r:>12}")
        class T(typing.NamedTuple):
            a: int
            b: float = 1.0 + 1
        print(Color.BLUE.twice(), P(1, ["a"]), T(3), P.kind, P.__annotations__, T._field_defaults)
        P(-1)
    """,
    "globals and locals look the same": """
        from __future__ import annotations
        def f(a, *args, k=1, **kw):
            b = a + k
            del a
            print(sorted(locals()), dir())
            return [c for c in args if c != b], (lambda q: q + b)(2)
        x: undefined = f(1, 2, 3, z=[0])
        print(sorted(n for n in globals() if not n.startswith("__")), sorted(n for n in dir() if n[0] != "_"))
        exec("x = len(x) + 1")
        print(x, eval("x * 2"), f.__annotations__, __doc__)
        print([k for k in vars() if "jaxshrink" in k][0])
    """,
    "docstrings": '''
        """The module"""
        def f():
            """f"""
        class C:
            """C"""
            def m(self):
                "m"
                return 1
        async def g():
            """g"""
        print(__doc__, f.__doc__, C.__doc__, C.m.__doc__, g.__doc__.nope)
    ''',
    "generators, await, async comprehensions": """
        import asyncio
        def gen(n):
            try:
                got = yield n
                while got: got = yield got * 2
                yield from (x * x for x in range(n))
            finally:
                print("closed")
        g = gen(2)
        print(next(g), g.send(4), g.send(0), list(g))
        async def ticks(n):
            for i in range(n):
                await asyncio.sleep(0)
                yield i
        async def main():
            async with lock() as l:
                print([t async for t in ticks(3) if t % 2 == 0], await helper(l))
            async for t in ticks(2): print(t)
            return await helper(1 / 0)
        class lock:
            async def __aenter__(self): return 5
            async def __aexit__(self, *e): print(e[0] and e[0].__name__)
        async def helper(x): return x + 1
        asyncio.run(main())
    """,
    "match": """
        import types
        P = types.SimpleNamespace(A=1, B=2)
        def f(x):
            match x, len(str(x)):
                case (P.A | P.B) as n, _ if n > 1 and n < 3: return "AB", n
                case [a, *rest], 6: return a, rest
                case {"k": v, **kw}, _ if kw: return v, kw
                case str(), _: return x.upper()
                case _: return x / 0
        print(f(2), f([1, 2]), f({"k": 1, "z": 2}), f("s"))
        f(7)
    """,
    "targets, walrus, stars, slices, deletion": """
        d = {"a": [1, 2, 3], "b": {}}
        i = 1
        d["a"][i], d["b"]["x"] = 5, 6
        d["a"][i - 1:i + 1] += [7] * 2
        (*first, last), d["b"]["y"] = d["a"], i
        if (n := len(d["a"])) > 2 and (m := n + 1): print(n, m)
        print([y := x + 1 for x in first], y, {**d, **{"z": (1, *first)}}, *first, sep=",")
        def g(a, /, b, *c, d=i, **e): return a, b, c, d, e
        print(g(*first, 3, **{"k": 1}, z=2), first[-1:], d["a"][::-1][0], "%s-%s" % (i, i))
        del d["a"][i], d["b"]
        print(f"{d!r:>30} {i=} {len(first):0{i + 2}d}")
        d["b"]["x"]
    """,
    "exceptions and contexts": """
        import contextlib
        @contextlib.contextmanager
        def ctx(name):
            try: yield name
            except KeyError as e: print("saw", e); raise
            finally: print("left", name)
        def f():
            with ctx("a") as a, ctx("b" + a) as b:
                try: {}[a + b]
                except KeyError as e:
                    raise ValueError("wrapped " + b) from e
                finally: print("finally")
        try: f()
        except (ValueError, TypeError) as e: print(type(e.__cause__), e)
        else: print("no")
        for x in range(3):
            if x == 1: continue
            print(x)
        else: print("done")
        raise RuntimeError("end", *[1, 2])
    """,
    "method chains over lines": """
        class Q:
            def then(self, x=1):
                if x == 3: raise LookupError(x)
                return self
        (Q()
            .then()
            .then(1 +
                  1)
            .then(3)
            .then())
    """,
    "decorators in order, attributes, global, nonlocal": """
        def note(x):
            print("note", x)
            return lambda f: f
        class Box: deep = property(lambda self: self); note = staticmethod(note)
        count = 0
        @note(1)
        @Box().deep.note(2)
        def f():
            global count
            count += 1
            k = 0
            def g():
                nonlocal k
                k += count
                return k
            return g
        print(f()(), f()(), count)
        f().__code__.co_nope
    """,
    "deep recursion": """
        import sys
        sys.setrecursionlimit(150)
        def f(n): return f(n + 1)
        try: f(0)
        except RecursionError: print("too deep")
        def h(n): return n and h(n - 1)
        print(h(40))
        [][0]
    """,
    "files, weak references and finalisers": """
        import weakref, tempfile, os
        path = os.path.join(tempfile.mkdtemp(), "x")
        def make(): return open(path, "w")
        make().write("text")
        print(open(path).read())
        class Node:
            def __del__(self): print("deleted")
        def new(): return Node()
        new()
        r = weakref.ref(new())
        print(r() is None)
        it = iter([1, 2, 3])
        print(next(it), next(iter(it)), {}.get(1).real)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = textwrap.dedent(PROGRAMS[name])
    plain, watched = _run(source, None), _run(source, _recorder(monkeypatch))
    assert watched == plain
    assert plain["exception"] is not None, "every program here fails in the end"


@pytest.mark.parametrize("module", "argparse asyncio.base_events dataclasses enum typing ast inspect".split())
def test_compiles_whatever_python_has(module: str) -> None:
    file = Path(__import__(module, fromlist=["x"]).__file__)
    tree = ast.parse(file.read_bytes())
    sites = instrument.Sites()
    compile(instrument.instrument(tree, file.name, module, sites, lambda name: False), str(file), "exec")
    assert len(sites.values) > 100 < len(sites.lines)


def test_spans_are_those_of_the_plain_tree() -> None:
    source = (INSIDE / "render.py").read_text()
    spans = {
        (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.expr)
    }
    sites = instrument.Sites()
    instrument.instrument(ast.parse(source), "render.py", "render", sites, lambda name: False)
    places = [site[1:] for site in sites.values]
    assert set(places) <= spans
    assert len(set(places)) == len(places)


def _recorder(monkeypatch: pytest.MonkeyPatch) -> Any:
    shared = [instrument.RAN, instrument.FINISHED]
    for name in [*shared, *map(instrument.site_name, range(500))]:
        monkeypatch.setattr(f"builtins.{name}", None, raising=False)  # taken away again after the test
    made = recorder.Recorder(instrument.Sites(), lambda thing: getattr(thing, "__module__", None) == "__main__")
    made.install()
    return made


def _run(source: str, watching: Any) -> dict[str, Any]:
    tree = ast.parse(source)
    if watching is not None:
        instrument.instrument(tree, "program.py", "__main__", watching.sites, lambda name: False)
        watching.grow()
    code = compile(tree, "program.py", "exec", dont_inherit=True)
    limit = sys.getrecursionlimit()
    output, exception, frames = io.StringIO(), None, []
    with contextlib.redirect_stdout(output):
        try:
            exec(code, {"__name__": "__main__", "__builtins__": __builtins__})
        except Exception as error:
            exception = f"{type(error).__name__}: {error}"
            frames = [
                (frame.name, frame.lineno, frame.end_lineno, frame.colno, frame.end_colno)
                for frame in traceback.extract_tb(error.__traceback__)
                if frame.filename == "program.py"
            ]
        finally:
            sys.setrecursionlimit(limit)
    return {"output": output.getvalue(), "exception": exception, "frames": frames}
