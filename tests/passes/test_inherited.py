"""Classes with what they inherit."""

from __future__ import annotations

from tests.passes.proposing import edits_of, written

BASE = """
class A(B):
    k = 1
    def __init__(me, x, y=2):
        me.x = x + y
    def f(me): return me.x
    def g(me): return 0
"""


def test_a_class_gets_what_it_inherits() -> None:
    before = """
class C(A):
    def __init__(self, x):
        super().__init__(2 * x)
        self.z = 1
    def g(self): return self.f()
C(1).g()
"""
    after = """
class C(B):
    k = 1
    def f(me): return me.x
    def __init__(self, x):
        x = 2 * x
        y = 2
        self.x = x + y
        self.z = 1
    def g(self): return self.f()
C(1).g()
"""
    assert edits_of("inherited", BASE + before) == [written(after)]


def test_a_base_of_several_stays() -> None:
    before = "class C(A): pass\nclass D(A): pass\nC(1).g()\nD(2).g()"
    assert all("class A" in after for after in edits_of("inherited", BASE + before))


def test_what_is_computed_by_super_is_left() -> None:
    assert edits_of("inherited", BASE + "class C(A):\n    def g(self): return super().f()\nC(1).g()") == []
