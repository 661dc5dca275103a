"""Classes with one instance to variables and functions."""

from __future__ import annotations

import pytest

from tests.passes.proposing import edits_of, written

LAYER = """
class Layer:
    def __init__(self, w, scale=2):
        self.w = w
        self.bias = scale * w
    def __call__(self, x):
        return self.apply(x) + self.bias
    def apply(self, x):
        return f(x, self.w)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            LAYER + "layer = Layer(a)\ng(layer(b))",
            """
def layer(x):
    return apply(x) + bias
def apply(x):
    return f(x, w)
w = a
scale = 2
bias = scale * w
g(layer(b))
""",
        ),
        (
            """
class Data:
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i]
    def __iter__(self):
        for i in range(len(self)):
            yield self[i]
data = Data(a)
f(data[1])
for y in data:
    g(y)
""",
            """
def data_len():
    return len(x)
def data_getitem(i):
    return x[i]
def data():
    for i in range(data_len()):
        yield data_getitem(i)
x = a
f(data_getitem(1))
for y in data():
    g(y)
""",
        ),
        (  # a function in which the name means something else
            LAYER.replace("f(x, self.w)", "[f(w, self.w) for w in x]") + "g(Layer(a))",
            """
def layer(x):
    return apply(x) + bias
def apply(x):
    return [f(w, layer_w) for w in x]
w = a
scale = 2
bias = scale * w
g(layer)
""",
        ),
        (
            """
class Counter:
    step = 1
    @functools.partial(jax.jit, static_argnums=(0, 2))
    def add(self, x, n):
        self.total = x + n * self.step
    @property
    def double(self):
        return 2 * self.total
def main():
    counter = object.__new__(Counter)
    counter.total = a
    counter.add(a, 1)
    return counter.double
main()
""",
            """
def main():
    step = 1
    @functools.partial(jax.jit, static_argnums=(1,))
    def add(x, n):
        nonlocal total
        total = x + n * step
    def double():
        return 2 * total
    total = a
    add(a, 1)
    return double()
main()
""",
        ),
        (
            "@dataclass\nclass Sizes:\n    n: int\n    m: int = 3\nsizes = Sizes(a)\nf(sizes.n, sizes.m)",
            "n = a\nm = 3\nf(n, m)",
        ),
    ],
)
def test_dissolved(before: str, after: str) -> None:
    assert edits_of("dissolved", before) == [written(after)]


@pytest.mark.parametrize(
    "program",
    [
        LAYER.replace("class Layer", "class Layer(Base)") + "g(Layer(a)(b))",
        LAYER + "g(Layer(a)(b), Layer(b)(a))",
        LAYER.replace("__call__", "call") + "g(Layer(a))",
        LAYER + "layer = Layer(a)\ng(isinstance(layer, Layer))",
    ],
    ids=["of a base class", "two instances", "passed on", "asked for its class"],
)
def test_a_class_that_is_needed_stays(program: str) -> None:
    assert edits_of("dissolved", program) == []
