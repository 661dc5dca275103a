"""Threads that are classes."""

from __future__ import annotations

from tests.passes.proposing import edits_of, written


def test_a_thread_of_its_own_class_runs_a_method() -> None:
    before = """
import threading
class C(threading.Thread):
    def __init__(self, x):
        super().__init__(daemon=True)
        self.x = x
    def run(self):
        f(self.x)
c = C(1)
c.start()
"""
    after = """
import threading
class C:
    def __init__(self, x):
        self.x = x
    def run(self):
        f(self.x)
c = C(1)
threading.Thread(target=c.run, daemon=True).start()
"""
    assert edits_of("threads", before) == [written(after)]
    assert edits_of("threads", before.replace("c.start()", "")) == []
