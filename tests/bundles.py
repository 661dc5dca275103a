"""Programs of several files."""

ENTRY = "repro.py"

PROGRAMS: dict[str, dict[str, str]] = {
    "one name, two modules": {
        ENTRY: """
            import metrics
            from metrics import mse as error
            def mse(x): return ("main", x)
            print(mse(1), metrics.mse(2), error(3), metrics.both(4))
            """,
        "metrics.py": """
            def mse(x): return ("metrics", x)
            def both(x): return mse(x), mse(x + 1)
            """,
    },
    "a package": {
        ENTRY: """
            from imaging import blur, config as c
            import imaging.optim
            import imaging.optim as o
            from imaging.optim import Momentum, LIMIT as L
            print(blur.convolve(2), c.load(3).size, imaging.optim.LIMIT, o.LIMIT, L, Momentum(4).lr, imaging.NAME)
            """,
        "imaging/__init__.py": """
            from .config import Config
            NAME = "imaging"
            """,
        "imaging/config.py": """
            import dataclasses
            @dataclasses.dataclass
            class Config:
                size: int
            def load(n): return Config(n)
            """,
        "imaging/blur.py": """
            from . import config
            from .optim import LIMIT
            from imaging import NAME
            def convolve(x): return config.load(x), LIMIT, NAME
            """,
        "imaging/optim.py": """
            LIMIT = 7
            class Momentum:
                def __init__(self, lr): self.lr = lr
            """,
    },
    "star imports": {
        ENTRY: """
            from layers import *
            from layers.dense import *
            print(dense(1), conv(2), hidden(3), len(sizes))
            def hidden_too(): return hidden(4)
            print(hidden_too())
            """,
        "layers/__init__.py": """
            from .conv import *
            from .dense import dense
            """,
        "layers/conv.py": """
            __all__ = ["conv"]
            def conv(x): return ("conv", x)
            def dense(x): return ("not exported", x)
            """,
        "layers/dense.py": """
            sizes = [1, 2]
            def dense(x): return ("dense", x, _scale)
            def hidden(x): return ("hidden", x)
            _scale = 3
            """,
    },
    "state of a module": {
        ENTRY: """
            import state
            from state import count, seen
            from other import seen_there
            count(); count()
            print(state.calls, seen, seen_there())
            state.calls = 10
            count()
            print(state.calls)
            state.calls += 1
            print(state.calls)
            """,
        "state.py": """
            calls = 0
            seen = []
            def count():
                global calls
                calls += 1
                seen.append(calls)
            """,
        "other.py": """
            import state
            def seen_there(): return state.seen is state.seen and state.calls
            """,
    },
    "a name that is bound twice": {
        ENTRY: """
            import a
            print(a.f(1), a.x, a.Y)
            """,
        "a.py": """
            try:
                import nothing_of_the_kind as fast
            except ImportError:
                fast = None
            def f(x): return ("slow", x, fast)
            if fast is None:
                def f(x): return ("python", x, fast)
            x = 1
            x += 2
            for Y in range(3): pass
            """,
    },
    "main is main": {
        ENTRY: """
            import tool
            from tool import name
            if __name__ == "__main__":
                print("entry", name(), tool.__name__, tool.ran)
            """,
        "tool.py": """
            ran = False
            def name(): return __name__
            if __name__ == "__main__":
                ran = True
            """,
    },
    "modules as values": {
        ENTRY: """
            import models
            from models import small
            def build(module): return module.size(), getattr(module, "NAME")
            print(build(models.small), build(small), build(models.large))
            """,
        "models/__init__.py": "from . import large, small",
        "models/small.py": """
            NAME = "small"
            def size(): return 1
            """,
        "models/large.py": """
            NAME = "large"
            def size(): return 2
            """,
    },
    "shadowed": {
        ENTRY: """
            import util
            from util import scale
            x = 5
            def f(util): return util + 1
            def g():
                scale = 2
                return scale
            def h(x): return [scale(x) for x in [x]]
            print(f(1), g(), h(2), util.scale(3), [util for util in [9]], util.x, x, (lambda scale: scale)(4))
            """,
        "util.py": """
            x = 3
            def scale(y, x=x): return x * y
            """,
    },
    "imports inside functions": {
        ENTRY: """
            def main():
                from helpers import work
                import helpers
                return work(1), helpers.work(2)
            def work(x): return "mine"
            print(main(), work(0))
            """,
        "helpers.py": "def work(x): return ('helpers', x)",
    },
    "a circle": {
        ENTRY: """
            import even
            print(even.is_even(10), even.odd.is_odd(7))
            """,
        "even.py": """
            import odd
            def is_even(n): return n == 0 or odd.is_odd(n - 1)
            """,
        "odd.py": """
            import even
            def is_odd(n): return n != 0 and even.is_even(n - 1)
            """,
    },
    "re-exports": {
        ENTRY: """
            import lib
            from lib import thing, deep
            print(lib.thing(), thing(), deep.thing(), lib.sub.deep.thing(), lib.np_like.sqrt(4.0))
            """,
        "lib/__init__.py": """
            from .sub import thing
            from .sub import deep
            import math as np_like
            """,
        "lib/sub/__init__.py": "from .deep import thing",
        "lib/sub/deep.py": "def thing(): return __name__",
    },
    "one library under two names": {
        ENTRY: """
            import math as m
            from helpers import f
            from json import dumps
            print(m.floor(2.5), f(2.5), dumps([1]))
            """,
        "helpers.py": """
            import cmath as m
            from pickle import dumps
            def f(x): return m.sqrt(x).imag, len(dumps(x)) > 3
            """,
    },
    "classes of a module": {
        ENTRY: """
            import shapes
            class Square(shapes.Shape):
                side: int = 2
                def area(self): return self.side ** 2 + super().area()
            class Circle: pass
            print(Square().area(), shapes.Circle().area(), isinstance(Square(), shapes.Shape))
            try:
                shapes.fail()
            except shapes.Bad as error:
                print(error)
            match shapes.Point(1, 2):
                case shapes.Point(x=a): print(a)
            """,
        "shapes.py": """
            import dataclasses
            class Bad(Exception): pass
            class Shape:
                def area(self): return 1
            class Circle(Shape): pass
            @dataclasses.dataclass
            class Point:
                x: int
                y: int
            def fail(): raise Bad("no")
            """,
    },
    "annotations from the future": {
        ENTRY: '''
            """Entry."""
            from __future__ import annotations
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from types_ import Missing
            import types_
            def f(x: types_.Array) -> Missing: return x
            print(f(types_.Array), f.__annotations__["return"])
            ''',
        "types_.py": '''
            """Types."""
            from __future__ import annotations
            Array = "array"
            class Missing: pass
            def g(x: Undefined): pass
            ''',
    },
    "keyword names stay": {
        ENTRY: """
            from a import f as g, size
            def f(size=1): return size
            print(f(size=size), g(size=3), dict(size=size))
            """,
        "a.py": """
            size = 4
            def f(size=size): return ("a", size)
            """,
    },
    "local variables with the names of others": {
        ENTRY: """
            import model
            from model import loss as objective
            def train(x):
                loss = model.loss(x)
                def inner():
                    total = 3
                    return model.total(total)
                class A:
                    rate = model.rate
                return loss, inner(), A.rate, objective(0), [model.rate for rate in [1]]
            loss = model.loss(5)
            print(train(1), loss, model.loss(2))
            """,
        "model.py": """
            rate = 0.5
            def loss(x): return ("loss", x)
            def total(x): return ("total", x, loss(x))
            """,
    },
    "settings of a module": {
        ENTRY: '''
            """Usage: repro"""
            import settings
            from work import go
            def main(debug):
                """Main."""
                settings.DEBUG = debug
                settings.count += 2
            print(__doc__, settings.__doc__, settings.DEBUG)
            main(True)
            print(settings.DEBUG, settings.count, go())
            ''',
        "settings.py": '''
            """Settings."""
            DEBUG = False
            count = 0
            ''',
        "work.py": """
            import settings
            def go(): return settings.DEBUG, settings.count
            """,
    },
    "builtins": {
        ENTRY: """
            from reduce import sum as total, max
            print(sum([1, 2]), total([1, 2]), max(3), min(4, 5))
            """,
        "reduce.py": """
            def sum(x): return ("sum", x)
            def max(x): return ("max", x, sum(x))
            """,
    },
    "code before an import": {
        ENTRY: """
            print("start")
            import lib
            from lib.net import width
            print(width(), lib.DTYPE)
            """,
        "lib/__init__.py": """
            print("lib")
            DTYPE = "float32"
            from .net import width
            print("lib done")
            """,
        "lib/net.py": """
            from lib import DTYPE
            print("net")
            def width(x=DTYPE): return x
            """,
    },
    "fallbacks": {
        ENTRY: """
            try:
                from fast import solve
            except ImportError:
                def solve(x): return ("slow", x)
            from fast import step
            step = step * 2
            import fast
            print(solve(1), step, fast.step)
            """,
        "fast.py": """
            step = 4
            def solve(x): return ("fast", x)
            """,
    },
    "files beside a module": {
        ENTRY: """
            import data.load, os.path
            print(os.path.basename(__file__) != "", data.load.where())
            """,
        "data/__init__.py": "",
        "data/load.py": """
            import os
            import os.path as path
            HERE = os.path.dirname(os.path.abspath(__file__))
            def where(): return path.basename(HERE)
            """,
    },
    "a package that cleans up": {
        ENTRY: """
            import tools
            print(tools.more.one(), tools.names)
            """,
        "tools/__init__.py": """
            from . import more
            from .more import *
            names = [one()]
            """,
        "tools/more.py": "def one(): return 1",
    },
}
