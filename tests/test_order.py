"""The order of programs, and its count of tokens."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given

from jaxshrink import order
from jaxshrink.tokens import count_tokens
from tests.programs import Program, programs, quick

PIECES = [
    "x = 1e-05 + 1e+16 + 1j + 1.5e-10j + 0.0",
    "y = 1.0.real + (5).real + 1e400",
    "z = {'a': b'\\x00\"', \"it's\": r'\\d', **w}",
    "def f(a, /, b: int = -1, *c, d=..., **e) -> None: return a[b:c, ::2] @ d",
    '"""a doc\nstring"""',
    "x @= y; x **= 2; x //= 3; x >>= 1; x <<= 1; x |= y; x ^= y; x &= y; x %= y",
    "if (n := len(a)) != 3 and not b <= c < d or e >= f is not g: pass",
    "größe = lambda *, k: ~k",
    "s = f'{x!r:>{width}} and {y} {{literal}}'",
    "s = 'line\\n' + u'text' + ''",
    "async def g():\n    async with a as b, c: await (yield)",
    "match v:\n    case {'k': [1, *rest], **more} | C(x=None) if rest: pass",
    "a = b = c, = *d,",
    "@d.e(1)\nclass C(B, metaclass=M): x: int",
]


@pytest.mark.parametrize("source", PIECES)
def test_tokens_are_those_of_tokenize(source: str) -> None:
    text = ast.unparse(ast.parse(source))
    assert order.tokens(text) == count_tokens(text)


@quick
@given(programs())
def test_tokens_of_whole_programs(program: Program) -> None:
    text = ast.unparse(ast.parse(program.text))
    assert order.tokens(text) == count_tokens(text)


def test_quotes_inside_f_strings_may_count_more() -> None:
    text = ast.unparse(ast.parse("x = f'{d[\"a\"]}' + f'{f\"{y}\"}'"))  # Python 3.12 may write the same quotes inside
    assert order.tokens(text) >= count_tokens(text)


def test_order_is_tokens_then_length_then_text() -> None:
    texts = ["x + y", "x", "xy", "y", "f(x)"]
    assert sorted(texts, key=order.size) == ["x", "y", "xy", "x + y", "f(x)"]
