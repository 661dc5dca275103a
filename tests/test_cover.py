"""The part of a program that ran."""

from __future__ import annotations

import pytest

from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.cover import covered
from tests.passes.proposing import FILE, observation_of


def cover(source: str, *lines: int) -> str:
    """The text of what stays when these lines were executed."""
    tree = parse_with_origin(source, FILE)
    return trees.text(covered(tree, observation_of(tree, {}, frozenset(lines))))


@pytest.mark.parametrize(
    ("source", "lines", "after"),
    [
        ("a()\nb()\nc()", [1, 2], "a()\nb()"),
        ("if a:\n    b()\nelse:\n    c()", [1, 4], "if a:\n    pass\nelse:\n    c()"),
        ("def f():\n    a()\n    b()\nf()", [1, 2, 4], "def f():\n    a()\nf()"),
        ("def f():\n    a()\nb()", [1, 3], "def f():\n    pass\nb()"),
        ("@d\ndef f():\n    a()\nf()", [1, 3, 4], "@d\ndef f():\n    a()\nf()"),
        ("try:\n    a()\nexcept E:\n    b()\nc()", [1, 2], "try:\n    a()\nexcept E:\n    pass"),
        ("def f():\n    global x\n    x = 1\nf()", [1, 3, 4], "def f():\n    global x\n    x = 1\nf()"),
        ("import a\nb()", [2], "import a\nb()"),
        (
            "match a:\n    case 1:\n        b()\n    case 2:\n        c()",
            [1, 5],
            "match a:\n    case 1:\n        pass\n    case 2:\n        c()",
        ),
        ("with a:\n    b()\n    c()\nd()", [1, 2], "with a:\n    b()"),
        ("x = f(\n    1,\n    2,\n)\ny()", [1], "x = f(1, 2)"),
    ],
)
def test_what_was_not_executed_goes(source: str, lines: list[int], after: str) -> None:
    assert cover(source, *lines) == after


def test_files_that_were_not_watched_stay() -> None:
    tree = parse_with_origin("a()\nb()", "other.py")
    assert covered(tree, observation_of(tree, {}, frozenset({1}))) is tree


def test_new_statements_stay() -> None:
    tree = parse_with_origin("a()", FILE)
    tree.body += trees.statements("b()")
    assert trees.text(covered(tree, observation_of(tree, {}, frozenset({1})))) == "a()\nb()"
